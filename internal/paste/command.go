package paste

import (
	"regexp"
	"slices"
	"strings"
)

// command is a line that a person typed, as far as it tells what the next lines are.
type command struct {
	text   string
	no     int
	host   string   // that the prompt names, "" if it names none
	argv   []string // of the first program of the pipeline, without sudo, env and its variables
	filter []string // patterns of a grep behind it, in lower case
	count  bool     // grep -c: the output is a number
	shaped bool     // awk, sort, cut, column, tail …: the output has another shape, or is a part
	remote remote   // it was run on another machine
	files  []string // that its output went to
	silent bool     // nothing of its output came to the terminal
}

// program is the name of what was run, without its folder.
func (c *command) program() string {
	if c == nil || len(c.argv) == 0 {
		return ""
	}
	return c.argv[0][strings.LastIndexByte(c.argv[0], '/')+1:]
}

func (c *command) has(word string) bool { return c != nil && slices.Contains(c.argv, word) }

// prompt: "$ x", "user@host:~$ x", "[root@ip-10-0-0-1 ~]# x", "(base) user@host % x", "+ x" of a shell's trace.
var prompt = regexp.MustCompile(`^\s*(?:\([\w.-]+\)\s*)?(?:\[[^\]\s]+@[^\]]*\]|[\w.-]+@[\w.-]+[^$#%]{0,80}?|[A-Za-z][\w.-]*(?::[~/][\w./~-]*)?)?\s*([$#%+❯➜])\s+(\S.*)$`)

// waiting is a prompt behind which nothing was typed: what stands before it was printed to its end.
var waiting = regexp.MustCompile(`^\s*(?:\([\w.-]+\)\s*)?(?:\[[^\]\s]+@[^\]]*\][$#%]|[\w.-]+@[\w.-]+[^$#%]{0,80}?[$#%]|\$|❯|➜)\s*$`)

// promptHost is the machine of "user@host".
var promptHost = regexp.MustCompile(`@([\w-]+)`)

func hostOf(prompt string) string {
	if m := promptHost.FindStringSubmatch(prompt); m != nil {
		return m[1]
	}
	return ""
}

// programs are those whose output is read, so that a line that begins with one, or that has one behind "#", is a
// command and no heading.
var programs = map[string]bool{
	"cat": true, "lsmod": true, "lnetctl": true, "lctl": true, "lfs": true, "systemctl": true, "journalctl": true, "dmesg": true, "df": true,
	"mount": true, "findmnt": true, "gdscheck": true, "gdscheck.py": true, "gdsio": true, "gdsio_verify": true, "gds_stats": true, "modinfo": true,
	"modprobe": true, "insmod": true, "ls": true, "nvidia-smi": true, "uname": true, "dd": true, "grep": true, "ldconfig": true, "lspci": true,
	"rdma": true, "fi_info": true, "ibv_devices": true, "echo": true, "sysctl": true, "head": true, "tail": true, "env": true, "printenv": true, "paste": true,
	"rmmod": true, "cd": true, "export": true, "make": true, "git": true, "curl": true, "mkdir": true, "rm": true, "cp": true, "for": true, "fio": true,
	"srun": true, "pdsh": true, "clush": true, "kubectl": true, "mpirun": true, "hostname": true, "reboot": true, "nvidia-ctk": true, "docker": true, "enroot": true, "ssh": true, "lscpu": true, "awk": true, "umount": true, "stat": true,
}

// carried puts the command that another machine was given in the place of the one that carried it there: what it
// prints looks the same.
func (c *command) carried() {
	if !c.remote.is || c.remote.login || len(c.argv) < 2 || valued[c.program()] == "" {
		return
	}
	r := remoteArgs(c.program(), c.argv, 1)
	if r.rest >= len(c.argv) {
		return
	}
	inner := c.argv[r.rest:]
	if len(inner) == 1 && strings.Contains(inner[0], " ") { // quoted: a shell reads it there
		q := parseCommand(inner[0], c.no)
		c.argv, c.filter, c.count, c.shaped = q.argv, q.filter, q.count, q.shaped
		return
	}
	if inner = strip(inner); len(inner) > 0 && inner[0] != "bash" && inner[0] != "sh" {
		c.argv = inner
	}
}

