#!/bin/sh
# hosts.sh - checks that the same key gives the same answer in every host. For each key type, the
# tool creates a filter from half of the keys in vectors/keys/keys.txt. The filter is so small that
# it has some false positives among the other keys. Each host queries every key and must give the
# same answers as the library, including the false positives. Each host also prints the native types
# of its keys, which must match its row in the table of docs/bindings.md.
#
# If a host is not installed, it is skipped, and its row stays unchanged. PETAL_UPDATE_TABLE=1
# updates the rows.
#
# For each host, the file hosts/HOST.sh defines the host's name in the table and the following
# functions:
#   prepare DIR       builds what has to be built in this new folder; returns false after a skip
#   ask KEYS FOLDER   prints a line per key type with these fields, separated by tabs: the type, the
#                     host's own type, and one character for each key in the file: 1, 0, or - for a
#                     key that the host can't represent. FOLDER contains the filters text.petal,
#                     i64.petal, f64.petal and bytes.petal. $here is the folder passed to prepare
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. bindings/python/build.sh
hosts=$PWD/tests/interop/hosts keys=$PWD/vectors/keys/keys.txt filters=$TMPDIR/filters
needs python3 cc || finish

table() { python3 -B "$hosts/table.py" "$@"; }

# Builds what examples/pipeline builds for this language.
pipeline() { # pipeline LANGUAGE DIR
    examples/pipeline/"$1"/prepare "$2" >"$2.said" 2>"$2.err"
    case $? in
    0) return 0 ;;
    77) skip "$name" "$(tail -n 1 "$2.said")" ;;
    *) ok "the package for $name is built" log_of_failure "$2.err" ;;
    esac
    return 1
}

# One package serves all hosts of its language.
python_package() {
    needs python3 python3-config pip && mkdir -p "$TMPDIR/package" || return 1
    [ -d "$TMPDIR/package/site" ] || pipeline python "$TMPDIR/package"
}
java_package() { # sets $our_jar
    needs java javac mvn cmake unzip || return 1
    [ -n "${our_jar-}" ] || { petal_jar hosts && our_jar=$jar; }
}

# Prepares for columns in Python. The libraries are those that the tests of bindings/python install.
frames() { python_package && python_install; }
ask_frames() { # ask_frames KIND KEYS FOLDER
    PYTHONPATH=$TMPDIR/package/site "$python_tools" -B "$hosts/frames.py" "$@"
}

mkdir "$filters"
ok 'the tool makes a filter for each type of key' \
    python3 -B "$hosts/tool.py" make "$keys" "$filters"
for host in c $(ls "$hosts" | sed -n 's/\.sh$//p' | grep -vx c); do
    . "$hosts/$host.sh"
    here=$TMPDIR/$host
    mkdir "$here"
    before=$tap_count
    prepare "$here" || {
        [ "$tap_count" -gt "$before" ] || ok "$name is prepared" false
        continue
    }
    ok "$name is asked" eval 'ask "$keys" "$filters" >"$here.answers"'
    if [ "$host" = c ]; then
        ok 'the library finds every member, and some of the absent keys' table members "$here.answers"
    else
        ok "$name answers as the library does" table compare "$TMPDIR/c.answers" "$here.answers"
    fi
    [ -z "${PETAL_UPDATE_TABLE-}" ] || table write "$name" "$here.answers" docs/bindings.md
    ok "docs/bindings.md has the row of $name" table has "$name" "$here.answers" docs/bindings.md
done
ok 'docs/bindings.md has no other row' table only docs/bindings.md "$hosts"/*.sh
finish
