package checks_test

import (
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// commands are those of a check's fixes.
func commands(fs []check.Finding, id string) string {
	said := ""
	for _, f := range of(fs, id) {
		for _, x := range f.Fix {
			said += strings.Join(x.Commands, "\n") + "\n"
		}
	}
	return said
}

// TestFoundPaths: a fix names the CUDA install that was found, not the one that is usual.
func TestFoundPaths(t *testing.T) {
	none := state(evidence.Absent, "ENOENT", "")
	moved := text("")
	moved.Origin = "/opt/my cuda/gds/tools/gdscheck -p"
	moved.Out = []byte(" =========\n GPU INFO:\n =========\n GPU index 0 NVIDIA H200: Model Not Supported\n ==============\n PLATFORM INFO:\n ==============\n Platform verification succeeded\n")
	failed := text(" GDS release version: 1.15.1.6\n Platform: x86_64\n ==============\n PLATFORM INFO:\n ==============\n Platform verification error :\n a reason that no table has\n")
	failed.Origin = "/usr/local/cuda-13.1/gds/tools/gdscheck -p"
	mismatch := func(origin string) *evidence.Item {
		it, exit := text(""), 127
		it.Origin, it.Exit = origin, &exit
		it.Err = []byte("/usr/local/cuda/gds/tools/gdscheck: symbol lookup error: /usr/local/cuda/gds/tools/gdscheck: undefined symbol: cuFileX\n")
		return it
	}
	for name, c := range map[string]struct {
		spec     string
		change   change
		id, says string
	}{
		"the owner's choice":                  {"p5en,gpu-unsupported", nil, "platform-gpus", "/usr/local/cuda/gds/tools/gdscheck -p\n"},
		"the folder of the version":           {"p5en,gpu-unsupported,cuda-link-missing", nil, "platform-gpus", "/usr/local/cuda-13.0/gds/tools/gdscheck -p\n"},
		"another folder":                      {"p5en", change{"gdscheck -p": moved}, "platform-gpus", "'/opt/my cuda/gds/tools/gdscheck' -p\n"},
		"no tools":                            {"p5en,gpu-unsupported,tools-missing", nil, "platform-gpus", "gdsproof check --step 3 -v "},
		"the verification":                    {"p5en", change{"gdscheck -p": failed}, "platform-verification", "/usr/local/cuda-13.1/gds/tools/gdscheck -p\n"},
		"the storage":                         {"p5en,gdscheck-compat-only,cuda-link-missing", nil, "platform-storage", "/usr/local/cuda-13.0/gds/tools/gdscheck -p\n"},
		"the delivered cufile.json":           {"p5en,cuda-link-missing", change{facts.CufileEtc: none, "gdscheck -p": none}, "cufile-config", "/usr/local/cuda-13.0/gds/cufile.json /etc/cufile.json\n"},
		"the packages of the CUDA that is in": {"p6-b200,cufile-library-missing", nil, "cufile-library", "gds-tools-13-2 libcufile-13-2\n"},
		"tools of another version":            {"p5en", change{"gdscheck -p": mismatch("/usr/local/cuda/gds/tools/gdscheck -p")}, "cufile-library", "sudo ln -sfn cuda-13.0 /usr/local/cuda\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := commands(judge(t, with(t, c.spec, c.change)), c.id); !strings.Contains(got, c.says) {
				t.Errorf("%q is not in:\n%s", c.says, got)
			}
		})
	}
}