// commandLine reads a line as a command, if it is one.
func commandLine(l line) *command {
	text := strings.TrimSpace(l.text)
	if m := prompt.FindStringSubmatch(l.text); m != nil {
		c := parseCommand(m[2], l.no)
		c.host = hostOf(l.text[:len(l.text)-len(m[2])])
		// "# text" is a comment or a heading, "+ text" a diff, "% text" anything.
		if m[1] == "$" || m[1] == "❯" || m[1] == "➜" || c.host != "" || programs[c.program()] {
			return c
		}
		return nil
	}
	first, rest, _ := strings.Cut(text, " ")
	switch {
	case first == "sudo" && rest != "":
	case strings.HasPrefix(first, "/") && programs[first[strings.LastIndexByte(first, '/')+1:]]:
	case programs[first] && rest != "" && first != "mount" && first != "for" && first != "make" && first != "paste" && first != "head" && first != "stat":
	case first == "lsmod" && rest == "", first == "dmesg" && rest == "":
	case text == "wait", text == "reboot", text == "hostname":
		return parseCommand(text, l.no)
	default:
		return nil
	}
	c := parseCommand(text, l.no)
	if !programs[c.program()] || !looksTyped(c) {
		return nil
	}
	return c
}

// looksTyped tells a bare command line from prose that begins with the same word ("cat pictures are nice") and from
// output ("df: /fsx: …", "dd: error", "mount point …").
func looksTyped(c *command) bool {
	if len(c.argv) == 1 {
		return true
	}
	if strings.HasSuffix(c.argv[0], ":") {
		return false
	}
	for _, a := range c.argv[1:] {
		if strings.HasPrefix(a, "-") || strings.Contains(a, "/") || strings.Contains(a, "=") {
			return true
		}
	}
	switch c.program() {
	case "lnetctl", "lctl", "systemctl", "modinfo", "modprobe", "insmod", "lfs":
		return true
	}
	return strings.Contains(c.text, "|")
}

// parseCommand takes a pipeline apart.
func parseCommand(text string, no int) *command {
	c := &command{text: text, no: no, remote: remoteOf(text)}
	c.files, c.silent = writes(text)
	stages := pipeline(text)
	c.argv = strip(words(stages[0]))
	c.carried()
	for _, s := range stages[1:] {
		w := strip(words(s))
		if len(w) == 0 {
			continue
		}
		switch name := w[0][strings.LastIndexByte(w[0], '/')+1:]; name {
		case "grep", "egrep", "fgrep":
			c.grep(w[1:])
		case "cat", "less", "more", "tee":
		default:
			c.shaped = true
		}
	}
	switch c.program() {
	case "grep", "egrep", "fgrep":
		// grep PATTERN FILE is that file, filtered.
		c.grep(c.argv[1:])
		file := ""
		for _, a := range c.argv[1:] {
			if strings.HasPrefix(a, "/") {
				file = a
			}
		}
		if file != "" {
			c.argv = []string{"cat", file}
		}
	case "head", "tail", "awk", "sed":
		c.shaped = true
	}
	return c
}

func (c *command) grep(args []string) {
	got := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-e" && i+1 < len(args):
			i++
			c.patterns(args[i])
			got = true
		case a == "-A" || a == "-B" || a == "-C" || a == "-m":
			i++
			c.shaped = true
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
				c.count = true
			}
			if a == "--count" {
				c.count = true
			}
			if !strings.HasPrefix(a, "--") && strings.Contains(a, "v") {
				c.shaped = true
			}
		case !got:
			c.patterns(a)
			got = true
		}
	}
}

func (c *command) patterns(p string) {
	for _, alt := range strings.FieldsFunc(strings.ReplaceAll(p, `\|`, "|"), func(r rune) bool { return r == '|' }) {
		c.filter = append(c.filter, strings.ToLower(strings.Trim(alt, `()^$\`)))
	}
}

// strip drops what stands before the program: sudo, env, variables, time, timeout.
func strip(w []string) []string {
	for len(w) > 0 {
		switch {
		case w[0] == "sudo" || w[0] == "env" || w[0] == "time" || w[0] == "watch" || w[0] == "!":
			w = w[1:]
			for len(w) > 0 && strings.HasPrefix(w[0], "-") {
				w = w[1:]
			}
		case strings.Contains(w[0], "=") && !strings.HasPrefix(w[0], "/") && !strings.HasPrefix(w[0], "-"):
			w = w[1:]
		default:
			return w
		}
	}
	return w
}

// pipeline splits at bars outside quotes; ";", "&&" and ">" end what is looked at, "2>&1" does not.
func pipeline(text string) []string {
	var out []string
	var b strings.Builder
	quote := rune(0)
	rs := []rune(strings.ReplaceAll(text, "2>&1", ""))
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '|' && i+1 < len(rs) && rs[i+1] == '|', r == ';', r == '&', r == '>':
			return append(out, b.String())
		case r == '|':
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteRune(r)
	}
	return append(out, b.String())
}

// words splits at blanks outside quotes, and drops the quotes.
func words(s string) []string {
	var out []string
	var b strings.Builder
	quote, open := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
