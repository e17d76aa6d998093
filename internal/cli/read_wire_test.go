package cli

import (
	"strings"
	"testing"

	"gdsproof/internal/report"
)

// TestReadWireOfOtherFiles: a run on a file that is not on Lustre says nothing of EFA.
func TestReadWireOfOtherFiles(t *testing.T) {
	const p = "ubuntu@gpu-7:~$ "
	lnet := p + "sudo lnetctl net show -v\nnet:\n    - net type: tcp\n      local NI(s):\n        - nid: 10.1.2.3@tcp\n          status: up\n          statistics:\n              send_count: 10\n              recv_count: 10\n" +
		"    - net type: efa\n      local NI(s):\n        - nid: 2.3.80.0@efa\n          status: up\n          statistics:\n              send_count: 50\n              recv_count: 50\n"
	look := func(n, m string) string { return p + "cat /proc/driver/nvidia-fs/stats\n" + counters(n, m) + lnet }
	const head = p + "df -hT\nFilesystem Type Size Used Avail Use% Mounted on\n10.3.7.1@tcp:/q8wkzbev lustre 4.5T 1.2T 3.3T 27% /fsx\n"
	const nvme = "/dev/nvme1n1 ext4 3T 1T 2T 33% /mnt/nvme\n"
	for name, tc := range map[string]struct {
		head, file string
		want       report.Outcome
		red        string
	}{
		"on Lustre":                     {head, "/fsx/t", report.Contradicted, "io-wire-efa"},
		"on another file system":        {head + nvme, "/mnt/nvme/t", report.Proven, ""},
		"below no Lustre mount":         {head, "/mnt/nvme/t", report.Unproven, ""},
		"a path that is not told":       {head + nvme, "t", report.Contradicted, "io-wire-efa"},
		"a mount point that begins so":  {head + nvme, "/fsx2/t", report.Unproven, ""},
		"on Lustre, with others around": {head + nvme, "/fsx/deep/t", report.Contradicted, "io-wire-efa"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readTexts(t, builtIn(t), given(tc.head+look("0", "4")+p+strings.Replace(apartGdsi, "/fsx/t", tc.file, 1)+"\n"+apartRun+look("10240", "8")+p+"\n"))
			red := ""
			for _, f := range r.Findings {
				if f.Status == report.Fail {
					red += f.Check
				}
			}
			if r.Verdict.Outcome != tc.want || red != tc.red {
				t.Errorf("%s: %s; red: %s", r.Verdict.Outcome, r.Verdict.Summary, red)
			}
		})
	}
	other := strings.NewReplacer("10.1.2.3@tcp", "10.1.2.99@tcp", "send_count: 50", "send_count: 20500", "recv_count: 50", "recv_count: 20500").Replace(look("10240", "8"))
	if r := readTexts(t, builtIn(t), given(head+look("0", "4")+p+apartGdsi+"\n"+apartRun+other+p+"\n")); r.Verdict.Outcome != report.Unproven {
		t.Errorf("interfaces of two machines: %s: %s", r.Verdict.Outcome, r.Verdict.Summary)
	}
}
