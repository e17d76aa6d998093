package facts

import "strings"

// commandWords splits a command line as a shell does, as far as tools' command lines in guides and histories need it:
// quotes, backslashes, and the operators between commands. Each command is a list of words. Nothing is expanded.
func commandWords(line string) [][]string {
	var (
		out  [][]string
		cur  []string
		word strings.Builder
		in   bool // a word is under way, maybe an empty one
	)
	end := func() {
		if in {
			cur = append(cur, word.String())
		}
		word.Reset()
		in = false
	}
	endCommand := func() {
		end()
		if len(cur) > 0 {
			out = append(out, cur)
		}
		cur = nil
	}
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			in = true
		case c == '\\':
			// the line goes on in the next one
		case c == '"' || c == '\'':
			quote, in = c, true
		case c == ' ' || c == '\t':
			end()
		case c == ';' || c == '|' || c == '\n' || c == '&' && (i == 0 || line[i-1] != '>'):
			endCommand()
		case (c == '>' || c == '<') && cur != nil && !strings.HasSuffix(word.String(), "$"):
			// A redirection: its file is no word of the command. "2>&1" has its number in front.
			if w := word.String(); strings.Trim(w, "0123456789") == "" {
				word.Reset()
				in = false
			}
			end()
			for i+1 < len(line) && strings.IndexByte("><&", line[i+1]) >= 0 {
				i++
			}
			for i+1 < len(line) && line[i+1] == ' ' {
				i++
			}
			for i+1 < len(line) && strings.IndexByte(" \t;|&", line[i+1]) < 0 {
				i++
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	endCommand()
	return out
}

// commandWrappers run another command that is named in their arguments.
var commandWrappers = map[string]bool{
	"sudo": true, "env": true, "time": true, "timeout": true, "nohup": true, "nice": true, "ionice": true, "numactl": true, "taskset": true,
	"srun": true, "mpirun": true, "mpiexec": true, "docker": true, "podman": true, "kubectl": true, "nsenter": true, "bash": true, "sh": true,
	"stdbuf": true, "strace": true, "nsys": true, "exec": true, "watch": true, "unbuffer": true, "ssh": true, "pdsh": true, "clush": true,
	"apptainer": true, "singularity": true, "enroot": true, "chroot": true, "unshare": true, "runuser": true, "su": true, "command": true,
	"do": true, "then": true, "else": true, "{": true, "(": true, "!": true, "perf": true,
}

// commandOf finds the command of a line that runs a program: its words behind the program, and what was set before it.
// Prose and commands that only name the program (which, ls) are none. Give it whole lines: the last word of a cut one
// is another word.
func commandOf(line, program string) (args []string, env map[string]string, ok bool) {
	env = map[string]string{}
	for _, words := range commandWords(unquote(line)) {
		words = afterPrompt(words)
		if len(words) > 0 && words[0] == "export" {
			for _, w := range words[1:] {
				assignment(env, w)
			}
			continue
		}
		wrapped := false
		for i, w := range words {
			w = strings.TrimLeft(w, "(`")
			switch {
			case w[strings.LastIndexByte(w, '/')+1:] == program && !strings.HasPrefix(w, "-"):
				return words[i+1:], env, true
			case strings.ContainsAny(w, " \t") && wrapped && strings.Contains(w, program):
				if args, more, ok := commandOf(w, program); ok {
					for k, v := range more {
						env[k] = v
					}
					return args, env, true
				}
			case assignment(env, w):
			case commandWrappers[w[strings.LastIndexByte(w, '/')+1:]]:
				wrapped = true
			case !wrapped:
				i = len(words)
			}
			if i == len(words) {
				break
			}
		}
	}
	return nil, nil, false
}

// assignment keeps NAME=VALUE; a value that the shell would have to work out is not known and not kept.
func assignment(env map[string]string, word string) bool {
	name, value, ok := strings.Cut(word, "=")
	if !ok || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	if !strings.ContainsAny(value, "$`") {
		env[name] = value
	}
	return true
}

// afterPrompt takes off "user@host:~$", "[root@host dir]#", "dgx>", "+" and a line's own comment mark.
func afterPrompt(words []string) []string {
	for i := min(len(words), 4) - 1; i >= 0; i-- {
		if w := words[i]; w != "" && (strings.IndexByte("$#>%", w[len(w)-1]) >= 0 || w == "+") && !strings.Contains(w, "=") {
			return words[i+1:]
		}
	}
	return words
}
