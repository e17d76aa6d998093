package sim

// Faults that a look at the node does not show: it is ready, and only an experiment tells.
func init() {
	fault(Fault{Name: "registered-but-compat", Text: "buffers are registered with nvidia-fs, and every I/O goes through the CPU all the same", Check: "io-library", Needs: "gpu",
		apply: func(n *node) { n.registeredCompat = true }})
	fault(Fault{Name: "wire-flat", Text: "bytes move and no counter of LNet or EFA does", Check: "io-wire-efa", Needs: "gds",
		apply: func(n *node) { n.wireFlat = true }})
	fault(Fault{Name: "interface-idle", Text: "one EFA interface carries no data, with all GPUs at work too", Check: "io-wire-rails", Needs: "gds",
		not:   onInterfaces(nil),
		apply: func(n *node) { n.idleDevice = n.rdmas()[0].name }})
	fault(Fault{Name: "dense-file", Text: "files do not look sparse to the client, so that nvidia-fs counts no read of them", Needs: "gds",
		apply: func(n *node) { n.dense = true }})
	fault(Fault{Name: "gdsio-error-one-gpu", Text: "gdsio fails on one GPU of the node", Check: "io-moved", Needs: "gpu",
		apply: func(n *node) { n.gdsioErrorGPU = len(n.gpus) - 1 }})
	fault(Fault{Name: "stale-data", Text: "a read through GDS gives something else than what was written", Check: "io-verified", Needs: "gpu",
		apply: func(n *node) { n.stale = true }})
	fault(Fault{Name: "other-job-active", Text: "another job uses GDS and the file system all the while", Check: "io-control", Needs: "gds",
		apply: func(n *node) { n.busy = true }})
}
