# tap.sh - TAP for shell tests: `ok WHAT COMMAND...` for each promise, `finish` at the end. Sourced, not run.
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

finish() {
    echo "1..$tap_count"
    exit $((tap_failed > 0))
}
