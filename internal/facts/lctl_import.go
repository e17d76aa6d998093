package facts

import "strings"

// LctlImport is a client's connection to one server target, from osc.*.import or mdc.*.import (debugfs, root only).
//
// Connection is the name of the server and says @tcp on a node whose data goes over EFA: it proves no transport.
type LctlImport struct {
	Target        string // "qrstbcde-OST0001", without _UUID
	State         string // FULL and IDLE are good; CONNECTING for some 15 s after a mount; DISCONN, EVICTED, NEW
	Connection    string
	FailoverNIDs  []string
	Attempts      Opt[int]
	Timeouts      Opt[int]
	TargetVersion string
	MaxBRWSize    Opt[uint64]
	Deactivated   bool // set inactive by somebody
}

// Imports collects the state of each connection: from import, from state, and from ost_server_uuid and its like,
// whichever of them were asked for. A value that was cut counts as far as it goes.
func (l LctlParams) Imports() []LctlImport {
	var out []LctlImport
	index := map[string]int{}
	for _, p := range l.Params {
		var im LctlImport
		switch _, last := cutLast(p.Name, '.'); last {
		case "import", "state":
			im = ParseLctlImport(p.Value)
		case "ost_server_uuid", "mds_server_uuid", "mgs_server_uuid":
			im = serverState(p.Value)
		default:
			continue
		}
		if im.Target == "" {
			im.Target = p.Target()
		}
		if im.Target == "" || im.State == "" && im.Connection == "" {
			continue
		}
		device, _ := cutLast(p.Name, '.')
		i, ok := index[device]
		if !ok {
			index[device] = len(out)
			out = append(out, im)
			continue
		}
		out[i].fill(im)
	}
	return out
}

func (a *LctlImport) fill(b LctlImport) {
	if a.State == "" {
		a.State = b.State
	}
	if a.Connection == "" {
		a.Connection, a.FailoverNIDs = b.Connection, b.FailoverNIDs
	}
	later(&a.Attempts, b.Attempts)
	later(&a.Timeouts, b.Timeouts)
	later(&a.MaxBRWSize, b.MaxBRWSize)
	if a.TargetVersion == "" {
		a.TargetVersion = b.TargetVersion
	}
	a.Deactivated = a.Deactivated || b.Deactivated
}

// ParseLctlImport reads the value of an import or state parameter by its labels.
func ParseLctlImport(value string) LctlImport {
	var im LctlImport
	for line := range strings.Lines(value) {
		label, v, ok := strings.Cut(strings.TrimSpace(line), ":")
		v = strings.Trim(v, " \t\"")
		if !ok || v == "" {
			continue
		}
		once := func(to *string) {
			if *to == "" {
				*to = v
			}
		}
		switch strings.TrimSpace(label) {
		case "target":
			once(&im.Target)
			im.Target = strings.TrimSuffix(im.Target, "_UUID")
		case "state", "current_state":
			once(&im.State)
		case "current_connection":
			once(&im.Connection)
		case "failover_nids":
			im.FailoverNIDs = strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("[], \"", r) })
		case "connection_attempts":
			im.Attempts = optInt(v)
		case "timeouts":
			im.Timeouts = optInt(v)
		case "target_version":
			once(&im.TargetVersion)
		case "max_brw_size":
			im.MaxBRWSize = optUint(v)
		}
	}
	return im
}

// serverState reads "qrstbcde-OST0001_UUID	FULL", to which DEACTIVATED may be added.
func serverState(value string) LctlImport {
	f := strings.Fields(value)
	if len(f) < 2 {
		return LctlImport{}
	}
	return LctlImport{Target: strings.TrimSuffix(f[0], "_UUID"), State: f[1], Deactivated: len(f) > 2 && f[2] == "DEACTIVATED"}
}

// LctlLovTarget is one row of lov.*.target_obd or lmv.*.target_obd.
type LctlLovTarget struct {
	Index  int
	Target string // without _UUID
	Active bool
}

// LovTargets reads the rows of the target_obd parameters of a kind, lov (OSTs) or lmv (MDTs).
func (l LctlParams) LovTargets(kind string) []LctlLovTarget {
	var out []LctlLovTarget
	for _, p := range l.Of(kind, "target_obd") {
		for line := range strings.Lines(p.Value) {
			f := strings.Fields(line)
			if len(f) < 3 || f[2] != "ACTIVE" && f[2] != "INACTIVE" {
				continue
			}
			if i := optInt(strings.TrimSuffix(f[0], ":")); i.OK {
				out = append(out, LctlLovTarget{Index: i.V, Target: strings.TrimSuffix(f[1], "_UUID"), Active: f[2] == "ACTIVE"})
			}
		}
	}
	return out
}

func cutLast(s string, sep byte) (before, after string) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}
