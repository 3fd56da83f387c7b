# binary.sh - for the bindings' tests: checks which libraries a program or a library is linked with.
# Sourced, not run.

# links_only FILE LIBRARY...: FILE is linked only with these libraries, the loader and the kernel's
# library
links_only() {
    [ -f "$1" ] || return 1
    links_of=$1
    shift
    ldd "$links_of" | awk -v allowed="$*" '
        BEGIN { split("linux-vdso " allowed, names); for (i in names) may[names[i]] = 1 }
        { name = $1; sub(/.*\//, "", name); sub(/\.so.*/, "", name) }
        !(name in may) && name !~ /^ld-linux/ { print "linked with " $1; bad = 1 }
        END { exit bad }'
}
