//go:build nocufile

package cufile

import (
	"fmt"
	"os"
)

// ReportMain of a build without libcufile: static, for reading and looking.
func ReportMain([]string) int {
	fmt.Fprintln(os.Stderr, "this gdsproof was built without libcufile (-tags nocufile)")
	return 1
}
