package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"gdsproof/internal/sim"
)

func (a *app) simCommand() *cobra.Command {
	c := &cobra.Command{Use: "sim", Short: "Simulated nodes, for learning, drills and tests", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(&cobra.Command{Use: "list", Short: "List the simulated nodes and faults", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.simList() }})
	return c
}

func (a *app) simList() error {
	if err := a.g.check(); err != nil {
		return err
	}
	type node struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	type fault struct {
		Name  string `json:"name"`
		Text  string `json:"text"`
		Check string `json:"check"`
	}
	list := struct {
		Nodes  []node  `json:"nodes"`
		Faults []fault `json:"faults"`
	}{[]node{}, []fault{}}
	for _, s := range sim.Shapes() {
		list.Nodes = append(list.Nodes, node{s.Name, s.Text})
	}
	for _, f := range sim.Faults() {
		list.Faults = append(list.Faults, fault{f.Name, f.Text, f.Check})
	}
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	if len(sinks) != 1 || sinks[0].file != "" {
		return usagef("sim list: --output text or json, without a file")
	}
	if sinks[0].format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	fmt.Fprintln(a.stdout, "Nodes (--node sim:NAME[,FAULT...]):")
	for _, n := range list.Nodes {
		fmt.Fprintf(a.stdout, "  %-28s %s\n", n.Name, n.Text)
	}
	fmt.Fprintln(a.stdout, "Faults:")
	for _, f := range list.Faults {
		fmt.Fprintf(a.stdout, "  %-28s %s", f.Name, f.Text)
		if f.Check != "" {
			fmt.Fprintf(a.stdout, " [%s]", f.Check)
		}
		fmt.Fprintln(a.stdout)
	}
	return nil
}
