package facts

import (
	"strconv"
	"strings"
)

// setting reads the settings that matter for the path out of the report at INFO.
func (p *cufileProcess) setting(message string) {
	if !strings.HasPrefix(message, "properties.") && !strings.HasPrefix(message, "fs.") {
		return
	}
	s, ok := gdsSetting(message)
	if !ok {
		return
	}
	switch s.Name {
	case "properties.use_compat_mode":
		p.UseCompat = word(s.Value, "true", "false")
	case "properties.force_compat_mode":
		p.ForceCompat = word(s.Value, "true", "false")
	case "properties.use_pci_p2pdma":
		p.UseP2PDMA = word(s.Value, "true", "false")
	case "properties.gds_rdma_write_support":
		p.RDMAWrite = word(s.Value, "true", "false")
	case "fs.generic.posix_unaligned_writes":
		p.PosixUnaligned = word(s.Value, "true", "false")
	default:
		fs, ok := strings.CutSuffix(strings.TrimPrefix(s.Name, "fs."), ".posix_gds_min_kb")
		n, err := strconv.ParseUint(s.Value, 10, 64)
		if !ok || err != nil || len(p.PosixMinKB) >= 16 {
			return
		}
		if p.PosixMinKB == nil {
			p.PosixMinKB = map[string]uint64{}
		}
		p.PosixMinKB[strings.Clone(fs)] = n
	}
}

// line copies what is kept of an entry: its message is a part of a longer string.
func cufileLine(e CufileLogEntry) CufileLine {
	m := e.Message
	if len(m) > longestCufileReason {
		m = m[:longestCufileReason]
	}
	return CufileLine{Time: e.Time, Level: strings.Clone(e.Level), Message: strings.ToValidUTF8(strings.Clone(m), "\uFFFD")}
}

func (p *cufileProcess) reason(e CufileLogEntry) {
	if e.Level == "NOTICE" && p.Compat == nil && strings.Contains(e.Message, "running in compatible mode") {
		l := cufileLine(e)
		p.Compat = &l
	}
	key := e.Message
	if len(key) > longestCufileReason {
		key = key[:longestCufileReason]
	}
	key = e.Level + withoutDigits(key)
	if i, ok := p.reasons[key]; ok {
		p.Reasons[i].Count++
		return
	}
	if len(p.Reasons) >= mostCufileReasons {
		p.ReasonsNotKept++
		return
	}
	if p.reasons == nil {
		p.reasons = map[string]int{}
	}
	p.reasons[key] = len(p.Reasons)
	p.Reasons = append(p.Reasons, CufileReason{cufileLine(e), 1})
}

// withoutDigits makes one text of messages that differ in an address, a size or a descriptor. Numbers of devices go
// too: the first of them stays in the reason.
func withoutDigits(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' && len(b) > 0 && b[len(b)-1] == '0' {
			if len(b) == 0 || b[len(b)-1] != '0' {
				b = append(b, '0')
			}
			continue
		}
		if c == 'x' && len(b) > 0 && b[len(b)-1] == '0' {
			continue // 0x7f…
		}
		b = append(b, c)
	}
	return string(b)
}

// open follows the attempts to open the driver. libcufile tries again on each call that needs it.
//
//	INFO    nvidia_fs driver open invoked          an attempt begins
//	ERROR   nvidia-fs.ko driver not loaded         compat mode is off: cuFileDriverOpen gives 5001 (measured)
//	INFO    CUFile initialization complete         it is open
//	TRACE   cuFileDriverOpen success               the same, told to the caller
//	ERROR   cuFile initialization failed           for a reason in the lines before
func (p *cufileProcess) open(e CufileLogEntry) {
	m := e.Message
	switch {
	case e.Level == "INFO" && strings.HasPrefix(m, "nvidia_fs driver open invoked"):
		p.opened = false
	case strings.HasPrefix(m, "CUFile initialization complete"):
		p.ended(e, true, Opt[int64]{})
		p.opened = true
	case strings.HasPrefix(m, "cuFileDriverOpen success"):
		if !p.opened {
			p.ended(e, true, Opt[int64]{})
		}
		p.opened = false
	case e.Level == "ERROR" && strings.HasPrefix(m, "nvidia-fs.ko driver not loaded"):
		p.ended(e, false, Some(int64(5001)))
		p.opened = true
	case e.Level == "ERROR" && (strings.HasPrefix(m, "cuFile initialization failed") || strings.HasPrefix(m, "cuFileDriverOpen error")):
		if !p.opened {
			_, words, _ := strings.Cut(m, "error")
			p.ended(e, false, cufileCode(strings.TrimLeft(words, ":, "), true))
		}
		p.opened = false
	}
}

