package sim

// What a fault of LNet needs, and why it cannot be together with one that takes that away.
const (
	notAdded   = "the set-up adds no EFA interface then"
	netDeleted = "no EFA interface is left"
	noClient   = "nothing of LNet is loaded without the client's modules"
)

// onInterfaces are the faults that leave the node without EFA interfaces of LNet.
func onInterfaces(more map[string]string) map[string]string {
	m := map[string]string{"efa-none-attached": notAdded, "efa-driver-old": notAdded, "efa-service-missing": notAdded,
		"efa-service-failed": notAdded, "lustre-client-missing": noClient, "lnet-tcp-only": netDeleted}
	for k, v := range more {
		m[k] = v
	}
	return m
}

func init() {
	tcpOnly := onInterfaces(nil)
	delete(tcpOnly, "lnet-tcp-only")
	fault(Fault{Name: "lnet-tcp-only", Text: "the efa net was deleted from LNet after the set-up: Lustre uses tcp alone", Check: "lnet-efa-net", Needs: "efa",
		not: tcpOnly, apply: func(n *node) { n.lnet.efaGone = true }})
	// As it was reported of a p5en: the modules were there before their options, so that adding an interface for
	// each partition failed beyond the third. The script ends with an error and the boot's service stays active.
	fault(Fault{Name: "lnet-some-missing", Text: "only some EFA interfaces are in LNet: the modules were loaded again by hand, with fewer CPU partitions than interfaces", Check: "lnet-efa-count", Needs: "efa",
		not:   onInterfaces(map[string]string{"mounted-before-efa": "the file system was mounted again after the modules"}),
		apply: func(n *node) { n.lnet.again = min(3, len(n.efaFunctions())-1) }})
	fault(Fault{Name: "lnet-ni-down", Text: "one EFA interface of LNet is down", Check: "lnet-efa-up", Needs: "efa",
		not: onInterfaces(map[string]string{"lnet-drops": "an interface that is down sends nothing"}), apply: func(n *node) { n.lnet.down = true }})
	fault(Fault{Name: "lnet-drops", Text: "one EFA interface says up with full health, and drops messages", Check: "lnet-efa-up", Needs: "efa",
		not: onInterfaces(nil), apply: func(n *node) { n.lnet.dropped, n.lnet.dropping = 211, true }})
	fault(Fault{Name: "lnet-nid-odd", Text: "the EFA addresses were made of another address than LNet's tcp one", Check: "lnet-efa-nid", Needs: "efa",
		not: onInterfaces(nil), apply: func(n *node) { n.lnet.oddAddress = "172.19.6.240" }})
	fault(Fault{Name: "lnet-no-priority", Text: "no rule prefers efa: LNet uses tcp beside it", Check: "lnet-efa-priority", Needs: "efa",
		not: onInterfaces(nil), apply: func(n *node) { n.lnet.noRule = true }})
	// The client is at rest: what the interfaces dropped while it tried does not grow now.
	fault(Fault{Name: "security-group", Text: "a security group lets tcp through and blocks EFA: the kernel log is full of connections that fail", Check: "efa-security", Needs: "efa",
		not: onInterfaces(map[string]string{"fs-not-efa": "a file system without EFA is never spoken to over it", "lustre-not-mounted": "nothing is sent to the file system"}),
		apply: func(n *node) {
			n.efaBlocked = true
			n.lnet.dropped = max(n.lnet.dropped, 64)
			peer, dev := n.fs.servers()[1], n.rdmas()[0].name
			ost := n.fs.targets("OST")[0]
			n.klog = append(n.klog,
				"LNetError: 2219:0:(efalnd_connection.c:412:kefalnd_create_ah()) Device["+dev+"] failed to create AH to peer NI["+peer.efaNID()+"]. err[-22]",
				"LNet: 2231:0:(efalnd.c:949:kefalnd_force_cancel_tx()) Device["+dev+"] canceling TX type[IMMEDIATE] to peer NI["+peer.efaNID()+"]",
				"LNet: 2231:0:(efalnd.c:949:kefalnd_force_cancel_tx()) Skipped 9 previous similar messages",
				"Lustre: 2405:0:(client.c:2313:ptlrpc_expire_one_request()) @@@ Request sent has timed out for sent delay: [sent 1795847811/real 0]  req@0000000000000000 x1849320011734016/t0(0) o8->"+ost+"-osc-ffff9a31c0de4800@"+peer.addr+"@tcp:28/4 lens 520/544 e 0 to 1 dl 1795847866 ref 2 fl Rpc:XN/0/ffffffff rc 0/-1 job:''")
		}})
}
