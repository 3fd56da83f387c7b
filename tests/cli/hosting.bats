#!/usr/bin/env bats
# hosting.bats - examples/hosting: a client that follows the published files ends up with the same
# filter byte for byte, even if it missed versions, and downloads no more than necessary.
load helper

# Each version has 1 % more keys than the previous version.
setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    PATH=$(dirname "$PETAL"):$PETAL_ROOT/examples/hosting:$PATH
    mkdir host
    seq 50000 | petal build -n 60000 -o urls.petal
}

next_version() {
    seq "$1" $(($1 + 499)) | petal add urls.petal
    publish "${@:2}" urls.petal host 2>said
}

id_of() { petal info --json "$1" | field content_id; }
manifest_has() { grep -q -e "$1" host/manifest.json; }

manifest_is_sound() { python3 "$BATS_TEST_DIRNAME/lib/check-manifest.py" host/manifest.json; }

@test "a client that is one or several versions behind, or has none, gets exactly the published file" {
    needs python3
    publish urls.petal host
    manifest_is_sound
    manifest_has '"patches": \[\]'
    run -0 --separate-stderr follow host one.petal
    contains "$stderr" "the whole file"
    cmp one.petal urls.petal
    for version in 1 2 3 4 5; do
        cp one.petal $version.petal # the file of a client that has not seen this version
        next_version $((version * 1000 + 50000))
        manifest_is_sound
        run -0 --separate-stderr follow host one.petal
        [[ $stderr =~ "follow: one.petal: patches: 1, "[1-9][0-9]*" bytes"$ ]] || fail "$stderr"
        cmp one.petal host/urls-"$(id_of urls.petal)".petal
    done
    for version in 1 2 3 4 5; do
        run -0 --separate-stderr follow host $version.petal
        [[ $stderr =~ "follow: $version.petal: patches: $((6 - version)), "[1-9][0-9]*" bytes"$ ]] || fail "$stderr"
        cmp $version.petal one.petal
    done
    run -0 --separate-stderr follow host one.petal
    is "$stderr" "follow: one.petal is up to date"
    is "$(seq 50000 | petal check -c one.petal)" 50000
    is "$(ls -A | grep follow || true)" ""
}

