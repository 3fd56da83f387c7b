#!/usr/bin/env bats
# seen.bats - petal seen replaces awk '!s[$0]++' for streams, uses bounded memory, and forgets
# nothing when it is stopped.
load helper

@test "if the filter is large enough, it prints exactly what awk prints" {
    make_urls
    awk '!s[$0]++' urls.txt >exact
    petal seen urls.txt | cmp - exact
    petal seen <urls.txt | cmp - exact
    petal seen -n 1M -p 1e-9 - <urls.txt | cmp - exact
}

@test "planned for the 29,619 distinct URLs at 1 %, it drops new lines within the rate and prints none twice" {
    make_urls
    awk '!s[$0]++' urls.txt >exact
    petal seen -n 29619 -p 1% urls.txt >fresh
    is "$(sort fresh | uniq -d | wc -l)" 0
    # The output equals awk's, in the same order, except that some lines are dropped. So diff must
    # report only deletions.
    ! diff exact fresh | grep -q '^>'
    # Each distinct line is dropped with a probability of at most 1 %, so at most 296 lines plus 5
    # standard deviations (86) may be dropped.
    dropped=$(($(wc -l <exact) - $(wc -l <fresh)))
    [ "$dropped" -gt 0 ]
    [ "$dropped" -le $((296 + 86)) ]
}

@test "-d prints the repeats instead, and the two outputs together are the input" {
    make_urls
    petal seen urls.txt >fresh
    petal seen -d urls.txt >repeats
    awk 's[$0]++' urls.txt | cmp - repeats
    is "$(cat fresh repeats | sort | cksum)" "$(sort urls.txt | cksum)"
}

@test "-f remembers lines for the next run, and creates the file" {
    printf 'a\nb\na\n' >1
    printf 'b\nc\n' >2
    is "$(petal seen -f s.petal -n 100 1)" $'a\nb'
    is "$(petal seen -f s.petal -n 100 2)" c
    is "$(petal seen -f s.petal 1 2)" ""
    petal verify s.petal
    is "$(petal check -c s.petal -e a -e b -e c)" 3
    is "$(petal info --json s.petal | field capacity)" 100
}

@test "seen, build and add make filters with the same bits" {
    make_urls
    petal seen -f s.petal -n 29619 urls.txt >fresh
    petal build -o b.petal urls.txt
    is "$(petal info --json s.petal | field content_id)" "$(petal info --json b.petal | field content_id)"
}

@test "the first line is printed before the input ends" {
    mkfifo in
    exec 4<>in
    "$PETAL" seen <in >out 3>&- 4>&- &
    echo first >&4
    wait_until grep -qx first out
    printf 'first\nsecond\n' >&4
    wait_until grep -qx second out
    exec 4>&-
    wait $!
    is "$(cat out)" $'first\nsecond'
}

@test "without -n the filter grows, and a terminal or --verbose shows that" {
    run -0 --separate-stderr petal seen --verbose <<<a
    is "$output" a
    is "${stderr_lines[0]}" "petal: no -n: the filter grows as needed; at most 1 % of new lines are dropped"
    run -0 --separate-stderr petal seen <<<a
    is "$stderr" ""
    petal seen -f s.petal <<<a
    is "$(petal info --json s.petal | field policy)" growing
    contains "$(petal info --json s.petal)" '"target_rate":0.01,"items"'
}

@test "one message says when the planned number of lines is reached" {
    run -0 --separate-stderr petal seen -n 1000 -p 1% <<<"$(seq 5000)"
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "petal: seen: holds 1,000 keys, as many as planned"
    run -0 --separate-stderr petal seen -f s.petal -n 1000 -p 1% <<<"$(seq 900)"
    is "$stderr" ""
    run -0 --separate-stderr petal seen -f s.petal <<<"$(seq 2000)"
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "petal: s.petal: holds 1,000 keys, as many as planned"
}

@test "the summary has the counts, and estimates how many repeats may be new" {
    make_urls
    run -0 --separate-stderr petal seen --verbose -n 29619 -f s.petal urls.txt
    is "$stderr" "petal: s.petal: 58,240 read, 29,564 new, 28,676 repeats (about 55 of these may be new)"
}

