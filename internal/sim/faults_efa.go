package sim

func init() {
	fault(Fault{Name: "efa-none-attached", Text: "the instance was launched without EFA devices", Check: "efa-devices", Needs: "efa",
		not: map[string]string{"peer-table-small": "without EFA devices the table does not overflow"},
		apply: func(n *node) {
			var left []function
			for _, f := range n.pci {
				if f.driver != "efa" {
					left = append(left, f)
				}
			}
			n.pci = left
		}})
	fault(Fault{Name: "efa-driver-old", Text: "the efa driver is older than Lustre needs; the set-up stops on it", Check: "efa-driver-version", Needs: "efa",
		apply: func(n *node) { n.efa.version = "2.10.0" }})
	fault(Fault{Name: "efa-service-missing", Text: "the client was never set up for EFA: there is no service", Check: "efa-service", Needs: "efa",
		not: map[string]string{"efa-service-not-gds": "a service that is not there has no options", "mounted-before-efa": "there is no service to be before"},
		apply: func(n *node) {
			n.setup.missing = true
		}})
	fault(Fault{Name: "efa-service-failed", Text: "the set-up failed at boot: the metadata service did not answer yet, and it is tried once", Check: "efa-service", Needs: "efa",
		not:   map[string]string{"efa-service-missing": "there is no service that could fail"},
		apply: func(n *node) { n.setup.noIMDS = true }})
	fault(Fault{Name: "efa-service-not-gds", Text: "the client was set up without --optimized-for-gds: it has the default number of EFA interfaces", Check: "efa-service-gds", Needs: "gds",
		apply: func(n *node) { n.setup.gds = false }})
	fault(Fault{Name: "fs-not-efa", Text: "the file system was created without EFA", Check: "fs-efa-enabled", Needs: "efa",
		apply: func(n *node) { n.fs.efa = false }})
	fault(Fault{Name: "lustre-client-missing", Text: "the Lustre client's modules are not there for the running kernel, as after a kernel update", Check: "lustre-client", Needs: "efa",
		apply: func(n *node) { n.client.noModules = true }})

	const nothing = "nothing is mounted"
	fault(Fault{Name: "lustre-not-mounted", Text: "the file system is not mounted, and was not since boot", Check: "lustre-mounted", Needs: "efa",
		not:   map[string]string{"lustre-client-missing": "without the client nothing can be mounted"},
		apply: func(n *node) { n.fs.unmounted = true }})
	fault(Fault{Name: "mounted-before-efa", Text: "something mounted the file system before the set-up had ended", Check: "lustre-remount", Needs: "efa",
		not:   map[string]string{"lustre-not-mounted": nothing, "lustre-client-missing": nothing},
		apply: func(n *node) { n.fs.early = true }})
	fault(Fault{Name: "lustre-hangs", Text: "a look at the mounted file system does not come back, though the client holds its connections for good", Check: "lustre-answers", Needs: "efa",
		not:   map[string]string{"lustre-not-mounted": nothing, "lustre-client-missing": nothing},
		apply: func(n *node) { n.fs.silent = true }})
	fault(Fault{Name: "fstab-no-order", Text: "the line in fstab does not wait for the set-up's service", Check: "fstab-order", Needs: "efa",
		apply: func(n *node) { n.fs.unordered = true }})
	fault(Fault{Name: "kernel-log-errors", Text: "the kernel log holds errors of the EFA driver, LNet and a GPU", Check: "kernel-log", Needs: "efa",
		not: map[string]string{"efa-none-attached": "one of the errors is of an EFA device"},
		apply: func(n *node) {
			n.klog = append(n.klog,
				"efa "+n.efaFunctions()[0].addr+": Failed to enable MSI-X. irq_num 2",
				"LNetError: 2240:0:(efalnd.c:650:kefalnd_send_completion()) Device["+n.rdmas()[0].name+"] can't allocate PUT_DONE completion TX to peer NI[9.70.71.0@efa]",
				"NVRM: Xid (PCI:"+n.gpus[0].addr+"): 31, pid=4122, name=python3, Ch 00000008, intr 00000000. MMU Fault")
		}})
}
