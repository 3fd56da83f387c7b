#!/usr/bin/env bats
# locks.bats - if two processes change the same file, each command either succeeds and adds all its
# keys, or is refused with a message.
load helper

BUSY="f.petal: busy: another process is changing it; try again when it has finished"

# start COMMAND... : runs petal in the background, reading from the fifo `in` (descriptor 4). Sets
# $running to its process id.
start() {
    [ -p in ] || mkfifo in
    exec 4<>in
    "$PETAL" "$@" <in >out 2>message 3>&- 4>&- &
    running=$!
}

# Reads /proc/locks, because a second command that tested the lock would take it, and could make the
# first command fail.
is_locked() {
    [ -r /proc/locks ] || skip "no /proc/locks"
    grep -q "OFDLCK.*:$(stat -c %i "$1") " /proc/locks
}

finish() {
    exec 4>&-
    local status=0
    wait $running || status=$?
    return $status
}

@test "while add changes a file, no other command changes or replaces it" {
    petal create -o f.petal -n 1000
    petal build -o g.petal --template f.petal <<<g
    start add f.petal
    seq 100 >&4
    wait_until is_being_changed f.petal
    is_busy "$BUSY" petal add f.petal <<<x
    is_busy "$BUSY" petal seen -f f.petal <<<x
    is_busy "$BUSY" petal merge --force -o f.petal g.petal
    is_busy "$BUSY" petal merge --force -o f.petal f.petal g.petal
    is_busy "$BUSY" petal intersect --force -o f.petal g.petal
    is_busy "$BUSY" petal build --force -o f.petal -- <<<x
    is_busy "$BUSY" petal create --force -o f.petal -n 10
    is_busy "$BUSY" petal convert --force g.petal f.petal
    is_busy "$BUSY" petal verify --recover f.petal
    finish
    is "$(seq 100 | petal check -c f.petal)" 100
    petal verify f.petal
    is "$(ls)" $'f.petal\ng.petal\nin\nmessage\nout'
}

@test "a command that would replace a busy file fails before it does any work" {
    petal create -o f.petal -n 1000
    petal build -o g.petal --template f.petal <<<g
    start add f.petal
    seq 100 >&4
    wait_until is_being_changed f.petal
    mkfifo never # no process writes to the fifo, so a reader would wait forever
    is_busy "$BUSY" timeout 60 "$PETAL" build --force -o f.petal never
    is_busy "$BUSY" timeout 60 "$PETAL" build --force -o f.petal -n 10 never
    is_busy "$BUSY" petal merge --force -o f.petal g.petal no-such.petal
    is_busy "$BUSY" petal convert --force no-such.petal f.petal
    finish
    echo "no filter" >text
    petal build --force -o text <<<x # --force may replace any regular file
    petal verify text
}

@test "check and info read a file that is being changed, and print a message" {
    petal create -o f.petal -n 100000 -p 1e-6
    seq 100 | petal add f.petal
    start add f.petal
    seq 101 200 >&4
    wait_until is_being_changed f.petal
    run -0 --separate-stderr petal check -c f.petal <<<"$(seq 100)"
    is "$output" 100
    is "$stderr" "petal: f.petal: being changed by another process; keys of the last sync are found, later ones may be"
    run -0 --separate-stderr petal info --json f.petal
    is "$(field capacity <<<"$output")" 100000
    is "${#stderr_lines[@]}" 1
    finish
    run -0 --separate-stderr petal check -c f.petal <<<"$(seq 200)"
    is "$output$stderr" 200
}

@test "growing files are locked from loading to saving" {
    petal create -o f.petal -n 1000 --grow
    start add f.petal
    seq 100 >&4
    wait_until is_locked f.petal
    is_busy "$BUSY" petal add f.petal <<<x
    is_busy "$BUSY" petal seen -f f.petal <<<x
    finish
    is "$(seq 100 | petal check -c f.petal)" 100
}

@test "files of other libraries are locked from loading to saving" {
    petal create -o f.petal -n 1000 --to guava
    start add --from guava f.petal
    wait_until is_locked f.petal
    is_busy "$BUSY" petal add --from guava f.petal <<<x
    seq 100 >&4
    finish
    is "$(seq 100 | petal check --from guava -c f.petal)" 100
}

@test "if two seen -f create one FILE, one of them passes lines on and the other passes none" {
    start seen -f f.petal
    echo first >&4
    wait_until grep -qx first out
    is_busy "$BUSY" petal seen -f f.petal <<<x
    is_busy "$BUSY" petal add f.petal <<<x
    finish
    is "$(cat out)" first
    is "$(cat message)" ""
    is "$(printf 'first\nx\n' | petal seen -f f.petal)" x
}

