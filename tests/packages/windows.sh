#!/bin/sh
# windows.sh - under Wine, petal.exe builds and queries filters, and creates the same files as the
# tool built on this machine. The library's tests pass under Wine. A file is safe while another
# process writes or reads it.
set -u
. tests/packages/lib/packages.sh
needs_wine
needs unzip bats || finish
needs_zig
folder=$TMPDIR/petal-$version-windows-x86_64
unpacks() { unzip -q "$packages/petal-$version-windows-x86_64.zip" -d "$TMPDIR"; }
has_all() {
    has_files "$folder" petal.exe petal.txt LICENSE LICENSE-xxhash LICENSE-zlib LICENSE-zig \
        LICENSE-mingw-w64
}
# In Wine, reading from Linux's /dev/null never ends, so the test uses an empty pipe instead. Wine
# also expects file names and arguments in the locale's encoding.
command_of_wine() {
    mkdir -p "$TMPDIR/bin"
    {
        echo '#!/bin/sh'
        echo 'export LC_ALL=C.UTF-8'
        echo "set -- $wine '$folder/petal.exe' \"\$@\""
        echo 'if [ /proc/self/fd/0 -ef /dev/null ]; then : | "$@"; else exec "$@"; fi'
    } >"$TMPDIR/bin/petal"
    chmod +x "$TMPDIR/bin/petal"
    exe=$TMPDIR/bin/petal
}
ok 'unpacks' unpacks
ok 'has all files' has_all
command_of_wine
cd "$TMPDIR" || exit 2
says_version() { "$exe" --version | grep "^petal $version"; }
ok 'prints its version' says_version

gzip -dc "$OLDPWD/examples/data/urls.txt.gz" >urls
cd "$OLDPWD" || exit 2
same_files() {
    for scheme in blocked classic counting; do
        petal build --scheme $scheme --force -o "$TMPDIR/here.petal" "$TMPDIR/urls" &&
            "$exe" build --scheme $scheme --force -o "$TMPDIR/there.petal" "$TMPDIR/urls" &&
            cmp "$TMPDIR/here.petal" "$TMPDIR/there.petal" || return 1
    done
}
ok 'makes the same files as here' same_files
ok 'the demonstration on real addresses' sh examples/demo.sh "$TMPDIR/bin"

# ---- names, streams, files that others have open -------------------------------------------------

unicode() {
    name=$TMPDIR/grün-花.petal
    "$exe" create -n 100 -o "$name" && "$exe" add "$name" -e ключ && [ -s "$name" ] &&
        petal check "$name" -e ключ
}
long_name() {
    long=$TMPDIR/$(printf 'x%.0s' $(seq 150))/$(printf 'y%.0s' $(seq 150))
    mkdir -p "$long" && "$exe" create -n 100 -o "$long/f.petal" && "$exe" add "$long/f.petal" -e a &&
        "$exe" verify "$long/f.petal"
}
binary() { # checks that no CR is added, and that 0x1a doesn't end the input
    printf 'a\032b\nc\n' >"$TMPDIR/keys"
    "$exe" seen "$TMPDIR/keys" | cmp - "$TMPDIR/keys" &&
        "$exe" seen <"$TMPDIR/keys" | cmp - "$TMPDIR/keys"
}
remembers() {
    head -n 500 "$TMPDIR/urls" | sort -u >"$TMPDIR/some"
    "$exe" seen -f "$TMPDIR/seen.petal" -n 1000 "$TMPDIR/some" | cmp - "$TMPDIR/some" &&
        ! "$exe" seen -f "$TMPDIR/seen.petal" "$TMPDIR/some" | grep . && petal verify "$TMPDIR/seen.petal"
}
# A writer that waits for more keys holds the lock. Another writer must be refused, but a reader
# must succeed.
one_writer() {
    "$exe" create --force -n 1000 -o "$TMPDIR/busy.petal" && mkfifo "$TMPDIR/more" || return 1
    "$exe" add "$TMPDIR/busy.petal" <"$TMPDIR/more" &
    writer=$!
    exec 8>"$TMPDIR/more"
    echo first >&8
    tries=0
    until ! "$exe" add "$TMPDIR/busy.petal" -e second 2>"$TMPDIR/refusal"; do
        tries=$((tries + 1)) && [ $tries -lt 100 ] || break
    done
    "$exe" info "$TMPDIR/busy.petal" >/dev/null 2>&1
    read_status=$?
    exec 8>&-
    wait $writer && grep 'busy' "$TMPDIR/refusal" && [ $read_status -eq 0 ] &&
        "$exe" check -q "$TMPDIR/busy.petal" -e first && "$exe" verify "$TMPDIR/busy.petal"
}
nothing_left() { ! find "$TMPDIR" -name '.petal-tmp-*' -o -name '*.tmp-*' | grep .; }
ok 'names in any script, and keys' unicode
ok 'paths of more than 260 characters' long_name
ok 'streams are binary' binary
ok 'seen -f remembers' remembers
ok 'one writer at a time, and readers at the same time' one_writer
ok 'no temporary file is left behind' nothing_left

# ---- the library's own tests ---------------------------------------------------------------------

passes() { $wine "$TMPDIR/$1.exe"; }
for test in formats/vectors unit/golden unit/hashes unit/counting unit/keyed unit/life; do
    name=${test#*/}
    ok "$test compiles" cross_test windows-x86_64 $test "$TMPDIR/$name.exe"
    ok "$test passes" passes $name
done
for test in files locks sharing threads; do
    skip "unit/$test" 'this machine: calls of POSIX in the test, which Windows has not'
done

# The following tests of the tool don't use POSIX signals, fifos or file modes, and don't run many
# commands.
clis() { PETAL=$exe bats --tap "tests/cli/$1.bats"; }
for name in compare convert formats merge numbers; do ok "tests/cli/$name.bats passes" clis $name; done
skip 'the rest of tests/cli, tests/crash' \
    'this machine: they use signals, fifos, modes and limits of POSIX, which Windows has not'
finish
