// Package driver has the checks of step 1: the GDS kernel driver nvidia-fs and the GPU driver below it. One file
// is one check.
package driver

import (
	"strings"

	"gdsproof/internal/check"
)

// build is how nvidia-fs is built from source. Both settings are compile-time only, and the driver ignores one
// without the other; sudo drops exported variables unless it is told to keep them.
var build = check.Fix{
	Text: "build nvidia-fs from source against the running NVIDIA driver and load it",
	Commands: []string{
		"git clone https://github.com/NVIDIA/gds-nvidia-fs.git",
		"cd gds-nvidia-fs/src",
		"export NVFS_MAX_PEER_DEVS=128 NVFS_MAX_PCI_DEPTH=16",
		"sudo -E make",
		"sudo rmmod nvidia_fs || true",
		"sudo insmod nvidia-fs.ko",
	},
	Changes: "replaces the loaded nvidia_fs module until the next reboot; running GDS programs must end first",
	Undo:    "sudo rmmod nvidia_fs; the module that was installed before, if any: sudo modprobe nvidia_fs",
}

var load = check.Fix{
	Text:     "load the installed module",
	Commands: []string{"sudo modprobe nvidia_fs"},
	Changes:  "loads nvidia_fs until the next reboot",
	Undo:     "sudo rmmod nvidia_fs",
}

func containsWord(text, word string) bool {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '/' || r == ';' || r == '&' || r == '=' }) {
		if w == word {
			return true
		}
	}
	return false
}
