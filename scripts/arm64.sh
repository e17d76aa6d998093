#!/usr/bin/env bash
# Runs tests of the packages that call C (the engine's assembly among them) on an emulated arm64, beside the stand-in
# libraries built for it. As root, on x86, with Debian's qemu-user-static, gcc-aarch64-linux-gnu and
# libc6-dev-arm64-cross. Nothing of the machine is changed but the kernel's list of program formats, which is put back.
set -euo pipefail
cd "$(dirname "$0")/.."
for p in qemu-aarch64-static aarch64-linux-gnu-gcc unshare; do
  command -v "$p" >/dev/null || { echo "not tested on arm64: no $p" >&2; exit 1; }
done
work=$(mktemp -d)
formats=/proc/sys/fs/binfmt_misc
trap 'if [ -e "$work/ours" ]; then echo -1 > '$formats'/gdsproof-arm64; fi; rm -rf "$work"' EXIT
[ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats
if ! grep -qs 'magic 7f454c460201010000000000000000000200b7' $formats/*; then
  # An ELF of 64 bits, little-endian, for machine 183; F opens the emulator now, for any root.
  printf '%s' ':gdsproof-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-aarch64-static)"':F' > $formats/register
  touch "$work/ours"
fi
mkdir "$work/bin" "$work/top"
ln -s "$(command -v aarch64-linux-gnu-gcc)" "$work/bin/gcc" # what the tests build the stand-ins with
for pkg in cufile load; do
  GOARCH=arm64 CGO_ENABLED=0 go test -c -o "$work/$pkg.test" "./internal/$pkg"
  # The children of a test have a fixed environment: arm64's C library has to be where its loader looks by itself.
  (cd "internal/$pkg" && PATH="$work/bin:$PATH" unshare --mount sh -euc '
    mount -t tmpfs top "$1"
    mkdir "$1/upper" "$1/work"
    mount -t overlay -o "lowerdir=/usr/lib,upperdir=$1/upper,workdir=$1/work" overlay /usr/lib
    ln -sf /usr/aarch64-linux-gnu/lib/*.so* /usr/lib/
    "$2" -test.run "StandIn|Stats|Report"' - "$work/top" "$work/$pkg.test")
done
