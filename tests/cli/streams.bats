#!/usr/bin/env bats
# streams.bats - results are written to stdout and messages to stderr, and broken pipes, closed
# files, terminals and progress output behave as users expect.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 1000 >keys
    petal build -o f.petal keys
}

@test "a closed stdout is an error only for commands that print" {
    for command in 'info f.petal' 'check f.petal keys' 'plan -n 10' 'verify f.petal' 'seen keys' 'help' '--version'; do
        run -2 --separate-stderr bash -c "exec '$PETAL' $command >&-"
        is "$stderr" "petal: standard output: Bad file descriptor"
    done
    bash -c "exec '$PETAL' check -q f.petal -e 1 >&-"
    bash -c "exec '$PETAL' add f.petal keys >&-"
    petal verify f.petal
}

@test "a full stdout is an error" {
    [ -c /dev/full ] || skip "this machine has no /dev/full"
    for command in 'info f.petal' 'check f.petal keys' 'check -c f.petal keys' 'plan -n 10 --json' 'seen -f s.petal keys' 'help build'; do
        run -2 --separate-stderr bash -c "exec '$PETAL' $command >/dev/full"
        is "$stderr" "petal: standard output: No space left on device"
    done
    is "$(petal seen -f s.petal keys | wc -l)" 1000
}

@test "if stdin, stdout and stderr are closed, no other file takes their numbers" {
    cp f.petal before
    bash -c "exec '$PETAL' check f.petal keys <&- >&- 2>&-" || true
    bash -c "exec '$PETAL' info f.petal <&- >&- 2>&-" || true
    cmp f.petal before
    bash -c "exec '$PETAL' add f.petal keys <&- >&- 2>&-"
    petal verify f.petal
    refuses "standard input: cannot read it: Bad file descriptor" bash -c "exec '$PETAL' check f.petal <&-"
}

@test "if the reader exits, the tool ends quietly, as by SIGPIPE" {
    seq 1000000 >many
    petal build --force -o f.petal many
    set +o pipefail
    for command in 'check f.petal many' 'seen many' 'check -n f.petal many'; do
        "$PETAL" $command 2>message | head -n 1 >/dev/null
        statuses=("${PIPESTATUS[@]}")
        is "${statuses[0]}" 141
        is "$(cat message)" ""
    done
    bash -c "trap '' PIPE; '$PETAL' check f.petal many 2>message; echo \$? >status" | head -n 1 >/dev/null
    wait_until test -s status
    is "$(cat status)" 141
    is "$(cat message)" ""
}

@test "check prints lines while its input is still open, and exits when nobody reads them" {
    mkfifo in out
    "$PETAL" check f.petal - <in >out 3>&- &
    running=$!
    exec 4<>in 5<>out
    printf 'x\n7\n' >&4
    read -r -t 30 line <&5
    is "$line" 7
    exec 5<&-
    status=0
    wait $running || status=$?
    is $status 141
    exec 4>&-
}

@test "in a pipe there are no remarks, no progress and no colour; --verbose prints the remarks" {
    run -0 --separate-stderr petal build --force -o f.petal keys
    is "$output$stderr" ""
    run -0 --separate-stderr petal build --force -o f.petal --verbose keys
    is "$output" ""
    contains "$stderr" "petal: f.petal: 1,000 keys added, 1,280 bytes"
    run -0 --separate-stderr petal create --verbose -o c.petal -n 1000
    contains "$stderr" "petal: c.petal: 1,280 bytes, blocked: 0.87 % false positives at 1,000 keys"
    run -0 petal info f.petal
    [[ $output != *$'\x1b'* ]]
}

@test "--progress=lines prints whole lines with keys, bytes and the remaining time" {
    run -0 --separate-stderr petal build --force -o f.petal --progress=lines keys
    [[ ${stderr_lines[0]} =~ ^"keys [============]  100 %  "[0-9.]+" of "[0-9.]+" kB  " ]] ||
        [[ ${stderr_lines[0]} =~ ^"keys ["[=\>\ ]+"]  "[\ 0-9]+" %  "[0-9.]+" of 3.89 kB  "[0-9]+" keys  "[0-9.kMG]+"/s" ]]
    [[ $stderr != *$'\r'* ]]
    run -0 --separate-stderr petal build --force -o f.petal --progress=lines - < <(cat keys)
    [[ ${stderr_lines[0]} =~ ^"standard input 3.89 kB  "[0-9]+" keys  "[0-9.kMG]+"/s"$ ]]
}

