package facts

import (
	"strconv"
	"strings"
)

// LNetCredits is what "lctl get_param nis" prints: a row per interface and CPU partition. It is there without
// lnetctl, and tells without a before and after whether an interface has sent.
type LNetCredits struct {
	Rows []LNetCreditRow
	Cut  bool // something is missing at the end, or lctl ended with an error
}

// LNetCreditRow is one row. Credits go below zero while messages wait.
type LNetCreditRow struct {
	NID, Address, Net                    string
	Status                               Opt[string]
	Alive, Refs, Peer, Rtr, Max, Tx, Min Opt[int64]
}

// Sent tells whether the interface has sent on this partition since it was started: the fewest credits ever
// left are then below the most.
func (r LNetCreditRow) Sent() (sent, ok bool) {
	return r.Min.V < r.Max.V, r.Min.OK && r.Max.OK
}

// lnetCreditColumns are the columns in the order of proc_lnet_nis (lnet/lnet/router_proc.c), the same in all
// versions; they serve rows whose head line a grep took away.
var lnetCreditColumns = []string{"nid", "status", "alive", "refs", "peer", "rtr", "max", "tx", "min"}

// ParseLNetCredits reads what "lctl get_param nis" printed.
func ParseLNetCredits(out, stderr []byte, exit *int) (LNetCredits, LNetProblem) {
	text := string(out)
	var c LNetCredits
	columns := lnetCreditColumns
	for rest := text; rest != ""; {
		line, after, ended := strings.Cut(rest, "\n")
		rest = after
		line = strings.TrimPrefix(strings.TrimLeft(line, "> \t"), "nis=")
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "nid" && f[1] == "status" {
			columns = f
			continue
		}
		if !ended && strings.TrimRight(line, " \t\r") == line && len(f) > 0 {
			f = f[:len(f)-1] // may be cut
		} else if len(f) > 1 && len(f) < len(columns) {
			f = f[:len(f)-1] // a line cut at its right end, perhaps inside a number
		}
		if row, ok := lnetCreditRow(f, columns); ok {
			c.Rows = append(c.Rows, row)
		}
	}
	c.Cut = lnetOpenEnd(text) || exit != nil && *exit != 0
	if len(c.Rows) == 0 {
		return c, lnetDiagnose(text, string(stderr), exit)
	}
	return c, LNetProblem{State: LNetAnswered}
}

func lnetCreditRow(f, columns []string) (LNetCreditRow, bool) {
	if len(f) < 2 || f[1] != "up" && f[1] != "down" {
		return LNetCreditRow{}, false
	}
	i := strings.LastIndexByte(f[0], '@')
	if i <= 0 || i == len(f[0])-1 {
		return LNetCreditRow{}, false
	}
	r := LNetCreditRow{NID: f[0], Address: f[0][:i], Net: f[0][i+1:], Status: Some(f[1])}
	to := map[string]*Opt[int64]{
		"alive": &r.Alive, "refs": &r.Refs, "peer": &r.Peer, "rtr": &r.Rtr,
		"max": &r.Max, "tx": &r.Tx, "min": &r.Min,
	}
	for i := 2; i < min(len(f), len(columns)); i++ {
		v, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			break // from here on the columns may be shifted
		}
		if o := to[columns[i]]; o != nil && !o.OK {
			*o = Some(v)
		}
	}
	return r, true
}
