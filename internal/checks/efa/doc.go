// Package efa has the checks of step 2: the Lustre client of FSx and its network, LNet over EFA. One file is one
// check.
package efa

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

// configure is the whole of AWS's procedure. Without the option, only the type's default number of interfaces is
// attached; when the script says that it is already enabled, nothing changes before the next boot.
var configure = check.Fix{
	Text: "configure LNet over EFA with AWS's script, with the option for GDS; if it says already enabled, the change comes with the next boot",
	Commands: []string{
		"curl -O https://docs.aws.amazon.com/fsx/latest/LustreGuide/samples/configure-efa-fsx-lustre-client.zip",
		"unzip configure-efa-fsx-lustre-client.zip",
		"cd configure-efa-fsx-lustre-client",
		"sudo ./setup.sh --optimized-for-gds",
		"gdsproof check",
	},
	Changes: "loads Lustre's modules, adds EFA interfaces to LNet, writes /etc/modprobe.d/modprobe.conf and enables " + facts.ConfigureUnitName + "; a mounted file system has to be unmounted and mounted again",
	Undo:    "sudo umount -a -t lustre, sudo systemctl disable --now " + facts.ConfigureUnitName + ", remove the script's block from /etc/modprobe.d/modprobe.conf, reboot",
}

// restart runs the configuration once more.
var restart = check.Fix{
	Text:     "read what the configuration service says, unmount, run it again, mount: a mount that requires the service (AWS's line of fstab) is unmounted with it anyway",
	Commands: []string{"sudo journalctl -u " + facts.ConfigureUnitName + " -b", "sudo umount -a -t lustre", "sudo systemctl restart " + facts.ConfigureUnitName, "sudo mount -a -t lustre"},
	Changes:  "unmounts Lustre, removes and adds LNet's EFA interfaces, mounts again; programs that use the file system must end first",
	Undo:     "none needed",
}

// remount makes the client connect anew, over the networks that LNet has now.
var remount = check.Fix{
	Text:     "unmount the file system and mount it again, so that the client connects over EFA",
	Commands: []string{"sudo umount /fsx", "sudo mount /fsx"},
	Changes:  "programs that use the file system must end first",
	Undo:     "none needed",
}

// reboot lets module options and the service take effect in order.
var reboot = check.Fix{
	Text:     "reboot: the CPU partitions of libcfs are fixed when its module is loaded, and interfaces beyond them cannot be added before",
	Commands: []string{"sudo reboot"},
	Changes:  "restarts the node",
	Undo:     "none",
}

var securityGroup = check.Fix{
	Text: "let the security groups of the node and of the file system allow all traffic from and to themselves and each other, by group id: a rule by address, 0.0.0.0/0 included, does not admit EFA. Both must be in one availability zone and one /16",
	Commands: []string{
		"aws ec2 authorize-security-group-ingress --group-id SG --protocol -1 --source-group SG",
		"aws ec2 authorize-security-group-egress --group-id SG --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=SG}]'",
	},
	Changes: "who may send to whom",
	Undo:    "aws ec2 revoke-security-group-ingress and -egress with the same words",
}

func quoteUnit(text string) check.Evidence {
	return check.Quote(facts.UnitSource(facts.ConfigureUnitName), text)
}

// atWork: the set-up's service is running; it adds one interface in about ten seconds, so on a large node it takes
// minutes, at every boot.
func atWork(v check.View) bool {
	u := check.Maybe(v, facts.ConfigureUnit)
	return u.OK && u.V.ActiveState == "activating"
}

func stillAtWork(what string) check.Finding {
	return check.NotKnown("a look when "+facts.ConfigureUnitName+" has ended: with many interfaces it takes minutes", "%s: the service that adds them is at work", what)
}

// remountOf is remount for a mount by its own name.
func remountOf(dir string, inFstab bool, m facts.Mount) check.Fix {
	f := remount
	dir = check.ShellWord(dir)
	again := "sudo mount " + dir
	if !inFstab && m.Source != "" {
		again = "sudo mount -t lustre -o relatime,flock " + check.ShellWord(m.Source) + " " + dir
	}
	f.Commands = []string{"sudo umount " + dir, again}
	return f
}
