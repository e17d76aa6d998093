package cli

import (
	"github.com/spf13/cobra"
)

// helpCommand is cobra's, with a verb that is not there as the mistake that it is.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]...",
		Short: "Help about a verb",
		RunE: func(c *cobra.Command, args []string) error {
			verb, rest, err := c.Root().Find(args)
			if err != nil || verb == nil || len(rest) > 0 {
				return usagef("no help about %q: see gdsproof --help", args)
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var out []cobra.Completion
			verb, _, err := c.Root().Find(args)
			if err == nil && verb != nil {
				for _, sub := range verb.Commands() {
					if sub.IsAvailableCommand() {
						out = append(out, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