@test "if many seen -f create one FILE, exactly those that succeed pass on every line" {
    for round in 1 2 3 4 5; do
        rm -f f.petal out.*
        for i in 1 2 3 4 5 6; do
            { petal seen -f f.petal -n 100 <<<"$i" >out.$i 2>message.$i && touch done.$i; } 3>&- &
        done
        wait
        for i in 1 2 3 4 5 6; do
            if [ -e done.$i ]; then
                is "$(cat out.$i)" $i
                petal check -q f.petal -e $i
            else
                is "$(cat out.$i)" ""
                is "$(cat message.$i)" "petal: $BUSY"
            fi
            rm -f done.$i
        done
    done
}

@test "if another process replaces a file, the tool leaves it alone and says so" {
    for policy in "" --grow; do
        for command in "add f.petal" "seen -f f.petal"; do
            rm -f f.petal
            petal create -o f.petal -n 1000 $policy
            petal create --force -o g.petal -n 1000 $policy
            start $command
            seq 100 >&4
            if [ "$command$policy" = "add f.petal" ]; then wait_until is_being_changed f.petal; else
                wait_until is_locked f.petal; fi
            [ "$command" != "seen -f f.petal" ] || wait_until grep -qx 100 out
            mv g.petal f.petal
            status=0
            finish || status=$?
            is $status 2
            is "$(cat message)" "petal: f.petal: was replaced or deleted meanwhile; your changes are lost, apply them again"
            is "$(petal info --json f.petal | field items)" 0
        done
    done
}

@test "--no-lock takes no lock, and checks none" {
    petal create -o f.petal -n 1000
    start add f.petal
    seq 100 >&4
    wait_until is_being_changed f.petal
    petal build --force --no-lock -o f.petal <<<x
    status=0
    finish || status=$?
    is $status 2
    is "$(petal info --json f.petal | field items)" 1
}

@test "merge and convert can replace one of their inputs" {
    petal build -o a.petal -n 100 <<<a
    petal build -o b.petal --template a.petal <<<b
    petal merge --force -o a.petal a.petal b.petal
    is "$(petal check -c a.petal -e a -e b)" 2
    petal intersect --force -o a.petal a.petal a.petal
    is "$(petal check -c a.petal -e a -e b)" 2
    refuses "b.petal: is read from as well" petal merge --force -o b.petal a.petal b.petal
    petal convert --force a.petal a.petal
    is "$(petal check -c a.petal -e a -e b)" 2
    petal build -o c.petal --scheme counting -n 100 <<<c
    refuses "c.petal: is read from as well" petal convert --force --to-scheme classic c.petal c.petal
}

@test "a file that a writer left half changed can be recovered, whatever its kind" {
    for kind in "" "--scheme classic" "--scheme counting"; do
        rm -f f.petal
        petal create -o f.petal -n 100000 $kind
        seq 1000 | petal add f.petal
        start add f.petal
        seq 1001 2000 >&4
        wait_until is_being_changed f.petal
        kill -9 $running
        finish || true
        refuses "f.petal: dirty" petal check f.petal -e 1
        run -0 --separate-stderr petal verify --recover f.petal
        [[ $stderr =~ "petal: f.petal: "[0-9]+" of "[1-9][0-9]*" blocks differ from their last checksums" ]] || fail "$stderr"
        is "$(seq 1000 | petal check -c f.petal)" 1000
        petal verify f.petal
    done
}

@test "a file of another owner keeps its owner, and is not replaced without --force" {
    [ "$(id -u)" -eq 0 ] || skip "only root can make a file of another owner"
    setpriv --reuid 1 --clear-groups true 2>/dev/null || skip "cannot become another user here"
    petal create -o f.petal -n 1000 --grow
    petal build -o g.petal -n 1000 <<<g
    chmod 666 f.petal g.petal
    chmod 777 .
    petal add f.petal <<<a
    is "$(stat -c '%u %a' f.petal)" "0 666"
    chown 2 f.petal
    petal add f.petal <<<b
    is "$(stat -c '%u %a' f.petal)" "2 666"
    refuses "f.petal: cannot keep its owner" setpriv --reuid 1 --clear-groups "$PETAL" add f.petal <<<c
    is "$(petal info --json f.petal | field items)" 2
    setpriv --reuid 1 --clear-groups "$PETAL" convert --force g.petal f.petal
    is "$(stat -c '%u %a' f.petal)" "1 666"
    is "$(ls)" $'f.petal\ng.petal'
}

@test "charts and files of shards keep their mode, and leave no temporary files" {
    petal plan -n 1000 --chart c.svg >table
    chmod 600 c.svg
    ln -s c.svg link.svg
    petal plan -n 1000 --chart link.svg --force >table
    is "$(stat -c %a c.svg)" 600
    [ -L link.svg ]
    seq 100 | petal shard -n 2 -o p-%d
    chmod 640 p-1
    seq 100 | petal shard -n 2 -o p-%d --force
    is "$(stat -c %a p-1)" 640
    is "$(ls | paste -sd' ')" "c.svg link.svg p-0 p-1 table"
}
