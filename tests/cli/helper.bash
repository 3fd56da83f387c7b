# helper.bash - what every file of CLI tests begins with.
#
# PETAL is the tool under test (by default the petal in PATH, or the one in build/), PETAL_ROOT the top of the tree. Expected
# outputs are in expected/; PETAL_UPDATE=1 bats tests/cli writes them anew, to be looked at with git diff.

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

# Every test runs in an empty folder of its own.
setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
}

# The list of 58,240 addresses, as urls.txt in the test's folder.
make_urls() {
    gzip -dc "$PETAL_ROOT/examples/data/urls.txt.gz" >urls.txt
}

# refuses TEXT COMMAND...: exit status 2, nothing on stdout, and on stderr one line, from petal, that contains TEXT.
# finds: the same with status 1, the answer of verify and info; is_busy: with 3.
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

# The output of the last `run` is expected/NAME.
is_as_expected() {
    local file=$BATS_TEST_DIRNAME/expected/$1
    [ -z "${PETAL_UPDATE-}" ] || printf '%s\n' "$output" >"$file"
    printf '%s\n' "$output" | diff -u "$file" - || fail "differs from expected/$1 (PETAL_UPDATE=1 accepts it)"
}

# field NAME: of the one JSON object on stdin.
field() {
    sed -n 's/.*"'"$1"'":\("[^"]*"\|[^,}]*\).*/\1/p' | tr -d '"'
}

# A condition that another process is about to bring about. The bound is for a hanging machine, not a measurement.
wait_until() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 1500 ] || fail "never came true: $*"
        sleep 0.02
    done
}

# Has a writer of FILE begun to change it?
is_being_changed() { petal verify "$1" 2>&1 | grep -q busy; }

# A fifo is opened with <> in these tests, so that a tool that dies early cannot leave its test waiting.

# needs PROGRAM...: skips the test if one is not installed. ./dev installs them:
# scripts/check-packages.
needs() {
    local program
    for program; do
        type -P "$program" >/dev/null ||
            skip "$program is not installed: ./dev test --all installs it"
    done
}

# nightly_step N: the step of a loop over every place: 1 in ./dev nightly, N otherwise.
nightly_step() {
    if [ -n "${PETAL_NIGHTLY-}" ]; then echo 1; else echo "$1"; fi
}

needs_terminal() {
    needs script
    script -qec true /dev/null </dev/null &>/dev/null || skip "this machine has no pseudo-terminal"
}

# Runs a command line on a terminal of its own (needs_terminal); output and messages both come out,
# without the terminal's CR.
on_terminal() {
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
}

# flip FILE OFFSET MASK: changes bits of one byte in place.
flip() {
    perl -e 'open F, "+<", $ARGV[0] or die; binmode F; seek F, $ARGV[1], 0; read F, $b, 1; seek F, $ARGV[1], 0;
        print F chr(ord($b) ^ hex $ARGV[2]); close F or die' "$1" "$2" "$3"
}
