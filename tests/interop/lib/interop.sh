# interop.sh - what the interop tests share: packages by name, the common keys, and the queries for
# every library. Sourced, not run.
#
# A test defines theirs(), which runs the library's driver. ours() runs Petal's driver. Both use the
# same language:
#
#   make FORMAT TYPE KEYS N P OUT      a filter for N keys at rate P, with the keys in it
#   add FORMAT TYPE FILE KEYS OUT      the filter of FILE with more keys
#   ask FORMAT TYPE FILE QUERIES       a line for each query: 1 (probably in) or 0 (certainly not)
#
# FORMAT is Petal's name of the format, and TYPE is the type of the keys (keys.awk). FILE and OUT
# are files in the format.
. tests/install/lib/tap.sh

# ---- packages ------------------------------------------------------------------------------------
. tests/interop/lib/packages.sh

# PySpark looks up this name, which a minimal system may not have.
needs_localhost() { # needs_localhost WHAT
    getent hosts localhost >/dev/null && return
    skip "$1" 'the name localhost has no address on this machine'
    return 1
}

java_driver() { # java_driver SOURCE: compiled with $classpath; run it by java_run
    java_classes=$TMPDIR/classes$tap_count
    ok "$1 compiles with $classpath" javac -nowarn -cp "$classpath" -d "$java_classes" tests/interop/lib/Interop.java "$1"
}
java_run() { java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $java_options -cp "$java_classes:$classpath" Driver "$@"; }
java_options=

# ran NAME VERSION FROM FORMATS: prints a row for the table in docs/interop.md
# (tests/interop/versions).
ran() { echo "# ran against | $1 | $2 | $3 | $4 |"; }

# ---- Petal's side --------------------------------------------------------------------------------

ours() { "$TMPDIR/petal_driver" "$@"; }
ok 'the driver of Petal compiles' "${CC:-cc}" -std=c11 -Iinclude tests/interop/lib/petal_driver.c \
    "$PETAL_BUILD_DIR/lib/libpetal.so" "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/petal_driver"

# ---- keys ----------------------------------------------------------------------------------------

# keys TYPE: makes TYPE.keys, its two halves, and TYPE.queries, which has each key and as many
# others. If $no_empty is set, there is no empty key, since some libraries reject it.
keys() {
    [ ! -f "$TMPDIR/$1.keys" ] || return 0
    case $1 in utf16le) list=text ;; wtf8) list=units ;; *) list=$1 ;; esac
    awk -v type="$list" -v part=keys -f tests/interop/lib/keys.awk | { [ -z "$no_empty" ] && cat || grep .; } >"$TMPDIR/$1.keys"
    awk -v type="$list" -v part=absent -f tests/interop/lib/keys.awk | cat "$TMPDIR/$1.keys" - >"$TMPDIR/$1.queries"
    head -n 1000 "$TMPDIR/$1.keys" >"$TMPDIR/$1.half1"
    tail -n +1001 "$TMPDIR/$1.keys" >"$TMPDIR/$1.half2"
}
no_empty=

# ---- what is required of all ---------------------------------------------------------------------

# Checks that the answers to TYPE.queries are meaningful: every key is present, and most others are
# not, but some are false positives (unless the filter is so large that $mistakes is no).
telling() { # telling TYPE ANSWERS
    awk -v keys="$(wc -l <"$TMPDIR/$1.keys")" -v least="$([ "$mistakes" = no ] && echo 0 || echo 1)" '
        NR <= keys { missed += $0 != 1; next }
        { mistakes += $0 == 1; others++ }
        END {
            print missed + 0 " keys missed, " mistakes + 0 " mistakes of " others
            exit !(missed == 0 && mistakes >= least && mistakes < others / 4)
        }' "$2"
}
mistakes=yes

# Checks that both give the same answers for one file.
answers_alike() { # answers_alike FORMAT TYPE FILE
    theirs ask "$1" "$2" "$3" "$TMPDIR/$2.queries" >"$3.theirs" && ours ask "$1" "$2" "$3" "$TMPDIR/$2.queries" >"$3.ours" &&
        telling "$2" "$3.theirs" && cmp "$3.theirs" "$3.ours"
}

# If equal filters may have different bytes, a test redefines this.
same_file() { cmp "$1" "$2"; }

# One side adds the first half of the keys, and the other side the second half. The result must
# equal WHOLE.
theirs_then_ours() { # FORMAT TYPE N P WHOLE
    theirs make "$1" "$2" "$TMPDIR/$2.half1" "$3" "$4" "$5.half" && ours add "$1" "$2" "$5.half" "$TMPDIR/$2.half2" "$5.both" &&
        same_file "$5" "$5.both"
}
ours_then_theirs() { # FORMAT TYPE N P WHOLE
    ours $make "$1" "$2" "$TMPDIR/$2.half1" "$3" "$4" "$5.half" && theirs add "$1" "$2" "$5.half" "$TMPDIR/$2.half2" "$5.both" &&
        same_file "$5" "$5.both"
}

through_petal() { # through_petal FORMAT FILE
    ours convert "$1" "$2" petal "$2.petal" && ours convert petal "$2.petal" "$1" "$2.back" && cmp "$2" "$2.back"
}

# theirs_to_us LIBRARY FORMAT TYPE N P: Petal reads the library's files.
theirs_to_us() {
    keys "$3"
    at=$TMPDIR/$tap_count.$2 said="$1, $2, $3"
    ok "$said: they make one" theirs make "$2" "$3" "$TMPDIR/$3.keys" "$4" "$5" "$at"
    ok "$said: we read theirs, and answer alike" answers_alike "$2" "$3" "$at"
    ok "$said: theirs, filled by us" theirs_then_ours "$2" "$3" "$4" "$5" "$at"
    ok "$said: into a petal file and back" through_petal "$2" "$at"
}

# alike LIBRARY FORMAT TYPE N P: tests both directions. If the library has no rule for sizes, $make
# is `size`, and N and P are bits and hashes. If $same_bytes is no, Petal's file has a different
# form.
alike() {
    theirs_to_us "$@"
    ok "$said: we make one" ours $make "$2" "$3" "$TMPDIR/$3.keys" "$4" "$5" "$at.ours"
    [ "$same_bytes" = no ] || ok "$said: both are the same, byte for byte" same_file "$at" "$at.ours"
    ok "$said: they read ours, and answer alike" answers_alike "$2" "$3" "$at.ours"
    ok "$said: ours, filled by them" ours_then_theirs "$2" "$3" "$4" "$5" "$at"
}
make=make same_bytes=yes
