package facts

import (
	"strings"
)

// EFASetup is what AWS's client set-up said of itself: the output of setup.sh, or the journal of the unit
// configure-efa-fsx-lustre-client.service, which runs the same script at each boot. The text of the script is of
// the bundle of 2026-08; a line that it does not know is left out, never guessed at.
type EFASetup struct {
	Runs []EFASetupRun // in the order of the text; a journal may hold many boots
	Cut  bool          // the text ends within a line
}

// EFASetupRun is one run of the script, or of setup.sh around it. "" and an Opt that is not OK mean: not said.
type EFASetupRun struct {
	PID        string // of the script, from the journal
	GDS        Opt[bool]
	Client     string // Lustre client version
	Driver     string // EFA driver version, letters already stripped by the script
	Instance   string // instance type
	TCP        string // the tcp interface
	Interfaces []string
	// Available counts the attached devices, before the script's own choice. Added is counted at the end, from
	// lnetctl: with --optimized-for-gds they should agree, without it Added may rightly be less.
	Available  Opt[int]
	Added      Opt[int]
	Partitions Opt[int] // cpu_npartitions written for libcfs: in force only after modules are loaded anew
	// AlreadyEnabled: the unit was enabled before, so setup.sh has changed nothing that runs now. It exits with 0.
	AlreadyEnabled bool
	Reboot         bool // it asks for a reboot
	Finished       bool // the script's last line, or systemd's
	Failed         bool // systemd: the unit failed
	Canceled       bool // systemd cancelled the job; the unit may yet be fine, judge it by its state
	Errors         []EFASetupError
}

// EFASetupError is one complaint of the script.
type EFASetupError struct {
	Kind string // one of the Setup… constants, "" if its text is new
	Text string
	Cut  bool // the text ends within it
}

// Kinds of complaints.
const (
	SetupCommandMissing = "command-missing"
	SetupVersionTooLow  = "version-too-low"
	SetupTCPDown        = "tcp-down"
	SetupNoMetadata     = "no-metadata"
	SetupNoDevice       = "no-efa-device"
	SetupTypeNotGDS     = "type-not-gds"
	SetupPCIName        = "pci-name"
	SetupNUMA           = "numa-node"
	SetupNUMAWithoutEFA = "numa-node-without-efa"
	SetupPackage        = "package"
	SetupRemove         = "remove-interfaces"
	SetupAdd            = "add-interfaces"
	SetupPriority       = "udsp"
	SetupTimeout        = "command-timeout"
	SetupCommand        = "command-failed"
)

// setupErrors finds the kind by the script's own words; the first that matches wins. Those marked alone are looked
// for without "Error: " before them too, for no other program of the set-up says them.
var setupErrors = []struct {
	phrase, kind string
	alone        bool
}{
	{"does not support Lustre GDS", SetupTypeNotGDS, true},
	{"Unable to get EC2 instance type from metadata service", SetupNoMetadata, true},
	{"No EFA device found.", SetupNoDevice, true},
	{"No EFA devices found for NUMA node", SetupNUMAWithoutEFA, true},
	{"which is not in range", SetupNUMA, false},
	{"PCI parts, expected", SetupPCIName, false},
	{"does not exist or is not up", SetupTCPDown, false},
	{"No up TCP interface found", SetupTCPDown, true},
	{"does not meet the minimum requirement", SetupVersionTooLow, false},
	{"Unable to extract tag from version", SetupPackage, true},
	{"No supported package manager found", SetupPackage, true},
	{"Error removing EFA interfaces", SetupRemove, true},
	{"Error adding EFA interfaces", SetupAdd, true},
	{"lnetctl udsp add --src efa --priority 0 failed", SetupPriority, true},
	{"Command timed out after", SetupTimeout, true},
	{"Error running cmd=", SetupCommand, true},
	{"not found", SetupCommandMissing, false},
}

// Last is the last run of which anything is known.
func (s EFASetup) Last() (EFASetupRun, bool) {
	if len(s.Runs) == 0 {
		return EFASetupRun{}, false
	}
	return s.Runs[len(s.Runs)-1], true
}

// ParseEFASetup reads such a text, with or without the journal's stamps.
func ParseEFASetup(b []byte) EFASetup {
	r := setupReader{}
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		r.out.Cut = r.out.Cut || !whole && line != ""
		if strings.HasPrefix(line, "-- Boot ") || line == "-- Reboot --" {
			r.open = false
			continue
		}
		from, pid, text := journalLine(line)
		switch {
		case from == "systemd" && whole:
			r.systemd(text)
		case from == "systemd":
		default:
			r.script(text, pid, whole)
		}
	}
	return r.out
}

type setupReader struct {
	out  EFASetup
	open bool            // the last run goes on
	said bool            // the script has spoken in it
	told map[string]bool // its complaints
}

// run is the run that a line belongs to. A line of another process is of another run.
func (r *setupReader) run(pid string) *EFASetupRun {
	if r.open && pid != "" {
		if old := r.out.Runs[len(r.out.Runs)-1].PID; old != "" && old != pid {
			r.open = false
		}
	}
	if !r.open {
		r.out.Runs = append(r.out.Runs, EFASetupRun{})
		r.open, r.said, r.told = true, false, map[string]bool{}
	}
	cur := &r.out.Runs[len(r.out.Runs)-1]
	if pid != "" {
		cur.PID, r.said = pid, true
	}
	return cur
}