# drops_are_told KEYS OPTION...: adds each number from 1 to KEYS once, so every dropped line is a
# false positive. The number of drops in the summary must be right within 20 %.
drops_are_told() {
    local keys=$1 dropped told
    shift
    seq "$keys" | petal seen --verbose "$@" 2>message >fresh
    dropped=$((keys - $(wc -l <fresh)))
    told=$(sed -n 's/.*(about \(.*\) of these may be new).*/\1/p' message | sed 's/,//; s/k$/ 1000/; s/M$/ 1000000/' |
        awk '{ print int($1 * ($2 ? $2 : 1)) }')
    echo "$keys $*: $dropped dropped, $told told"
    [ "$dropped" -ge 100 ]
    [ $((10 * told)) -ge $((8 * dropped)) ]
    [ $((10 * told)) -le $((12 * dropped)) ]
}

@test "the number of new lines among the repeats is right within 20 %, for filters of every kind, even overfull ones" {
    for keys in 100000 200000 300000 350000; do drops_are_told $keys -n 100k; done
    drops_are_told 300000 -n 100k --scheme classic
    drops_are_told 22000 -n 10k -p 0.1
    drops_are_told 3000000
    drops_are_told 3000000 -p 10%
    drops_are_told 300000 --window 100k
    for size in 300k 150k 110k; do drops_are_told 300000 --window 1d -n $size; done
}

@test "the reported number is right on average, even for a filter that drops nearly half of the new lines" {
    # The test adds up 60 filters with different seeds. The standard deviation of the total number D
    # of dropped lines is about sqrt(D), and that of the reported number is about the same. So 5
    # standard deviations of their difference are 7.1 sqrt(D).
    for keys in 2000 2700 2900; do
        dropped=0 told=0
        for seed in $(seq 60); do
            seq $keys | petal seen --verbose --window 1d -n 1k --seed $seed 2>message >fresh
            dropped=$((dropped + keys - $(wc -l <fresh)))
            told=$((told + $(sed -n 's/.*(about \(.*\) of these may be new).*/\1/p' message)))
        done
        awk -v a=$dropped -v b=$told 'BEGIN { exit !(a > 500 && (a - b) ^ 2 <= 50 * a) }' ||
            fail "$keys: $dropped dropped, $told told"
    done
}

@test "no number is reported if a filter drops more than half of the new lines" {
    words="(the filter is too full to tell how many of these are new)"
    for options in "--window 1d -n 10k" "--window 10k" "-n 10k" "-n 10k --scheme classic" "-n 10k -p 20%"; do
        for keys in 10000 20000 27000 30000 36000 45000 60000 200000 1000000; do
            rm -f s.petal
            seq $keys | petal seen --verbose -f s.petal $options 2>message >fresh
            rate=$(petal info --json s.petal | field estimated_rate)
            told=$(sed -n 's/.* repeats* //p' message)
            # the measured rate is accurate to within a few percent
            case $(awk -v r="$rate" 'BEGIN { print (r > 0.54 ? "words" : r < 0.46 ? "number" : "either") }') in
            words) is "$keys $options $rate: $told" "$keys $options $rate: $words" ;;
            number) [ "$told" != "$words" ] || fail "$keys $options $rate: $told" ;;
            esac
        done
    done
}

# stopped_by SIGNAL: sends the signal after one line has been printed, while the stream is still
# open, and prints the exit status.
stopped_by() {
    [ -p in ] || mkfifo in out
    env --default-signal="$1" "$PETAL" seen -n 1000 -f s.petal <in >out 3>&- &
    local running=$! status=0 line
    exec 4<>in 5<>out
    echo "key of $1" >&4
    read -r -t 30 line <&5
    kill -s "$1" $running
    wait $running || status=$?
    exec 4>&- 5<&-
    echo $status
}

