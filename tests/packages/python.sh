#!/bin/sh
# python.sh - each wheel matches its file name and its RECORD. The wheel's module exports only
# PyInit__petal and requires only the system's C library. The wheel for x86-64 installs in a Python
# without other packages and passes every test vector.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
needs python3 || finish
needs_zig

is_wheel() {
    python3 -B tests/packages/lib/wheel "$(wheel_of "$1")" "petal/$2" \
        "petal_bloom-$version.data/scripts/$3"
}
module_of() {
    python3 -m zipfile -e "$(wheel_of "$1")" "$TMPDIR/$1" && module=$TMPDIR/$1/petal/$2 && [ -s "$module" ]
}

# ---- Linux ---------------------------------------------------------------------------------------

for cpu in x86_64 aarch64; do
    for tag in manylinux2014_$cpu musllinux_1_2_$cpu; do
        ok "$tag: the wheel is complete" is_wheel $tag _petal.abi3.so petal
        ok "$tag: it unpacks" module_of $tag _petal.abi3.so
        ok "$tag: its module is for that CPU" is_for "$module" $cpu
        ok "$tag: exports only PyInit__petal" exports_only "$module" PyInit__petal
        case $tag in
        musl*) ok "$tag: needs musl alone" needs_only "$module" 'libc\.so$' ;;
        *)
            ok "$tag: needs only libc and libm" needs_only "$module" $glibc_own
            ok "$tag: needs no glibc after 2.17" glibc_2_17 "$module"
            ;;
        esac
    done
    skip "musllinux_1_2_$cpu: imported" 'this machine: Debian has no Python for musl'
done

# ---- macOS and Windows ---------------------------------------------------------------------------

for tag in macosx_13_0_x86_64 macosx_13_0_arm64; do
    ok "$tag: the wheel is complete, and exports only PyInit__petal" is_wheel $tag _petal.abi3.so petal
    skip "$tag: imported" 'this machine: not a Mac'
done
ok 'win_amd64: the wheel is complete' is_wheel win_amd64 _petal.pyd petal.exe
ok 'win_amd64: it unpacks' module_of win_amd64 _petal.pyd
ok 'win_amd64: exports only PyInit__petal' exports_only "$module" PyInit__petal
ok "win_amd64: needs only python3.dll and Windows' own libraries" needs_only "$module" 'python3\.dll' $windows_own

# ---- run -----------------------------------------------------------------------------------------

if [ "$(uname -m)" = x86_64 ]; then
    installs() {
        python3 -m venv "$TMPDIR/venv" && "$TMPDIR/venv/bin/python" -m pip install --no-index --no-deps "$(wheel_of manylinux2014_x86_64)"
    }
    ten() { (cd "$TMPDIR" && "$TMPDIR/venv/bin/python" "$OLDPWD/examples/ten-lines/ten.py" | tr '\n' ' ' | grep -x 'False True '); }
    command_works() { "$TMPDIR/venv/bin/petal" --version | grep "^petal $version"; }
    ok 'x86_64: installs in a bare Python' installs
    ok 'x86_64: ten lines' ten
    ok 'x86_64: the command' command_works
    ok 'x86_64: every vector' python_vectors "$TMPDIR/venv/bin/python"
else
    skip 'x86_64: installed' 'this machine: another CPU'
fi
finish
