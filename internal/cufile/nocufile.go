//go:build nocufile

package cufile

import (
	"fmt"
	"os"
)

// Built tells that this program can load libcufile at all.
const Built = false

// ReportMain of a build without libcufile: static, for reading and looking.
func ReportMain([]string) int {
	fmt.Fprintln(os.Stderr, "this gdsproof was built without libcufile (-tags nocufile)")
	return 1
}
