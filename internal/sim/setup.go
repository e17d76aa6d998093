package sim

import (
	"fmt"
	"strings"
	"time"
)

// unit is the service of AWS's set-up script, a oneshot that stays active.
const (
	unit      = "configure-efa-fsx-lustre-client.service"
	script    = "configure-efa-fsx-lustre-client.py"
	scriptArg = "/usr/local/sbin/" + script
)

// setup is how the client is configured at boot.
type setup struct {
	missing bool    // no unit: never set up
	gds     bool    // with --optimized-for-gds
	every   int     // without it, one device of so many is taken: the first below each PCI root
	at      float64 // when it starts, in seconds since boot
	noIMDS  bool    // the metadata service does not answer yet
}

// boot is when the simulated node booted.
var boot = time.Date(2026, time.November, 28, 6, 12, 0, 0, time.UTC)

func clock(at float64) time.Time { return boot.Add(time.Duration(at * float64(time.Second))) }

// stamp is systemd's form of a time.
func stamp(at float64) string { return clock(at).Format("Mon 2006-01-02 15:04:05 UTC") }

// complaint is what the script stops on, in the order in which it looks, or "".
func (n *node) complaint() string {
	switch {
	case olderThan(n.efa.version, 2, 12, 1):
		return "Error: EFA driver version " + n.efa.version + " does not meet the minimum requirement 2.12.1"
	case n.setup.noIMDS:
		return "Error: Unable to get EC2 instance type from metadata service"
	case len(n.efaFunctions()) == 0:
		return "Error: No EFA device found. Exit because --allow-no-efa is not specified"
	case n.client.noModules:
		return "Error: Error running cmd=modprobe lnet. ret=1"
	}
	return ""
}

func olderThan(v string, major, minor, patch int) bool {
	var a, b, c int
	_, _ = fmt.Sscanf(v, "%d.%d.%d", &a, &b, &c)
	return a<<20|b<<10|c < major<<20|minor<<10|patch
}

// configured tells that the set-up has run and succeeded at this boot.
func (n *node) configured() bool { return n.fs != nil && !n.setup.missing && n.complaint() == "" }

// Each addition of an interface takes some nine seconds, also beside others; the rest of the script is quick.
const perInterface = 9.3

// ended is when the script ended.
func (n *node) ended() float64 {
	if n.complaint() != "" {
		return n.setup.at + 1.6
	}
	return n.setup.at + 3.1 + perInterface*float64(len(n.added()))
}

// execStart is the unit's command.
func (n *node) execStart() string {
	s := "/usr/bin/python3 " + scriptArg
	if n.setup.gds {
		s += " --optimized-for-gds"
	}
	return s
}

// setupJournal is what systemd and the script said: time since boot, program, text.
func (n *node) setupJournal() []record {
	if n.fs == nil || n.setup.missing {
		return nil
	}
	var out []record
	say := func(at float64, from, text string) { out = append(out, record{at, from, text}) }
	const py = "python3[1811]"
	t := n.setup.at
	say(t, "systemd[1]", "Starting "+unit+" - Configure EFA FSx Lustre Client...")
	if c := n.complaint(); c != "" {
		say(n.ended(), py, n.spoken(n.ended(), c))
		say(n.ended(), "systemd[1]", unit+": Main process exited, code=exited, status=1/FAILURE")
		say(n.ended(), "systemd[1]", unit+": Failed with result 'exit-code'.")
		say(n.ended(), "systemd[1]", "Failed to start "+unit+" - Configure EFA FSx Lustre Client.")
		return out
	}
	nis := n.added()
	devs := make([]string, len(nis))
	for _, i := range nis {
		devs[i.cpt] = "'" + i.dev + "'" // named in the order of the devices, whichever ends first
	}
	say(t+0.9, py, "Using Lustre client version "+n.client.version)
	say(t+0.9, py, "Found TCP interface: "+n.lnet.dev)
	say(t+1.0, py, "Using EFA driver version "+strings.TrimRight(n.efa.version, "abcdefghijklmnopqrstuvwxyz"))
	say(t+1.1, py, "Detected instance type: "+n.instance)
	say(t+1.1, py, fmt.Sprintf("Found %d available EFA device(s)", len(n.efaFunctions())))
	say(t+1.2, py, "Loading Lustre/EFA modules...")
	say(t+2.0, py, "Configuring TCP interface...")
	say(t+2.1, py, "Cleaning up existing EFA interfaces...")
	say(t+2.1, py, "Configuring EFA interfaces...")
	say(t+2.1, py, "        Adding in parallel the EFA interfaces ["+strings.Join(devs, ", ")+"]...")
	e := n.ended()
	say(e-0.6, py, fmt.Sprintf("        %d out of %d cmds have succeeded.", len(nis), len(nis)))
	say(e-0.6, py, "        Successfully added all EFA interfaces")
	say(e-0.6, py, "Enabling Lustre discovery...")
	say(e-0.5, py, "Setting EFA as the preferred Lustre network (udsp)...")
	say(e-0.4, py, "Loading Lustre module...")
	say(e, py, n.spoken(e, n.success()))
	say(e, "systemd[1]", "Finished "+unit+" - Configure EFA FSx Lustre Client.")
	return out
}

func (n *node) success() string {
	return fmt.Sprintf("Successfully configured and added %d EFA interface(s).", len(n.added()))
}

// spoken is the form in which the script speaks to its journal and to the kernel log.
func (n *node) spoken(at float64, text string) string {
	return fmt.Sprintf("%s: [%s] %s", script, clock(at).Format("2006-01-02 15:04:05"), text)
}

// record is a line of a log.
type record struct {
	at         float64 // seconds since boot
	from, text string
}
