package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases.
var version = ""

// Version is the program's version: the linker's, else the module's, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "devel"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: noArgs, RunE: func(*cobra.Command, []string) error {
		sinks, err := a.g.sinks()
		if err != nil {
			return err
		}
		if sinks[0].format == "json" {
			return json.NewEncoder(a.stdout).Encode(map[string]string{"name": "gdsproof", "version": Version(), "go": runtime.Version(), "arch": runtime.GOARCH})
		}
		fmt.Fprintf(a.stdout, "gdsproof %s (%s, %s)\n", Version(), runtime.Version(), runtime.GOARCH)
		return nil
	}}
}
