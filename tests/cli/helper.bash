# helper.bash - helper functions, which every CLI test file loads first.
#
# PETAL is the tool under test; the default is the petal in PATH or in build/. PETAL_ROOT is the top
# of the tree. The folder expected/ contains the expected outputs. To update them, run
# PETAL_UPDATE=1 bats tests/cli and review the changes with git diff.

bats_require_minimum_version 1.5.0
PETAL_ROOT=${PETAL_ROOT:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
PETAL=${PETAL:-$(type -P petal || echo "$PETAL_ROOT/build/release/bin/petal")}
[ -x "$PETAL" ] || {
    echo "no petal to test at $PETAL; set PETAL, or build it: ./dev build" >&2
    exit 1
}
unset NO_COLOR
export LC_ALL=C

petal() {
    "$PETAL" "$@"
}

# Each test runs in a new, empty folder.
setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
}

# Writes 58,240 URLs to urls.txt in the test's folder.
make_urls() {
    gzip -dc "$PETAL_ROOT/examples/data/urls.txt.gz" >urls.txt
}

# refuses TEXT COMMAND...: the command must exit with status 2, print nothing to stdout, and print
# one line to stderr that starts with "petal: " and contains TEXT. finds is like refuses, but
# expects status 1, which verify and info return. is_busy expects status 3.
refuses() { ends_with 2 "$@"; }
finds() { ends_with 1 "$@"; }
is_busy() { ends_with 3 "$@"; }
ends_with() {
    local status=$1 text=$2
    shift 2
    run "-$status" --separate-stderr "$@"
    is "$output" ""
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "$text"
    [ "${stderr#petal: }" != "$stderr" ] || fail "does not begin with 'petal: ': $stderr"
}

fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# is ACTUAL EXPECTED
is() {
    [ "$1" = "$2" ] || fail "got:      $1" "expected: $2"
}

contains() {
    [[ $1 == *"$2"* ]] || fail "got: $1" "it does not contain: $2"
}

# Checks that the output of the last `run` equals expected/NAME.
is_as_expected() {
    local file=$BATS_TEST_DIRNAME/expected/$1
    [ -z "${PETAL_UPDATE-}" ] || printf '%s\n' "$output" >"$file"
    printf '%s\n' "$output" | diff -u "$file" - || fail "differs from expected/$1 (PETAL_UPDATE=1 accepts it)"
}

# field NAME: prints the value of this member of the JSON object on stdin.
field() {
    sed -n 's/.*"'"$1"'":\("[^"]*"\|[^,}]*\).*/\1/p' | tr -d '"'
}

# Waits until another process makes the condition true. The time limit is long, so that only a
# program that hangs can exceed it.
wait_until() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 1500 ] || fail "never came true: $*"
        sleep 0.02
    done
}

# Succeeds if a writer has begun to change FILE.
is_being_changed() { petal verify "$1" 2>&1 | grep -q busy; }

# Tests open a fifo with <>. With < or >, a test would wait forever if the tool exited before
# opening its end.

# needs PROGRAM...: skips the test unless all the programs are installed. ./dev installs them with
# scripts/check-packages.
needs() {
    local program
    for program; do
        type -P "$program" >/dev/null ||
            skip "$program is not installed: ./dev test --all installs it"
    done
}

# nightly_step N: prints the step for a loop over all positions, which is 1 in ./dev nightly and N
# otherwise.
nightly_step() {
    if [ -n "${PETAL_NIGHTLY-}" ]; then echo 1; else echo "$1"; fi
}

needs_terminal() {
    needs script
    script -qec true /dev/null </dev/null &>/dev/null || skip "this machine has no pseudo-terminal"
}

# Runs a command line on a pseudo-terminal (see needs_terminal) and prints its stdout and stderr
# without the CRs that the terminal adds.
on_terminal() {
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
}

# flip FILE OFFSET MASK: flips the bits in MASK of one byte in place.
flip() {
    perl -e 'open F, "+<", $ARGV[0] or die; binmode F; seek F, $ARGV[1], 0; read F, $b, 1; seek F, $ARGV[1], 0;
        print F chr(ord($b) ^ hex $ARGV[2]); close F or die' "$1" "$2" "$3"
}
