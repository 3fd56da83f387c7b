#!/bin/sh
# python.sh - each wheel has what its name and its RECORD say, and its module gives PyInit__petal
# alone and needs the system's C library alone; the one for x86-64 installs in a Python that has
# nothing else and reads every vector.
set -u
. tests/packages/lib/packages.sh
needs python3 readelf objdump || finish
needs_zig

is_wheel() { tests/packages/lib/wheel "$(wheel_of "$1")" "petal/$2" "petal_bloom-$version.data/scripts/$3"; }
module_of() {
    python3 -m zipfile -e "$(wheel_of "$1")" "$TMPDIR/$1" && module=$TMPDIR/$1/petal/$2 && [ -s "$module" ]
}

# ---- Linux ---------------------------------------------------------------------------------------

is_for() { readelf -h "$module" | grep -i "$1"; }
needs_only() { # needs_only NAME...: the beginnings of libraries' names
    readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$TMPDIR/needed"
    for library; do sed "/^$library/d" "$TMPDIR/needed" >"$TMPDIR/rest" && mv "$TMPDIR/rest" "$TMPDIR/needed"; done
    ! grep . "$TMPDIR/needed"
}
glibc_2_17() {
    readelf --dyn-syms -W "$module" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -u -V >"$TMPDIR/versions"
    [ -s "$TMPDIR/versions" ] && [ "$(printf '2.17\n' | cat "$TMPDIR/versions" - | sort -V | tail -n 1)" = 2.17 ]
}
gives_one() { # symbol
    given=$(readelf --dyn-syms -W "$module" | awk '$7 != "UND" && $5 == "GLOBAL" && $8 ~ /^[a-zA-Z]/ { print $8 }' | tr '\n' ' ')
    [ "$given" = 'PyInit__petal ' ] || { echo "gives $given"; return 1; }
}
for cpu in x86_64 aarch64; do
    case $cpu in x86_64) machine=X86-64 ;; *) machine=AArch64 ;; esac
    for tag in manylinux2014_$cpu musllinux_1_2_$cpu; do
        ok "$tag: the wheel is whole" is_wheel $tag _petal.abi3.so petal
        ok "$tag: it unpacks" module_of $tag _petal.abi3.so
        ok "$tag: its module is for that CPU" is_for $machine
        ok "$tag: gives PyInit__petal alone" gives_one
        case $tag in
        musl*) ok "$tag: needs musl alone" needs_only 'libc\.so$' ;;
        *)
            ok "$tag: needs libc and libm alone" needs_only 'libc\.so\.6' 'libm\.so\.6' 'libpthread\.so\.0' ld-linux
            ok "$tag: needs no glibc after 2.17" glibc_2_17
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
gives_one_dll() {
    objdump -p "$module" | sed -n '/Ordinal\/Name Pointer/,/^$/s/.*[] ]\([A-Za-z_]*\)$/\1/p' >"$TMPDIR/given"
    [ "$(sed '/Table$/d' "$TMPDIR/given" | grep .)" = PyInit__petal ] || { cat "$TMPDIR/given"; return 1; }
}
needs_only_windows() {
    ! objdump -p "$module" | sed -n 's/.*DLL Name: //p' | grep -vix -e 'python3\.dll' -e 'kernel32\.dll' \
        -e 'advapi32\.dll' -e 'api-ms-win-crt-.*\.dll'
}
ok 'win_amd64: the wheel is whole' is_wheel win_amd64 _petal.pyd petal.exe
ok 'win_amd64: it unpacks' module_of win_amd64 _petal.pyd
ok 'win_amd64: gives PyInit__petal alone' gives_one_dll
ok "win_amd64: needs python3.dll and Windows' own alone" needs_only_windows

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
