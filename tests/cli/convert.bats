# Promise: the tool builds, reads, converts, merges and grows other libraries' files with
# byte-for-byte results, and never guesses a format silently.

load helper
vectors=$PETAL_ROOT/vectors

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 1 500 >keys
}

@test "guava, guava32, spark and spark-v1 files survive a round trip through petal unchanged" {
    for format in guava guava32 spark spark-v1; do
        petal build -o "$format.bin" --to "$format" keys
        petal convert "$format.bin" "$format.petal" --from "$format"
        petal verify "$format.petal"
        petal convert "$format.petal" "$format.back" --to "$format"
        cmp "$format.bin" "$format.back"
    done
}

@test "a real Guava file can be queried, and its converted form gives the same answers" {
    file=$vectors/guava/utf8_n100_p0.01_mitz64.bin
    seq 0 20000 | sed 's/^/key-/' >asked
    petal check --from guava "$file" asked >here
    [ "$(head -n 100 here | tail -n 1)" = key-99 ]
    petal convert "$file" g.petal --from guava
    petal check g.petal asked >there
    cmp here there
}

@test "key types select Guava's funnels" {
    run petal check --from guava --key-type i32 -c "$vectors/guava/int_n100_p0.01_mitz64.bin" -e 0 -e 1 -e -1
    [ "$output" = 3 ]
    run petal check --from guava --key-type i64 -c "$vectors/guava/long_n100_p0.01_mitz64.bin" -e 0 -e 1 -e -1
    [ "$output" = 3 ]
    run petal check --from guava --key-type utf16le -c "$vectors/guava/unencoded_n100_p0.01_mitz64.bin" -e key-0 -e key-99
    [ "$output" = 2 ]
}

@test "without --from, a file that fits only one format is read as that format, with a message" {
    run --separate-stderr petal check "$vectors/guava/utf8_n100_p0.01_mitz64.bin" -e key-0
    [ "$status" -eq 0 ]
    [ "$output" = key-0 ]
    [[ $stderr == *"looks like guava"*"--from guava"* ]]
}

@test "bits are never translated: if a format cannot store the scheme, it is refused with the reason" {
    petal build -o n.petal keys
    refuses "guava cannot hold a blocked filter with xxh3" petal convert n.petal n.guava --to guava
    [ ! -e n.guava ]
}

@test "an unknown format is refused, and the message lists the known ones" {
    refuses "there is no format guawa, did you mean guava? See petal formats" petal convert keys out --to guawa
    refuses "there is no format redis, did you mean redisbloom?" petal convert keys out --to redis
    refuses "there is no format zzz; there are petal, guava, " petal convert keys out --to zzz
}

@test "building for another library from a pipe gives the same file as from a file" {
    petal build -o a --to guava keys
    cat keys | petal build -o b --to guava
    cmp a b
}

@test "petal add replaces another library's file, which stays that library's file" {
    petal build -o g -n 1000 --to guava keys
    echo more | petal add g --from guava
    petal check --from guava g -q -e more
    petal check --from guava g -c keys >count
    [ "$(cat count)" = 500 ]
    petal build -o both -n 1000 --to guava keys - <<<more
    cmp g both
}

@test "files of another library merge into a file of that library, or into a petal file with --to" {
    head -n 250 keys >first
    tail -n 250 keys >second
    petal create -o empty -n 500 --to guava
    petal build -o a -n 500 --to guava first
    petal build -o b -n 500 --to guava second
    petal build -o all -n 500 --to guava keys
    petal merge --from guava -o ab a b
    cmp ab all
    petal merge --from guava --to petal -o ab.petal a b
    petal verify ab.petal --present keys
}

@test "info reports what another library's file does not record" {
    run petal info --from guava "$vectors/guava/utf8_n100_p0.01_mitz64.bin"
    [[ $output == *"not in the file"*"the number of keys it was planned for"*"funnel"* ]]
    run petal info --json --from guava "$vectors/guava/utf8_n100_p0.01_mitz64.bin"
    [[ $output == *'"format":"guava"'*'"capacity":null'*'"items":null'* ]]
}

@test "an existing OUT is not overwritten without --force" {
    petal build -o a --to guava keys
    echo precious >out
    run petal convert a out --from guava
    [ "$status" -eq 2 ]
    [ "$(cat out)" = precious ]
    petal convert a out --from guava --force
    petal verify out
}

@test "if a format has no place for metadata, it is refused and not lost silently" {
    refuses "guava has no place for it" petal build -o a --to guava --metadata note keys
}

@test "the filters inside a Parquet file can be listed, queried and extracted" {
    file=$vectors/parquet/duckdb.parquet
    petal info "$file" >list
    column=$(awk 'NR == 3 { print $1 }' list)
    group=$(awk 'NR == 3 { print $2 }' list)
    [ "$(petal info --json "$file" | head -n 1 | field column)" = "$column" ]
    petal convert "$file" one.sbbf --to parquet --from "parquet:$column:$group"
    petal info --from parquet one.sbbf
    refuses "has no filter at nope" petal check "$file" --from parquet:nope -e x
    refuses "is a Parquet file" petal check "$file" -e x
    cp "$file" copy.parquet
    refuses "cannot be changed" petal add copy.parquet --from "parquet:$column:$group" keys
    cmp "$file" copy.parquet
}
