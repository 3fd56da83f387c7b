#!/bin/sh
# python.sh - each wheel contains what its name and its RECORD say. Its module exports only
# PyInit__petal and needs only the system's C library. The wheel for x86-64 installs in a Python
# with nothing else and reads every vector.
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
        ok "$tag: the wheel is whole" is_wheel $tag _petal.abi3.so petal
        ok "$tag: it unpacks" module_of $tag _petal.abi3.so
        ok "$tag: its module is for that CPU" is_for "$module" $cpu
        ok "$tag: gives PyInit__petal alone" exports_only "$module" PyInit__petal
        case $tag in
        musl*) ok "$tag: needs musl alone" needs_only "$module" 'libc\.so$' ;;
        *)
            ok "$tag: needs libc and libm alone" needs_only "$module" $glibc_own
            ok "$tag: needs no glibc after 2.17" glibc_2_17 "$module"
            ;;
        esac
    done
    skip "musllinux_1_2_$cpu: imported" 'this machine: Debian has no Python for musl'
done

# ---- macOS and Windows ---------------------------------------------------------------------------

for tag in macosx_13_0_x86_64 macosx_13_0_arm64; do
    ok "$tag: the wheel is whole, and gives PyInit__petal alone" is_wheel $tag _petal.abi3.so petal
    skip "$tag: imported" 'this machine: not a Mac'
done
ok 'win_amd64: the wheel is whole' is_wheel win_amd64 _petal.pyd petal.exe
ok 'win_amd64: it unpacks' module_of win_amd64 _petal.pyd
ok 'win_amd64: gives PyInit__petal alone' exports_only "$module" PyInit__petal
ok "win_amd64: needs python3.dll and Windows' own alone" needs_only "$module" 'python3\.dll' $windows_own

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
