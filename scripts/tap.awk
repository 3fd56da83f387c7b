# tap.awk - counts the tests in one TAP stream, and prints each failed or skipped test with the
# reason.
#
# -v status=EXIT_STATUS  exit status of the program that wrote the stream
# -v strict=1            counts a skip as a failure, unless its reason contains "unreachable" (a
#                        server), "this machine" (no package would help) or "./dev nightly"
# -v suite=NAME          name of the suite
# -v count=FILE          writes a line "NAME passed failed skipped" to FILE
#
# Lines that begin with "# counted: ..." are part of the report, whether the test passes or not.
#
# Dialects: bats prints "ok 2 name # skip reason"; cmocka prints "not ok 2 # SKIP name" with the
# reason on the preceding line, and a plan for each of its groups.

function fail(what) {
    failed++
    lines = 0
    print "    failed:  " what
}

function skip(what, reason) {
    if (reason == "") reason = "no reason given"
    if (strict && tolower(reason) !~ /unreachable|this machine|\.\/dev nightly/) {
        fail(what ": skipped (" reason ")")
    } else {
        skipped++
        print "    skipped: " what " (" reason ")"
    }
}

/^1\.\.[0-9]+/ {
    planned += substr($0, 4) + 0
    if ($0 ~ /^1\.\.0/ && match(tolower($0), /# *skip */)) skip("all", substr($0, RSTART + RLENGTH))
    next
}

/^(not )?ok( |$)/ {
    reported++
    text = $0
    sub(/^(not )?ok *[0-9]* *(- *)?/, "", text)
    said_after = 0
    if (match(tolower(text), /# *skip */)) {
        reason = substr(text, RSTART + RLENGTH)
        if (RSTART == 1) skip(reason, said)
        else skip(substr(text, 1, RSTART - 2), reason)
    } else if ($1 == "not") {
        bad++
        fail(text)
        printf "%s", before
        said_after = 1
    } else {
        passed++
    }
    before = said = ""
    next
}

/^# counted: / {
    print "    " substr($0, 3)
    next
}

said_after && /^#/ {
    if (++lines <= 60) print "      " $0
    else if (lines == 61) print "      ... the rest is in " FILENAME
    next
}

{
    said = $0
    if (length(before) < 4000) before = before "      " $0 "\n"
}

END {
    if (planned == 0 && skipped + failed == 0) fail("it ran no test (exit status " status ")")
    else if (reported != planned) fail(planned " tests were planned, " reported + 0 " reported (exit status " status ")")
    else if (status != 0 && bad == 0) fail("exit status " status ", though no test failed")
    print suite, passed + 0, failed + 0, skipped + 0 >count
}
