#!/bin/sh
# python.sh - the wheels install in a Python that has nothing else, need an old glibc only, and read
# every vector; the one for ARM is looked at, not run.
set -u
. tests/packages/lib/packages.sh
needs python3 readelf || finish
needs_zig

# What is in a wheel's module: the machine, the libraries it needs, the symbols it gives.
wheel_of() { ls "$packages"/petal_bloom-"$version"-cp311-abi3-*_"$1".whl; }
module_of() {
    python3 -m zipfile -e "$(wheel_of "$1")" "$TMPDIR/$1" && module=$TMPDIR/$1/petal/_petal.abi3.so
}
is_for() { readelf -h "$module" | grep -i "$1"; }
needs_only_c() { ! readelf -d "$module" | grep NEEDED | grep -v -e 'libc\.so' -e 'libm\.so' -e 'libpthread\.so' -e ld-linux; }
glibc_2_17() {
    readelf --dyn-syms -W "$module" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -u -V >"$TMPDIR/versions"
    [ -s "$TMPDIR/versions" ] && [ "$(printf '2.17\n' | cat "$TMPDIR/versions" - | sort -V | tail -n 1)" = 2.17 ]
}
gives_one() { # symbol
    given=$(readelf --dyn-syms -W "$module" | awk '$7 != "UND" && $5 == "GLOBAL" && $8 ~ /^[a-zA-Z]/ { print $8 }' | tr '\n' ' ')
    [ "$given" = 'PyInit__petal ' ] || { echo "gives $given"; return 1; }
}
for cpu in x86_64 aarch64; do
    ok "$cpu: there is a wheel" module_of $cpu
    case $cpu in x86_64) machine=X86-64 ;; *) machine=AArch64 ;; esac
    ok "$cpu: its module is for that CPU" is_for $machine
    ok "$cpu: needs libc and libm alone" needs_only_c
    ok "$cpu: needs no glibc after 2.17" glibc_2_17
    ok "$cpu: gives PyInit__petal alone" gives_one
done
skip 'aarch64: imported' 'this machine: no Python for 64-bit ARM'

if [ "$(uname -m)" = x86_64 ]; then
    installs() {
        python3 -m venv "$TMPDIR/venv" && "$TMPDIR/venv/bin/python" -m pip install --no-index --no-deps "$(wheel_of x86_64)"
    }
    ten() { (cd "$TMPDIR" && "$TMPDIR/venv/bin/python" "$OLDPWD/examples/ten-lines/ten.py" | tr '\n' ' ' | grep -x 'False True '); }
    command_works() { "$TMPDIR/venv/bin/petal" --version | grep "^petal $version"; }
    vectors() {
        PYTHONPATH=bindings/python/test "$TMPDIR/venv/bin/python" -B bindings/python/test/bare.py \
            test_vectors test_cases >"$TMPDIR/said" &&
            ! grep '^not ok' "$TMPDIR/said" && grep '^ok' "$TMPDIR/said"
    }
    ok 'x86_64: installs in a bare Python' installs
    ok 'x86_64: ten lines' ten
    ok 'x86_64: the command' command_works
    ok 'x86_64: every vector' vectors
else
    skip 'x86_64: installed' 'this machine: another CPU'
fi
finish
