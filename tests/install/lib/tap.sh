# tap.sh - prints TAP for shell tests, which call `ok WHAT COMMAND...` for each promise and `finish`
# at the end. This script must be sourced, not run.
tap_count=0 tap_failed=0

ok() {
    tap_what=$1
    shift
    tap_count=$((tap_count + 1))
    if "$@" >"$TMPDIR/tap.out" 2>&1; then
        echo "ok $tap_count - $tap_what"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $tap_what"
        tail -n 30 "$TMPDIR/tap.out" | awk '{ print "# " $0 }'
    fi
}

skip() { # skip WHAT REASON
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# nightly WHAT: in ./dev nightly, returns true. Otherwise reports WHAT as skipped and returns false.
nightly() {
    [ -z "${PETAL_NIGHTLY-}" ] || return 0
    skip "$1" 'long: ./dev nightly'
    return 1
}

# relay COMMAND...: prints the command's TAP lines as lines of this test. relay_as LABEL COMMAND...
# also puts a label in front of each line. The command's stdout and stderr are kept in
# $TMPDIR/relayed and $TMPDIR/relayed.err.
relay() { relay_as '' "$@"; }
relay_as() {
    tap_label=$1
    shift
    "$@" >"$TMPDIR/relayed" 2>"$TMPDIR/relayed.err" || echo "not ok 0 - $* fails" >>"$TMPDIR/relayed"
    while IFS= read -r tap_line; do
        case $tap_line in
        'ok '* | 'not ok '*)
            tap_count=$((tap_count + 1))
            case $tap_line in 'not ok '*) tap_failed=$((tap_failed + 1)) ;; esac
            echo "${tap_line%% [0-9]*} $tap_count - $tap_label${tap_line#* - }"
            ;;
        '#'*) printf '%s\n' "$tap_line" ;;
        esac
    done <"$TMPDIR/relayed"
    sed 's/^/# /' "$TMPDIR/relayed.err"
}

# needs PROGRAM...: if a program is not installed, reports a skipped test and returns false. NAME.h
# stands for a header, pip and setuptools for Python modules, and wasi for a C library for
# WebAssembly that clang can link. scripts/check-packages installs all of these.
needs() {
    for tap_program; do
        case $tap_program in
        *.h) printf '#include <%s>\n' "$tap_program" | cc -E - ;;
        pip) python3 -m pip --version ;;
        setuptools) python3 -c 'import setuptools' ;;
        wasi) clang --target=wasm32-wasi -nostartfiles -Wl,--no-entry -xc /dev/null \
            -o "$TMPDIR/wasi" ;;
        *) command -v "$tap_program" ;;
        esac >/dev/null 2>&1 && continue
        tap_reason="not installed: ./dev test --all installs it${PETAL_DEBIAN:+; $PETAL_DEBIAN}"
        skip "$tap_program" "$tap_reason"
        return 1
    done
}

finish() {
    echo "1..$tap_count"
    exit $((tap_failed > 0))
}
