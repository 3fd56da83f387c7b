# helper.bash - every file of CLI tests loads it first.
#
# PETAL is the tool under test (by default the petal in PATH, or the one in build/). PETAL_ROOT is
# the top of the tree. Expected outputs are in expected/. PETAL_UPDATE=1 bats tests/cli rewrites
# them; review the result with git diff.

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

# Every test runs in a new, empty folder.
setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
}

# Writes the list of 58,240 addresses to urls.txt in the test's folder.
make_urls() {
    gzip -dc "$PETAL_ROOT/examples/data/urls.txt.gz" >urls.txt
}

# refuses TEXT COMMAND...: the command must exit with status 2, print nothing on stdout, and on
# stderr one line from petal that contains TEXT. finds: the same with status 1, for results of
# verify and info. is_busy: the same with status 3.
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

# The output of the last `run` must equal expected/NAME.
is_as_expected() {
    local file=$BATS_TEST_DIRNAME/expected/$1
    [ -z "${PETAL_UPDATE-}" ] || printf '%s\n' "$output" >"$file"
    printf '%s\n' "$output" | diff -u "$file" - || fail "differs from expected/$1 (PETAL_UPDATE=1 accepts it)"
}

# field NAME: prints this member of the JSON object on stdin.
field() {
    sed -n 's/.*"'"$1"'":\("[^"]*"\|[^,}]*\).*/\1/p' | tr -d '"'
}

# Waits for a condition that another process will soon make true. The limit only catches programs
# that hang.
wait_until() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 1500 ] || fail "never came true: $*"
        sleep 0.02
    done
}

# Succeeds if a writer of FILE has begun to change it.
is_being_changed() { petal verify "$1" 2>&1 | grep -q busy; }

# These tests open a fifo with <>. Otherwise a test would wait forever for a tool that died early.

# needs PROGRAM...: skips the test if one of them is not installed. ./dev installs them:
# scripts/check-packages.
needs() {
    local program
    for program; do
        type -P "$program" >/dev/null ||
            skip "$program is not installed: ./dev test --all installs it"
    done
}

# nightly_step N: the step of a loop over all places. It is 1 in ./dev nightly, and otherwise N.
nightly_step() {
    if [ -n "${PETAL_NIGHTLY-}" ]; then echo 1; else echo "$1"; fi
}

needs_terminal() {
    needs script
    script -qec true /dev/null </dev/null &>/dev/null || skip "this machine has no pseudo-terminal"
}

# Runs a command line on its own terminal (see needs_terminal). Prints its output and messages
# together, without the terminal's CRs.
on_terminal() {
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
}

# flip FILE OFFSET MASK: changes bits of one byte in place.
flip() {
    perl -e 'open F, "+<", $ARGV[0] or die; binmode F; seek F, $ARGV[1], 0; read F, $b, 1; seek F, $ARGV[1], 0;
        print F chr(ord($b) ^ hex $ARGV[2]); close F or die' "$1" "$2" "$3"
}
