package facts

// LNetUDSP is what "lnetctl udsp show" prints: the rules that let LNet prefer one net (2.15 and later).
type LNetUDSP struct {
	Rules []LNetRule
	Cut   bool // something is missing at the end, or lnetctl ended with an error
}

// LNetRule is one rule. A side that it does not ask for is printed as NA; an absent one was not printed.
type LNetRule struct {
	Index         Opt[int]
	Src, Dst, Rte Opt[string]
	Priority      Opt[int64] // 0 is the best; a rule of preferred lists has none
}

// Priority is that of the rule for all traffic sent over a LND: AWS's set-up adds "src efa, priority 0", and
// without it tcp and efa are used side by side.
func (u LNetUDSP) Priority(lnd string) Opt[int64] {
	for _, r := range u.Rules {
		if r.Src.OK && LNetLND(r.Src.V) == lnd && r.Dst == Some("NA") && r.Rte == Some("NA") && r.Priority.OK {
			return r.Priority
		}
	}
	return Opt[int64]{}
}

// ParseLNetUDSP reads what "lnetctl udsp show" printed. No rule at all prints nothing (an empty sequence in
// liblnetconfig_udsp.c), as does a missing module, which is told on stderr alone: both exit with 0, so
// LNetEmpty means "no rule" only where stderr was kept and is empty too.
func ParseLNetUDSP(out, stderr []byte, exit *int) (LNetUDSP, LNetProblem) {
	text := string(out)
	var u LNetUDSP
	open := false
	for s := newLNetScan(text); s.next(); {
		switch s.label {
		case lnetBreak, lnetDocNet, lnetDocPeer, lnetNetType, lnetPrimaryNID:
			open = false
		case lnetIdx, lnetSrc, lnetDst, lnetRte, lnetPriority:
			if !open || u.Rules[len(u.Rules)-1].ends(&s) {
				u.Rules = append(u.Rules, LNetRule{})
			}
			open = true
		}
		if open {
			u.Rules[len(u.Rules)-1].set(&s)
		}
	}
	u.Cut = lnetOpenEnd(text) || exit != nil && *exit != 0
	if n := len(u.Rules); n > 0 && u.Rules[n-1] == (LNetRule{}) {
		u.Rules = u.Rules[:n-1] // only its index was there, and cut
	}
	if len(u.Rules) == 0 {
		return u, lnetDiagnose(text, string(stderr), exit)
	}
	return u, LNetProblem{State: LNetAnswered}
}

func (r *LNetRule) set(s *lnetScan) {
	switch s.label {
	case lnetIdx:
		lnetSetInt(s, &r.Index)
	case lnetSrc:
		lnetSetSide(s, &r.Src)
	case lnetDst:
		lnetSetSide(s, &r.Dst)
	case lnetRte:
		lnetSetSide(s, &r.Rte)
	case lnetPriority:
		lnetSetInt(s, &r.Priority)
	}
}

func lnetSetSide(s *lnetScan, to *Opt[string]) {
	if !to.OK && s.whole && s.value != "" {
		*to = Some(s.value)
	}
}

// ends tells whether a label begins the next rule. The index is printed first, then the source; a grep may have
// taken either away, and a paste may hold a line twice.
func (r *LNetRule) ends(s *lnetScan) bool {
	switch s.label {
	case lnetIdx:
		return *r != (LNetRule{Index: r.Index})
	case lnetSrc:
		return r.Dst.OK || r.Rte.OK || r.Priority.OK || r.Src.OK && r.Src.V != s.value
	}
	return false
}
