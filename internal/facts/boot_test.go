package facts

import "testing"

func TestBootLoads(t *testing.T) {
	enabled := map[string]bool{"gds.service": true}
	for name, tc := range map[string]struct {
		lines []BootLine
		units map[string]bool
		want  bool
	}{
		"modules-load":             {[]BootLine{{"/etc/modules-load.d/nvidia-fs.conf", "nvidia-fs"}}, nil, true},
		"with the other spelling":  {[]BootLine{{"/usr/lib/modules-load.d/gds.conf", "nvidia_fs"}}, nil, true},
		"switched off by its name": {[]BootLine{{"/etc/modules-load.d/nvidia-fs.conf.disabled", "nvidia-fs"}}, nil, false},
		"comment":                  {[]BootLine{{"/etc/modules-load.d/nvidia-fs.conf", "# nvidia-fs"}}, nil, false},
		"blacklisted":              {[]BootLine{{"/etc/modules-load.d/nvidia-fs.conf", "nvidia-fs"}, {"/etc/modprobe.d/no.conf", "blacklist nvidia_fs"}}, nil, false},
		"install to nothing":       {[]BootLine{{"/etc/modules-load.d/nvidia-fs.conf", "nvidia-fs"}, {"/etc/modprobe.d/x.conf", "install nvidia_fs /bin/false"}}, nil, false},
		"install rule alone":       {[]BootLine{{"/etc/modprobe.d/x.conf", "install nvidia_fs /bin/false"}}, nil, false},
		"softdep of itself":        {[]BootLine{{"/etc/modprobe.d/x.conf", "softdep nvidia_fs pre: nvidia"}}, nil, false},
		"softdep of nvidia":        {[]BootLine{{"/etc/modprobe.d/x.conf", "softdep nvidia post: nvidia-fs"}}, nil, true},
		"options":                  {[]BootLine{{"/etc/modprobe.d/x.conf", "options nvidia_fs rw_stats_enabled=1"}}, nil, false},
		"install of nvidia":        {[]BootLine{{"/etc/modprobe.d/x.conf", "install nvidia /sbin/modprobe --ignore-install nvidia && /sbin/modprobe nvidia-fs"}}, nil, true},
		"dracut":                   {[]BootLine{{"/etc/dracut.conf.d/x.conf", `add_drivers+=" nvidia_fs "`}}, nil, true},
		"dracut omits it":          {[]BootLine{{"/etc/dracut.conf.d/x.conf", `omit_drivers+=" nvidia_fs "`}}, nil, false},
		"unit":                     {[]BootLine{{"/etc/systemd/system/gds.service", "ExecStart=/sbin/modprobe nvidia_fs"}}, enabled, true},
		"unit in a shell":          {[]BootLine{{"/etc/systemd/system/gds.service", `ExecStart=/bin/sh -c "insmod /opt/gds/nvidia-fs.ko"`}}, enabled, true},
		"unit, not enabled":        {[]BootLine{{"/etc/systemd/system/gds.service", "ExecStart=/sbin/modprobe nvidia_fs"}}, nil, false},
		"unit that stops it":       {[]BootLine{{"/etc/systemd/system/gds.service", "ExecStop=/sbin/modprobe -r nvidia_fs"}}, enabled, false},
		"unit that names it":       {[]BootLine{{"/etc/systemd/system/gds.service", "Description=modprobe nvidia_fs some day"}}, enabled, false},
		"rc.local":                 {[]BootLine{{"/etc/rc.local", "insmod /root/gds-nvidia-fs/src/nvidia-fs.ko"}}, nil, true},
		"rc.local removes it":      {[]BootLine{{"/etc/rc.local", "modprobe -r nvidia_fs"}}, nil, false},
		"cron at boot":             {[]BootLine{{"/etc/cron.d/x", "@reboot root /sbin/modprobe nvidia_fs"}}, nil, true},
		"cron at five":             {[]BootLine{{"/etc/cron.d/x", "4 5 * * * root logger no modprobe nvidia_fs"}}, nil, false},
	} {
		if _, got := (Boot{Lines: tc.lines, Units: tc.units}).Loads(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
