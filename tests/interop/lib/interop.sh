# interop.sh - helpers that the interop tests share: installing packages, the common keys, and the
# checks for every library. This script must be sourced, not run.
#
# Each test defines theirs(), which runs the other library's driver. ours() runs Petal's driver. All
# drivers implement the same commands:
#
#   make FORMAT TYPE KEYS N P OUT      writes a filter for N keys at rate P that contains KEYS
#   add FORMAT TYPE FILE KEYS OUT      adds KEYS to the filter in FILE
#   ask FORMAT TYPE FILE QUERIES       prints a line per query: 1 (probably in) or 0 (certainly not)
#
# FORMAT is Petal's name for the format, and TYPE is the key type (see keys.awk). FILE and OUT are
# files in this format.
. tests/install/lib/tap.sh

# ---- packages ------------------------------------------------------------------------------------
. tests/interop/lib/packages.sh

# PySpark looks up the name localhost, which a minimal system may lack.
needs_localhost() { # needs_localhost WHAT
    getent hosts localhost >/dev/null && return
    skip "$1" 'the name localhost has no address on this machine'
    return 1
}

java_driver() { # java_driver SOURCE: compiles the driver with $classpath. java_run runs the driver.
    java_classes=$TMPDIR/classes$tap_count
    ok "$1 compiles with $classpath" javac -nowarn -cp "$classpath" -d "$java_classes" tests/interop/lib/Interop.java "$1"
}
java_run() { java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $java_options -cp "$java_classes:$classpath" Driver "$@"; }
java_options=

# ran NAME VERSION FROM FORMATS: prints a row that tests/interop/versions writes to the table in
# docs/interop.md.
ran() { echo "# ran against | $1 | $2 | $3 | $4 |"; }

# ---- Petal's side --------------------------------------------------------------------------------

ours() { "$TMPDIR/petal_driver" "$@"; }
ok 'the driver of Petal compiles' "${CC:-cc}" -std=c11 -Iinclude tests/interop/lib/petal_driver.c \
    "$PETAL_BUILD_DIR/lib/libpetal.so" "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/petal_driver"

# ---- keys ----------------------------------------------------------------------------------------

# keys TYPE: writes TYPE.keys, two files with one half of the keys each, and TYPE.queries, which
# contains all the keys and 20,000 absent keys. If $no_empty is set, the empty key is omitted, since
# some libraries reject it.
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

# Checks that the answers to TYPE.queries are plausible: every key is present, and most absent keys
# are not, but some are false positives. If $mistakes is no, the filter may be so large that it has
# no false positives.
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

# Checks that Petal and the other library give the same answers for a file.
answers_alike() { # answers_alike FORMAT TYPE FILE
    theirs ask "$1" "$2" "$3" "$TMPDIR/$2.queries" >"$3.theirs" && ours ask "$1" "$2" "$3" "$TMPDIR/$2.queries" >"$3.ours" &&
        telling "$2" "$3.theirs" && cmp "$3.theirs" "$3.ours"
}

# A test redefines this function if equal filters may have different bytes.
same_file() { cmp "$1" "$2"; }

# One library adds the first half of the keys, and the other library adds the second half. The
# result must equal WHOLE.
theirs_then_ours() { # theirs_then_ours FORMAT TYPE N P WHOLE
    theirs make "$1" "$2" "$TMPDIR/$2.half1" "$3" "$4" "$5.half" && ours add "$1" "$2" "$5.half" "$TMPDIR/$2.half2" "$5.both" &&
        same_file "$5" "$5.both"
}
ours_then_theirs() { # ours_then_theirs FORMAT TYPE N P WHOLE
    ours $make "$1" "$2" "$TMPDIR/$2.half1" "$3" "$4" "$5.half" && theirs add "$1" "$2" "$5.half" "$TMPDIR/$2.half2" "$5.both" &&
        same_file "$5" "$5.both"
}

through_petal() { # through_petal FORMAT FILE
    ours convert "$1" "$2" petal "$2.petal" && ours convert petal "$2.petal" "$1" "$2.back" && cmp "$2" "$2.back"
}

# theirs_to_us LIBRARY FORMAT TYPE N P: tests that Petal can read the library's files.
theirs_to_us() {
    keys "$3"
    at=$TMPDIR/$tap_count.$2 said="$1, $2, $3"
    ok "$said: they make one" theirs make "$2" "$3" "$TMPDIR/$3.keys" "$4" "$5" "$at"
    ok "$said: we read theirs, and give the same answers" answers_alike "$2" "$3" "$at"
    ok "$said: theirs, filled by us" theirs_then_ours "$2" "$3" "$4" "$5" "$at"
    ok "$said: into a petal file and back" through_petal "$2" "$at"
}

# alike LIBRARY FORMAT TYPE N P: tests both directions. If the library doesn't compute sizes, $make
# is `size`, N is the number of bits, and P is the number of hashes. If $same_bytes is no, Petal
# writes the file in a different form.
alike() {
    theirs_to_us "$@"
    ok "$said: we make one" ours $make "$2" "$3" "$TMPDIR/$3.keys" "$4" "$5" "$at.ours"
    [ "$same_bytes" = no ] || ok "$said: both are the same, byte for byte" same_file "$at" "$at.ours"
    ok "$said: they read ours, and give the same answers" answers_alike "$2" "$3" "$at.ours"
    ok "$said: ours, filled by them" ours_then_theirs "$2" "$3" "$4" "$5" "$at"
}
make=make same_bytes=yes