@test "SIGINT, SIGTERM and SIGHUP save the seen lines; the status is 128 + the signal" {
    for signal in INT:130 TERM:143 HUP:129; do
        is "$(stopped_by ${signal%:*})" ${signal#*:}
        petal verify s.petal
        petal check -q s.petal -e "key of ${signal%:*}"
    done
    is "$(petal info --json s.petal | field items)" 3
}

@test "if its output closes in the middle of a stream, it saves and exits quietly as if by SIGPIPE" {
    set +o pipefail
    seq 1000000 | "$PETAL" seen -n 1M -f s.petal 2>message | head -n 1 >first
    statuses=("${PIPESTATUS[@]}")
    is "${statuses[1]}" 141
    is "$(cat first)" 1
    is "$(cat message)" ""
    petal verify s.petal
    petal check -q s.petal -e 1
}

@test "if its output closes while it waits for input, it saves immediately" {
    mkfifo in out
    "$PETAL" seen -n 1000 -f s.petal <in >out 3>&- 2>message &
    running=$!
    exec 4<>in 5<>out
    echo first >&4
    read -r -t 30 line <&5
    exec 5<&-
    status=0
    wait $running || status=$?
    is $status 141
    exec 4>&-
    is "$(cat message)" ""
    petal check -q s.petal -e first
}

@test "if the input fails with an error, lines up to there are remembered, and the status is 2" {
    printf '1\n2\nx\n3\n' >numbers
    run -2 --separate-stderr petal seen --key-type i64 -n 100 -f s.petal numbers
    is "$output" $'1\n2'
    contains "$stderr" 'petal: numbers: line 3: not a whole number: "x"'
    is "$(petal check --key-type i64 -c s.petal -e 1 -e 2)" 2
}

@test "if the file can't be created, the command fails before it reads the stream" {
    mkfifo in
    refuses "folder/s.petal: cannot write a file in its folder: No such file or directory" petal seen -f folder/s.petal </dev/null
    refuses "is a directory" petal seen -f . </dev/null
    echo text >notes
    refuses "notes: not a filter (text, from byte 0)" petal seen -f notes </dev/null
    is "$(cat notes)" text
    refuses "missing: cannot open it" petal seen -f s.petal missing
    [ ! -e s.petal ]
}

@test "keyed and seeded filters remember under the same secret and seed" {
    echo 000102030405060708090a0b0c0d0e0f >secret
    petal seen -n 100 --secret-file secret -f s.petal <<<a >fresh
    is "$(petal seen --secret-file secret -f s.petal <<<a)" ""
    refuses "needs the secret with id" petal seen -f s.petal <<<a
}

@test "options that agree with FILE may be repeated, and others are refused" {
    again() { petal seen -f s.petal "$@" </dev/null; }
    for options in "-n 5k -p 0.1%" "-n 5k" "--memory 64KiB -n 5k" "--memory 64KiB" "--scheme classic -n 5k" "--seed 7 -n 5k" \
        "--window 7d -n 5k" "--window 5k -p 2%" "-p 2%" ""; do
        rm -f s.petal
        again $options
        again $options
        again
    done
    rm s.petal
    again -n 1000
    leave="drop the option or name a new file"
    refuses "s.petal: already exists and is for 1,000 keys, not -n 5,000; $leave" petal seen -f s.petal -n 5k </dev/null
    refuses "s.petal: already exists and has a rate of 1 %, not -p 0.1 %; $leave" petal seen -f s.petal -p 0.1% </dev/null
    refuses "s.petal: already exists and never forgets, not --window 7d; $leave" petal seen -f s.petal --window 7d </dev/null
    refuses "s.petal: already exists and is blocked, not --scheme classic; $leave" petal seen -f s.petal --scheme classic </dev/null
    refuses "s.petal: already exists and has another seed, not --seed 7; $leave" petal seen -f s.petal --seed 7 </dev/null
    refuses "s.petal: already exists and takes 1,280 bytes, not --memory 65,536; $leave" petal seen -f s.petal --memory 64KiB </dev/null
    rm s.petal
    again
    refuses "s.petal: already exists and grows, not -n 5,000; $leave" petal seen -f s.petal -n 5k </dev/null
    rm s.petal
    again --window 7d
    refuses "s.petal: already exists and has another window, not --window 6d; $leave" petal seen -f s.petal --window 6d </dev/null
    petal create -o c.petal -n 1000
    refuses "c.petal: already exists and never forgets" petal seen -f c.petal --window 1000 </dev/null
}