func (r *setupReader) systemd(text string) {
	if !strings.Contains(text, "configure-efa-fsx-lustre-client") {
		return
	}
	switch {
	case strings.HasPrefix(text, "Starting "):
		r.open = false
		r.run("")
	case strings.HasPrefix(text, "Finished "):
		r.run("").Finished = true
		r.open = false
	case strings.HasPrefix(text, "Failed to start "), strings.Contains(text, "Failed with result"):
		r.run("").Failed = true
	}
}

// script reads a line of the script or of setup.sh.
func (r *setupReader) script(text, pid string, whole bool) {
	if complaint, ok := setupComplaint(text, whole); ok {
		// It is printed twice: to the terminal, and to the journal and the kernel log.
		if run := r.run(pid); !r.told[complaint.Text] {
			r.told[complaint.Text] = true
			run.Errors = append(run.Errors, complaint)
		}
		return
	}
	if s, ok := between(text, "Successfully configured and added ", " EFA interface(s)"); ok {
		if n := optInt(s); n.OK {
			run := r.run(pid)
			run.Added, run.Finished = n, true
		}
		return
	}
	if strings.Contains(text, "already enabled. Changes will apply on next boot. Please reboot.") {
		run := r.run(pid)
		run.AlreadyEnabled, run.Reboot = true, true
		return
	}
	if !whole {
		return // what is left may be the beginning of another value
	}
	if strings.HasPrefix(text, "Started configure-efa-fsx-lustre-client.py at ") && r.said {
		r.open = false
	}
	r.fact(text, pid)
}

func (r *setupReader) fact(text, pid string) {
	word := func(before, after string) (string, bool) {
		s, ok := between(text, before, after)
		return s, ok && s != "" && !strings.ContainsAny(s, " \t")
	}
	switch {
	case strings.HasPrefix(text, "Started configure-efa-fsx-lustre-client.py at "), strings.HasPrefix(text, "Loading Lustre/EFA modules"):
		r.run(pid)
		r.said = true
	case strings.Contains(text, "ExecStart=") && strings.Contains(text, "configure-efa-fsx-lustre-client.py"),
		strings.Contains(text, "/setup.sh "), strings.HasPrefix(text, "setup.sh "):
		has := strings.Contains(" "+text+" ", " --optimized-for-gds ")
		if has || !strings.Contains(text, "…") {
			r.run(pid).GDS = Some(has)
		}
	case strings.HasPrefix(text, "options libcfs "):
		if s, ok := between(text+" ", "cpu_npartitions=", " "); ok {
			r.run(pid).Partitions = optInt(s)
		}
	case strings.HasPrefix(text, "Job for configure-efa-fsx-lustre-client.service canceled"):
		r.run(pid).Canceled = true
	case strings.HasPrefix(text, "Adding in parallel the EFA interfaces ["):
		s, _ := between(text, "[", "]")
		for _, name := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("', \"", c) }) {
			run := r.run(pid)
			run.Interfaces = append(run.Interfaces, name)
		}
	default:
		if s, ok := word("Using Lustre client version ", ""); ok {
			r.run(pid).Client = s
		} else if s, ok := word("Using EFA driver version ", ""); ok {
			r.run(pid).Driver = s
		} else if s, ok := word("Detected instance type: ", ""); ok {
			r.run(pid).Instance = s
		} else if s, ok := word("Found TCP interface: ", ""); ok {
			r.run(pid).TCP = s
		} else if s, ok := word("Found ", " available EFA device(s)"); ok {
			r.run(pid).Available = optInt(s)
		}
	}
}

// setupComplaint reads "Error: …", whatever stands before it. Of a cut line only a phrase that is whole counts.
func setupComplaint(text string, whole bool) (EFASetupError, bool) {
	said, marked := strings.CutPrefix(text, "Error: ")
	if !marked {
		// A word of its own: "LustreError: " is the kernel's.
		if _, after, ok := strings.Cut(text, " Error: "); ok {
			said, marked = after, true
		}
	}
	for _, e := range setupErrors {
		if (marked || e.alone) && strings.Contains(said, e.phrase) && (whole || e.phrase != "not found") {
			return EFASetupError{Kind: e.kind, Text: said, Cut: !whole && !strings.HasSuffix(said, ".")}, true
		}
	}
	return EFASetupError{Text: said}, marked && whole && said != ""
}

// journalLine takes the stamp of journalctl's short forms off: "Feb 09 06:41:32 host python3[1811]: text". pid is
// given for the script's own lines. Messages keep their indentation no longer, since it means nothing here.
func journalLine(line string) (from, pid, text string) {
	head, rest, ok := strings.Cut(line, "]:")
	from, pid, inside := strings.Cut(head, "[")
	from = from[strings.LastIndexByte(from, ' ')+1:]
	if !ok || !inside || pid == "" || strings.Trim(pid, "0123456789") != "" {
		return "", "", line
	}
	rest = strings.TrimSpace(rest)
	if from == "systemd" {
		return from, "", rest
	}
	return from, pid, rest
}

// between returns what is between two texts; an empty end is the line's end.
func between(s, before, after string) (string, bool) {
	_, s, ok := strings.Cut(s, before)
	if !ok || after == "" {
		return s, ok
	}
	s, _, ok = strings.Cut(s, after)
	return s, ok
}
