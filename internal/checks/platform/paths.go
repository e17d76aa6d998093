package platform

import (
	"path"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

// toolNeeds are the facts that name NVIDIA's tools as they are installed here.
func toolNeeds(more ...facts.Need) []facts.Need {
	return append(more, facts.CUDAHome.Want(), facts.NoTools.Want())
}

// home is CUDA's folder: the one that was found, else the owner's choice.
func home(v check.View) string {
	if h := check.Maybe(v, facts.CUDAHome); h.OK {
		return h.V
	}
	return "/usr/local/cuda"
}

// gdscheck is the command that prints the report: NVIDIA's own where it is installed.
func gdscheck(v check.View) string {
	if none := check.Maybe(v, facts.NoTools); none.OK && none.V {
		return "gdsproof check --step 3 -v   # gdscheck is not installed; libcufile's log has the same report"
	}
	return check.ShellWord(home(v)+"/gds/tools/gdscheck") + " -p"
}

// vendor is what to do about what only the vendor can tell.
func vendor(v check.View) []check.Fix {
	f := bundle
	f.Commands = []string{"nvidia-smi", gdscheck(v)}
	return []check.Fix{f}
}

// packages are the names of the GDS packages of the newest CUDA that is installed.
func packages(v check.View) string {
	var versions []string
	for _, n := range check.Maybe(v, facts.CUDAInstalls).V {
		if number, ok := strings.CutPrefix(n, "cuda-"); ok {
			if ver, ok := facts.ParseVersion(number); ok && len(ver.Parts) == 2 {
				versions = append(versions, number)
			}
		}
	}
	if len(versions) == 0 {
		return "sudo apt-get install -y gds-tools-13-0 libcufile-13-0   # the numbers of your CUDA"
	}
	facts.SortVersions(versions)
	n := strings.ReplaceAll(versions[len(versions)-1], ".", "-")
	return "sudo apt-get install -y gds-tools-" + n + " libcufile-" + n
}

// choose lets /usr/local/cuda lead to an install, where that is one of CUDA's own folders.
func choose(to string) string {
	if path.Dir(to) == "/usr/local" && strings.HasPrefix(path.Base(to), "cuda-") {
		return "sudo ln -sfn " + check.ShellWord(path.Base(to)) + " /usr/local/cuda"
	}
	return "sudo ln -sfn cuda-13.0 /usr/local/cuda   # the version of your programs"
}
