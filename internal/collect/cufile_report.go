package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"gdsproof/internal/cufile"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// cufileReport opens libcufile's driver once in a child, at the log level at which it writes the whole platform
// report. It stands in for gdscheck where the tools are not installed, as in most containers.
func cufileReport(ctx context.Context, g *Gatherer) {
	libs := libraries(ctx, g.Host, os.Getenv)
	lib := ""
	for line := range strings.Lines(string(libs.Out)) {
		lib, _, _ = strings.Cut(line, ": ")
		break
	}
	if lib == "" {
		g.Add(evidence.Item{Source: facts.CufileLogSource, Form: evidence.Whole, State: evidence.Absent, Err: []byte("no libcufile is found, so there is no report through its log either")})
		return
	}
	if !cufile.Built {
		g.Add(evidence.Item{Source: facts.CufileOpenSource, Form: evidence.Whole, State: evidence.NotCollected, Err: []byte("this gdsproof was built without libcufile, and cannot open it")})
		return
	}
	self, err := os.Executable()
	if err != nil {
		g.Add(evidence.Item{Source: facts.CufileLogSource, Form: evidence.Whole, State: evidence.Failed, Err: []byte(err.Error())})
		return
	}
	it := g.Host.Run(ctx, host.Command{Name: facts.CufileOpenSource, Argv: []string{self, cufile.ReportVerb, lib}, Env: host.EnvCaller, Timeout: 20 * time.Second, MaxOut: 4 << 20})
	g.Add(splitReport(it)...)
}

// splitReport makes of the child's document the open's result and the library's log, an item each.
func splitReport(it evidence.Item) []evidence.Item {
	log := it
	log.Source, log.Form, log.Origin = facts.CufileLogSource, evidence.Whole, "of "+facts.CufileOpenSource
	if !it.OK() {
		log.Out = nil
		return []evidence.Item{it, log}
	}
	var r cufile.Report
	err := json.Unmarshal(it.Out, &r)
	if err != nil {
		it.State = evidence.Failed
		it.Err = fmt.Appendf(it.Err, "\nthe child that opened libcufile left no report")
		if it.Exit != nil {
			it.Err = fmt.Appendf(it.Err, " (exit status %d)", *it.Exit)
		}
		log.State, log.Out, log.Err = it.State, nil, it.Err
		return []evidence.Item{it, log}
	}
	if r.Trouble != "" {
		it.State, it.Exit, it.Out, it.Err = evidence.Failed, nil, nil, []byte("the child that opens libcufile could not begin: "+r.Trouble)
		log.State, log.Out, log.Err, log.Exit = it.State, nil, it.Err, nil
		return []evidence.Item{it, log}
	}
	log.Out, log.Err, log.Exit = []byte(r.Log), []byte(r.Noise), nil
	r.Log = ""
	it.Out, err = json.Marshal(r)
	if err != nil {
		it.State, it.Err = evidence.Failed, []byte(err.Error())
	}
	return []evidence.Item{it, log}
}
