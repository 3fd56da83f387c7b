#!/usr/bin/env bats
# bench.bats - petal bench reports its measurements and counts correctly. The durations that it
# reports are not tested.
load helper

@test "a new filter: its description, a row per measurement, and the measured rate next to the predicted one" {
    run -0 --separate-stderr petal bench -n 100k -p 1% --seconds 1
    is "$stderr" ""
    contains "${lines[0]}" "blocked, k 6, xxh3, kernel "
    for row in size holds asked 'ns per key' add 'lookup, found' 'lookup, absent' 'hash alone' 'a line of memory'; do
        grep -q "^$row  *[0-9o]" <<<"$output" || fail "no row: $row" "$output"
    done
    contains "$output" "false positives "
    contains "$output" "predicted "
    ! awk 'length > 80' <<<"$output" | grep .
}

@test "every time is above zero, and the measured rate is near the predicted one" {
    petal bench --json -n 10k -p 1% --seconds 1 >json
    for time in add add_batch found found_batch absent absent_batch hash line; do
        awk -v t="$(field ${time}_ns <json)" 'BEGIN { exit !(t > 0) }' || fail "$time"
    done
    is "$(field keys <json)" 10000
    is "$(field keys_per_round <json)" 10000
    # For a filter of this size, the measured rate differs from the predicted rate by a few percent.
    # A difference of 20 % is too large to be chance.
    awk -v f="$(field absent_found <json)" -v n="$(field absent_keys <json)" -v p="$(field predicted_rate <json)" \
        'BEGIN { r = f / n / p; exit !(r > 0.8 && r < 1.2) }'
}

@test "a file is only read, and its own bits determine the rate" {
    make_urls
    petal build -o urls.petal urls.txt
    cp urls.petal before.petal
    chmod a-w urls.petal
    petal bench urls.petal --seconds 1 --json >json
    cmp urls.petal before.petal
    is "$(field bytes <json)" "$(petal info --json urls.petal | field bytes)"
    is "$(field predicted_rate <json)" "$(petal info --json urls.petal | field estimated_rate)"
    contains "$(petal bench urls.petal --seconds 1)" ", by its bits "
}

@test "filters of other libraries, of layers and of the classic scheme are measured too" {
    seq 1000 >keys
    for format in dcso redisbloom guava; do
        petal build --to $format -n 2000 -o $format keys
        contains "$(petal bench --from $format $format --seconds 1)" "lookup, absent"
    done
    contains "$(petal bench --scheme classic -n 1000 --seconds 1)" "classic, k 7"
}

@test "options that contradict each other are refused" {
    petal create -n 10 -o a.petal
    refuses "either a FILE or the size" petal bench a.petal -n 10
    refuses "one FILE" petal bench a.petal a.petal
    refuses "missing: " petal bench missing
}
