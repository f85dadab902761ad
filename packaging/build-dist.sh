#!/usr/bin/env bash
# Builds the binary that is handed out, for this machine's architecture: packaging/build-dist.sh
#
# It runs on every Linux with glibc 2.31 or newer (Debian 11, Ubuntu 20.04, RHEL 9), whatever this machine has: Zig's linker
# knows the symbols of old versions. Needed: cargo-zigbuild (`cargo install cargo-zigbuild`) and Zig (`pip install ziglang`).
set -euo pipefail
cd "$(dirname "$0")/.."

glibc=2.31
target=$(rustc -vV | sed -n 's/^host: //p')
case "$target" in
*-linux-gnu) ;;
*)
    echo "$target has no glibc; build with: cargo build --profile dist" >&2
    exit 1
    ;;
esac
command -v cargo-zigbuild >/dev/null || {
    echo "cargo-zigbuild is needed: cargo install cargo-zigbuild, and pip install ziglang" >&2
    exit 1
}

cargo zigbuild --locked --profile dist --target "$target.$glibc" --package planwright --bin planwright
binary=${CARGO_TARGET_DIR:-target}/$target/dist/planwright

# What the binary names is what the system must have; the promise is checked, not trusted. Needs that belong to no symbol, such
# as packed relocations (GLIBC_ABI_DT_RELR), stand in the version references alone.
if objdump -p "$binary" | grep 'GLIBC_[A-Z]'; then
    echo "$binary needs a C library that is newer than $glibc" >&2
    exit 1
fi
symbols=$(objdump -T "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -uV)
newest=$(tail -n1 <<<"$symbols")
if [ "$(printf '%s\nGLIBC_%s\n' "$newest" "$glibc" | sort -V | tail -n1)" != "GLIBC_$glibc" ]; then
    echo "$binary names $newest, newer than GLIBC_$glibc" >&2
    exit 1
fi
echo "$binary: newest symbol ${newest:-none}"
