// Command gdsproof proves, or refutes, that GPUDirect Storage carries a GPU node's file I/O.
package main

import (
	"os"

	"gdsproof/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
