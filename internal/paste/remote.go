package paste

import (
	"regexp"
	"slices"
	"strings"
)

// remote is where a command was run: on another machine than the one whose prompt it stands behind.
type remote struct {
	host  string // "" where the command does not say which, as a loop's variable or Slurm's choice
	is    bool   // it ran elsewhere
	login bool   // it is a shell there: what is typed next is typed there
	rest  int    // of the words: where the command for the other machine begins
}

// valued are options that take the next word as their value, by program.
var valued = map[string]string{
	"ssh": "pilobcmFJLRDWEeSwBIOQ", "srun": "nNcptwxJAeioDGqCmdT", "kubectl": "nc", "oc": "nc", "pdsh": "wxgftul", "clush": "wxgftul", "dsh": "mMg", "pssh": "hHlpote", "parallel-ssh": "hHlpote",
	"mpirun": "nHxN", "mpiexec": "nHxN",
}

var nodeOptions = []string{"-w", "--nodelist", "-H", "-host", "--host", "-m"}

// remoteOf finds in a command line the program that carries the rest of it to another machine, in a loop too.
func remoteOf(text string) remote {
	w := words(text)
	for i, a := range w {
		if i > 0 {
			switch p := strings.TrimRight(w[i-1], ";"); {
			case p != w[i-1], strings.Contains(p, "=") && !strings.HasPrefix(p, "-"), strings.HasSuffix(p, "("):
			case slices.Contains([]string{"do", "then", "&&", "||", "|", "&", "sudo", "time", "nohup", "exec", "xargs", "!", "-E", "-n", "env", "else", "{"}, p):
			default:
				continue
			}
		}
		name := baseName(a)
		if _, ok := valued[name]; ok {
			return remoteArgs(name, w, i+1)
		}
	}
	return remote{}
}

func remoteArgs(name string, w []string, i int) remote {
	r := remote{is: name != "mpirun" && name != "mpiexec", rest: len(w)}
	if name == "kubectl" || name == "oc" {
		if i >= len(w) || w[i] != "exec" && w[i] != "debug" {
			return remote{}
		}
		i++
	}
	for ; i < len(w); i++ {
		a := w[i]
		opt, value, joined := strings.Cut(a, "=")
		switch {
		case a == "--" || a == "|":
			r.rest = i + 1
		case slices.Contains(nodeOptions, opt) && name != "ssh" && !(name == "kubectl" || name == "oc"):
			if !joined && i+1 < len(w) {
				i++
				value = w[i]
			}
			r.host, r.is = value, true
			continue
		case strings.Contains(opt, "hostfile") || opt == "-machinefile" || opt == "--machinefile":
			r.is = true
			continue
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if name == "srun" && len(a) > 2 && strings.HasPrefix(a, "-w") {
				r.host = a[2:]
			} else if strings.HasPrefix(a, "--") && !joined && name == "kubectl" && (a == "--namespace" || a == "--container") || len(a) == 2 && strings.Contains(valued[name], a[1:]) {
				i++
			}
			continue
		case strings.HasPrefix(name, "mpi") && strings.Trim(a, "0123456789") == "": // of -np
			continue
		case r.host == "" && (name == "ssh" || name == "kubectl" || name == "oc"):
			r.host = a
			continue
		default:
			r.rest = i
		}
		break
	}
	r.host = hostName(r.host)
	r.login = (name == "ssh" || name == "kubectl" || name == "oc") && (r.rest >= len(w) || r.rest == len(w)-1 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, w[r.rest]))
	if r.host == "localhost" || r.host == "127.0.0.1" {
		return remote{}
	}
	return r
}

var address = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)

// hostName makes one name of the ways in which a machine is named; "" where it is no one name.
func hostName(s string) string {
	s = strings.ToLower(strings.Trim(strings.TrimSpace(s), ";,'\""))
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "pod/"), "node/")
	if strings.ContainsAny(s, "${}[]%*,<> ") {
		return ""
	}
	if !address.MatchString(s) {
		s, _, _ = strings.Cut(s, ".")
	}
	return s
}

var (
	toFile  = regexp.MustCompile(`(?:^|[^0-9&<>-])(?:1|&)?>{1,2}\s*([^\s&;|()<>]+)`)
	teeFile = regexp.MustCompile(`\btee\s+(?:-a\s+)?([^\s&;|()<>-][^\s&;|()<>]*)`)
	behind  = regexp.MustCompile(`[^&>|]&\s*(?:$|;|done\b|\)|[a-z/])`)
	waits   = regexp.MustCompile(`(?:^|[\s;&])(?:wait|fg)(?:$|[\s;&])`)
)

// writes are the files that a command writes what it prints to; silent tells that nothing of it comes to the terminal.
func writes(text string) (files []string, silent bool) {
	plain := strings.ReplaceAll(strings.ReplaceAll(unquoted(text), "2>&1", " "), ">&2", " ")
	for _, m := range toFile.FindAllStringSubmatch(plain, -1) {
		silent = true
		if m[1] != "/dev/null" {
			files = append(files, m[1])
		}
	}
	for _, m := range teeFile.FindAllStringSubmatch(plain, -1) {
		if !strings.HasPrefix(m[1], "/sys/") && !strings.HasPrefix(m[1], "/proc/") {
			files = append(files, m[1])
		}
	}
	return files, silent
}

// unquoted blanks what stands in quotes, of the same length.
func unquoted(text string) string {
	b := []byte(text)
	quote := byte(0)
	for i, c := range b {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b[i] = 'x'
		case c == '\'' || c == '"':
			quote = c
		}
	}
	return string(b)
}

// background tells that a command goes on while the next is typed.
func background(text string) bool {
	plain := strings.ReplaceAll(strings.ReplaceAll(unquoted(text), "2>&1", " "), "&>", " ")
	plain = strings.ReplaceAll(plain, "&&", "  ")
	return behind.MatchString(" "+plain) && !waits.MatchString(plain)
}

// prints are programs that show what a file holds.
var prints = []string{"cat", "tail", "head", "less", "more", "grep", "egrep", "fgrep", "zcat", "awk", "sed", "bat", "sort", "strings", "type"}

// shows are the files that a command prints, but those of the kernel and of the system's settings, which are looks.
func (c *command) shows() []string {
	if c == nil || !slices.Contains(prints, c.program()) {
		return nil
	}
	var out []string
	for i, a := range c.argv {
		switch {
		case i == 0, strings.HasPrefix(a, "-"), strings.HasPrefix(a, "/proc/"), strings.HasPrefix(a, "/sys/"), strings.HasPrefix(a, "/etc/"), strings.Trim(a, "0123456789") == "":
		case c.program() != "cat" && i == 1 && !strings.Contains(a, "/") && !strings.Contains(a, ".log") && !strings.Contains(a, ".txt") && !strings.Contains(a, ".out"):
			// the pattern of a grep or the program of an awk
		default:
			out = append(out, a)
		}
	}
	return out
}
