// Package driver has the checks of step 1: the GDS kernel driver nvidia-fs and the GPU driver below it. One file
// is one check.
package driver

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
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
	Undo:    "sudo rmmod nvidia_fs && sudo modprobe nvidia_fs",
}

var load = check.Fix{
	Text:     "load the installed module",
	Commands: []string{"sudo modprobe nvidia_fs"},
	Changes:  "loads nvidia_fs until the next reboot",
	Undo:     "sudo rmmod nvidia_fs",
}

// onGPUNode: the GDS driver is asked for where an NVIDIA GPU is.
func onGPUNode(v check.View) (check.Answer, string) {
	n := check.Maybe(v, facts.GPUNode)
	return n.V.Is, n.V.Why
}

// gpuNode are the facts that onGPUNode needs.
func gpuNode(more ...facts.Need) []facts.Need {
	return append([]facts.Need{facts.GPUNode.Want()}, more...)
}

// some joins names and cuts a long list.
func some[T any](list []T, most int) string {
	var s []string
	for i, x := range list {
		if i == most {
			s = append(s, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		s = append(s, fmt.Sprint(x))
	}
	return strings.Join(s, ", ")
}

// hits turns known log lines into evidence.
func hits(source string, hs []facts.Hit) []check.Evidence {
	var out []check.Evidence
	for _, h := range hs {
		text := h.First.Text
		if h.First.Stamp != "" {
			text = "[" + h.First.Stamp + "] " + text
		}
		if h.Count > 1 {
			text += fmt.Sprintf(" (%d times)", h.Count)
		}
		out = append(out, check.Quote(source, text))
	}
	return out
}

func containsWord(text, word string) bool {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '/' || r == ';' || r == '&' || r == '=' }) {
		if w == word {
			return true
		}
	}
	return false
}
