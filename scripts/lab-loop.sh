#!/bin/sh
# Makes a file system on which cuFile works without nvidia-fs (compat mode), for trying gdsproof on a machine with a GPU
# and nothing else: ext4 in a file in memory, loop-mounted, with the udev entry that libcufile asks for and containers
# lack. As root.
#   lab-loop.sh up DIR [SIZE]   mounts it at DIR (4G)
#   lab-loop.sh down DIR
set -eu
dir=${2:?lab-loop.sh up|down DIR [SIZE]}
case $1 in
up)
	image=/dev/shm/gdsproof-lab.img
	truncate -s "${3:-4G}" "$image"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$image"
	mkdir -p "$dir"
	loop=$(losetup -f --show "$image")
	mount "$loop" "$dir"
	# The device's number, of the loop device itself.
	number=$(cat "/sys/block/${loop#/dev/}/dev")
	mkdir -p /run/udev/data
	printf 'E:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\n' >"/run/udev/data/b$number"
	echo "$loop ($number) at $dir"
	;;
down)
	loop=$(findmnt -n -o SOURCE "$dir")
	umount "$dir"
	rm -f "/run/udev/data/b$(cat "/sys/block/${loop#/dev/}/dev")"
	losetup -d "$loop"
	rm -f /dev/shm/gdsproof-lab.img
	;;
*) exit 2 ;;
esac