func (p *cufileProcess) ended(e CufileLogEntry, ok bool, code Opt[int64]) {
	if len(p.Opens) >= mostCufileOpens {
		p.OpensNotKept++
		return
	}
	p.Opens = append(p.Opens, CufileResult{OK: ok, Code: code, CufileLine: cufileLine(e)})
}

// register follows the registration of one file, which a thread does at a time.
func (t *cufileThread) register(e CufileLogEntry) {
	const call = "cuFileHandleRegister"
	m := e.Message
	if rest, ok := strings.CutPrefix(m, call); ok {
		switch rest = strings.TrimLeft(rest, " "); {
		case strings.HasPrefix(rest, "invoked"):
			t.endHandle()
			t.begun = true // its lines may name the file
		case strings.HasPrefix(rest, "success"):
			t.handle(e).OK = Some(true)
			t.endHandle()
		case strings.HasPrefix(rest, "GDS not supported or disabled"):
			h := t.handle(e)
			if h.Compat {
				t.endHandle() // at the default level nothing ends the one before
				h = t.handle(e)
			}
			h.Compat = true
		case strings.HasPrefix(rest, "error:"):
			h := t.handle(e)
			h.OK, h.Code, h.Line = Some(false), cufileCode(rest[len("error:"):], true), cufileLine(e)
			t.endHandle()
		case strings.HasPrefix(rest, "error"):
			h := t.handle(e) // its reason comes before its end
			h.OK, h.Line = Some(false), cufileLine(e)
			h.FD = numberBehind(rest, "invalid file descriptor: ").or(h.FD)
		}
		return
	}
	if t.reg == nil && !t.begun {
		return
	}
	switch {
	case strings.HasPrefix(m, "unable to get volume attributes for fd "):
		h := t.handle(e)
		h.FD = numberBehind(m, " for fd ").or(h.FD)
	case strings.HasPrefix(m, "error getting volume attributes"):
		if _, dev, ok := strings.Cut(m, "device: "); ok && len(dev) < 64 {
			t.handle(e).Device = strings.Clone(dev)
		}
	case strings.HasPrefix(m, "identified fd for unaligned access"):
		h := t.handle(e)
		h.FD = numberBehind(m, "user_fd: ").or(h.FD)
	case strings.HasPrefix(m, "Compatibility Mode: "):
		h := t.handle(e)
		h.CompatRead, h.CompatWrite = cufileFlag(m, "Compat Read Mode: "), cufileFlag(m, "Compat Write Mode: ")
	}
}

func (o Opt[T]) or(other Opt[T]) Opt[T] {
	if o.OK {
		return o
	}
	return other
}

// handle is the registration under way.
func (t *cufileThread) handle(e CufileLogEntry) *CufileHandle {
	if t.reg == nil {
		t.reg = &CufileHandle{Line: cufileLine(e)}
	}
	return t.reg
}

func (t *cufileThread) endHandle() {
	if t.reg != nil {
		if len(t.p.Handles) >= mostCufileHandles {
			t.p.HandlesNotKept++
		} else {
			t.p.Handles = append(t.p.Handles, *t.reg)
		}
	}
	t.reg, t.begun = nil, false
}

// numberBehind reads the number behind some words.
func numberBehind(s, words string) Opt[int] {
	_, rest, ok := strings.Cut(s, words)
	if !ok {
		return Opt[int]{}
	}
	n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	return Opt[int]{V: n, OK: err == nil}.orNone()
}

func cufileFlag(s, words string) Opt[bool] {
	n := numberBehind(s, words)
	if n == Some(0) || n == Some(1) {
		return Some(n.V == 1)
	}
	return Opt[bool]{}
}
