# binary.sh - checks the exports and dependencies of a library for any system. This script must be
# sourced after packages.sh, not run. If a required program is missing, the test is skipped.
needs python3 readelf objdump || finish

# exports FILE: prints the exported names in sorted order. Returns false if FILE exports nothing.
exports() {
    case $1 in
    *.dylib) python3 -B tests/packages/lib/macho.py "$1" ;;
    *.dll | *.pyd)
        objdump -p "$1" | sed -n '/Ordinal\/Name Pointer/,/^$/s/.*[] ]\([A-Za-z0-9_]*\)$/\1/p' | sed '/^Table$/d'
        ;;
    *) readelf --dyn-syms -W "$1" | awk '$7 != "UND" && $5 == "GLOBAL" && $8 ~ /^[a-zA-Z]/ { print $8 }' ;;
    esac | sort >"$TMPDIR/exports"
    cat "$TMPDIR/exports"
    [ -s "$TMPDIR/exports" ]
}

# exports_only FILE REGULAR_EXPRESSION: succeeds if every name exported by FILE matches the
# expression.
exports_only() { exports "$1" && ! grep -vxE "$2" "$TMPDIR/exports"; }

# needs_only FILE NAME...: succeeds if FILE depends only on libraries whose names start with one of
# these names.
needs_only() {
    case $1 in
    *.dll | *.pyd) objdump -p "$1" | sed -n 's/.*DLL Name: //p' ;;
    *) readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' ;;
    esac | tr A-Z a-z >"$TMPDIR/needed"
    shift
    [ -s "$TMPDIR/needed" ] || return 1
    for needed; do
        sed "/^$needed/d" "$TMPDIR/needed" >"$TMPDIR/rest" && mv "$TMPDIR/rest" "$TMPDIR/needed"
    done
    ! grep . "$TMPDIR/needed"
}
windows_own='kernel32\.dll advapi32\.dll api-ms-win-crt-.*\.dll'
glibc_own='libc\.so\.6 libm\.so\.6 libpthread\.so\.0 ld-linux'

# is_for FILE CPU: succeeds if FILE is for Linux on this CPU.
is_for() {
    case $2 in x86_64) readelf -h "$1" | grep 'X86-64' ;; *) readelf -h "$1" | grep -i "$2" ;; esac
}

# glibc_2_17 FILE: succeeds if FILE requires no glibc version later than 2.17.
glibc_2_17() {
    readelf --dyn-syms -W "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -u -V >"$TMPDIR/versions"
    [ -s "$TMPDIR/versions" ] && [ "$(printf '2.17\n' | cat "$TMPDIR/versions" - | sort -V | tail -n 1)" = 2.17 ]
}