@test "--progress=always draws one line and erases it; never and auto draw none in a pipe" {
    run -0 --separate-stderr petal check -c f.petal --progress=always keys
    is "$output" 1000
    [[ $stderr == *$'\r' && $stderr == $'\r'* && $stderr != *$'\n'* ]]
    for when in never auto; do
        run -0 --separate-stderr petal check -c f.petal --progress=$when keys
        is "$stderr" ""
    done
    refuses "--progress: unknown value 'sometimes'; choose one of auto|always|lines|never" petal check f.petal --progress=sometimes keys
}

@test "work without a known length shows its duration: opening a filter that arrives slowly" {
    mkfifo pipe
    for when in lines always; do
        "$PETAL" check - -e 7 --progress=$when <pipe >out 2>message 3>&- &
        exec 4<>pipe
        head -c 100 f.petal >&4
        wait_until grep -Eq 'opening standard input  [1-9][0-9]* s' message
        tail -c +101 f.petal >&4
        exec 4>&-
        wait $!
        is "$(cat out)" 7
    done
    [[ $(tail -c 1 message) == $'\r' ]] # the progress line was erased
    for when in auto never; do
        is "$({ sleep 1.2; cat f.petal; } | petal check - -e 7 --progress=$when 2>&1)" 7
    done
}

@test "on a terminal, progress appears after a second and disappears at the end" {
    needs_terminal
    run on_terminal "{ seq 10; sleep 1.3; seq 11 20; } | TERM=dumb '$PETAL' build --force -o f.petal"
    contains "$output" "standard input "
    contains "$output" " keys  "
    contains "$output" "f.petal: 20 keys added"
}

@test "on a terminal, plan prints the next step, build a summary, and type is bold" {
    needs_terminal
    run on_terminal "TERM=xterm '$PETAL' plan -n 100M -p 1%"
    contains "$output" "next: petal build -o FILE -n 100M -p 1% KEYS"
    contains "$output" $'\x1b[1m'
    run on_terminal "'$PETAL' build --force -o f.petal keys"
    contains "$output" "f.petal: 1,000 keys added, 1,280 bytes"
}

@test "NO_COLOR and TERM=dumb switch colour off, but an empty NO_COLOR does not" {
    needs_terminal
    run on_terminal "TERM=xterm NO_COLOR=1 '$PETAL' info f.petal"
    [[ $output != *$'\x1b'* ]]
    run on_terminal "TERM=dumb '$PETAL' info f.petal"
    [[ $output != *$'\x1b'* ]]
    run on_terminal "TERM=xterm NO_COLOR= '$PETAL' info f.petal"
    contains "$output" $'\x1b[1m'
    run on_terminal "TERM=xterm '$PETAL' info missing"
    contains "$output" $'\x1b[1mpetal:\x1b[0m missing'
}

@test "on a terminal, check --explain aligns its columns and adds a last line" {
    needs_terminal
    petal create -o tiny.petal --scheme classic --bits 11 --hashes 2 --seed 197072
    printf 'a\nb\n' | petal add tiny.petal
    run on_terminal "TERM=dumb '$PETAL' check tiny.petal --explain -e a -e c -e g"
    is "$output" $'a   probably in    bit 3 set, bit 5 set
c   probably in    bit 8 set, bit 3 set
g   certainly not  bit 5 set, bit 1 clear
3 of 11 bits set: an absent key passes 7.4 % of the time'
}

@test "if keys come from the terminal, the tool prompts for them" {
    needs script
    needs_terminal
    run bash -c "printf '7\n\004' | script -qec \"TERM=dumb '$PETAL' check f.petal\" /dev/null"
    contains "$output" "petal: reading keys from the terminal, Ctrl-D ends"
}

@test "the next step that plan prints makes the planned filter" {
    needs_terminal
    for options in '-n 1234567 -p 0.5%' '-n 1000 -p 1e-7' '-n 5000 --memory 8KiB' '--memory 1MB' '-n 100 --bits 1000 --hashes 3' \
        '-n 5k -p 1% --scheme classic'; do
        next=$(on_terminal "TERM=dumb '$PETAL' plan $options" | sed -n 's/^next: petal build -o FILE \(.*\) KEYS$/\1/p')
        [ -n "$next" ] || fail "no next: $options"
        petal build --force -o n.petal $next </dev/null
        for name in bits hashes capacity; do
            is "$(petal info --json n.petal | field $name)" "$(petal plan --json $options | head -n 1 | field $name)"
        done
    done
}