@test "an update by one version costs a few percent of the file" {
    publish urls.petal host
    next_version 60000
    [ $(($(cat host/*.patch | wc -c) * 20)) -lt "$(cat host/urls-"$(id_of urls.petal)".petal | wc -c)" ]
}

@test "old versions are deleted, and clients that have them load the whole file" {
    publish -n 2 urls.petal host
    follow host old.petal
    for version in 1 2 3 4; do
        next_version $((version * 1000 + 50000)) -n 2
        [ "$(grep -c '"from"' host/manifest.json)" -le 2 ]
        # One old file and one old patch are kept for clients that have just read the previous
        # manifest.
        [ "$(ls host/*.petal | wc -l)" -le 2 ]
        [ "$(ls host/*.patch | wc -l)" -le 3 ]
    done
    run -0 --separate-stderr follow host old.petal
    contains "$stderr" "the whole file"
    cmp old.petal host/urls-"$(id_of urls.petal)".petal
}

@test "if the patches together are not smaller than the file, they are left out" {
    publish urls.petal host
    follow host one.petal
    for version in 1 2 3; do # replaces all the keys
        seq ${version}000000 ${version}050000 | petal build -n 60000 -o urls.petal --force
        publish urls.petal host
        is "$(grep -c '"from"' host/manifest.json)" 1
    done
    run -0 --separate-stderr follow host one.petal
    contains "$stderr" "the whole file"
    cmp one.petal urls.petal
}

@test "a filter of another size begins a new chain, and a version that was published before can come back" {
    publish urls.petal host
    follow host one.petal
    cp urls.petal first.petal
    next_version 60000
    seq 10 | petal build -n 100 -o urls.petal --force
    run -0 --separate-stderr publish urls.petal host
    contains "$stderr" "cannot make a patch from"
    manifest_has '"patches": \[\]'
    follow host one.petal
    cmp one.petal urls.petal
    publish -N urls first.petal host
    next_version 61000
    publish -N urls first.petal host
    follow host one.petal
    is "$(id_of one.petal)" "$(id_of first.petal)"
}

@test "publishing the same filter again changes nothing" {
    publish urls.petal host
    cp host/manifest.json before
    run -0 --separate-stderr publish urls.petal host
    contains "$stderr" "is published already"
    cmp host/manifest.json before
    is "$(ls -A host | wc -l)" 2
}

@test "if a patch is damaged or missing, the client loads the whole file; if that is bad too, it keeps its old file" {
    publish urls.petal host
    follow host one.petal
    cp one.petal two.petal
    cp one.petal copy
    next_version 60000
    patch=$(ls host/*.patch)
    flip "$patch" 700 01
    run -0 --separate-stderr follow host one.petal
    contains "$stderr" "the patch is damaged at byte"
    contains "$stderr" "the whole file"
    cmp one.petal host/urls-"$(id_of urls.petal)".petal
    rm "$patch"
    flip host/urls-"$(id_of urls.petal)".petal 9000 01
    run -2 --separate-stderr follow host two.petal
    cmp two.petal copy
    rm host/manifest.json
    run -2 --separate-stderr follow host two.petal
    contains "$stderr" "two.petal is as it was"
    cmp two.petal copy
    is "$(ls -A | grep 'follow' || true)" ""
}

@test "keyed filters and files of other libraries can be published" {
    printf 'sixteen bytes...' >secret
    seq 1000 | petal build -n 5000 --secret-file secret -o keyed.petal
    publish -k secret keyed.petal host
    follow -k secret host one.petal
    seq 1001 1050 | petal add --secret-file secret keyed.petal
    publish -k secret keyed.petal host
    run -0 --separate-stderr follow -k secret host one.petal
    contains "$stderr" "patches: 1"
    is "$(seq 1050 | petal check -c --secret-file secret one.petal)" 1050
    mkdir other
    petal create --to guava -n 5000 -o f.guava
    seq 1000 | petal add --from guava f.guava
    publish f.guava other
    follow other two.petal
    seq 1001 1050 | petal add --from guava f.guava
    publish f.guava other
    run -0 --separate-stderr follow other two.petal
    contains "$stderr" "patches: 1"
    petal convert two.petal back.guava --to guava
    cmp back.guava f.guava
}

@test "a client can use a URL" {
    needs curl
    publish urls.petal host
    follow "file://$PWD/host" one.petal
    next_version 60000
    run -0 --separate-stderr follow "file://$PWD/host" one.petal
    contains "$stderr" "patches: 1"
    cmp one.petal host/urls-"$(id_of urls.petal)".petal
}

@test "misuse, a second publisher at work, and manifests of other programs are refused" {
    run -2 --separate-stderr publish urls.petal
    contains "$stderr" "usage: publish"
    run -2 --separate-stderr follow host
    contains "$stderr" "usage: follow"
    for script in publish follow; do
        for ask in --help -h; do
            run -0 --separate-stderr $script $ask
            is "$stderr" ""
            contains "${lines[0]}" "usage: $script [-"
            contains "$output" "manifest"
            ! grep -q '^#\|^set' <<<"$output" || fail "$output"
        done
    done
    run -2 --separate-stderr publish urls.petal gone
    contains "$stderr" "gone: no such folder"
    run -2 --separate-stderr publish -n many urls.petal host
    contains "$stderr" "not a number"
    cp urls.petal 'a b.petal'
    run -2 --separate-stderr publish 'a b.petal' host
    contains "$stderr" "give one with -N"
    mkdir host/.publishing
    run -2 --separate-stderr publish urls.petal host
    contains "$stderr" "another publish is at work"
    rmdir host/.publishing
    echo '{}' >host/manifest.json
    run -2 --separate-stderr publish urls.petal host
    contains "$stderr" "not a manifest of this script"
    is "$(ls -A host)" manifest.json
    printf '{\n  "version": 2,\n  "id": "0000000000000000",\n' >host/manifest.json
    run -2 --separate-stderr follow host one.petal
    contains "$stderr" "a manifest of another version"
    printf '{\n  "version": 1,\n  "id": "0000000000000000",\n  "file": "../urls.petal",\n  "bytes": 1,\n' >host/manifest.json
    run -2 --separate-stderr follow host one.petal
    contains "$stderr" "no name for a file"
    [ ! -e one.petal ]
}
