#!/bin/sh
# tool.sh - the static tool for Linux requires only a kernel, on x86-64 and on 64-bit ARM. The
# static tool creates the same files as the tool built on this machine, and uses the best
# instructions that the CPU supports.
set -u
. tests/packages/lib/packages.sh
needs qemu-aarch64 qemu-x86_64 readelf || finish
needs_zig

is_small() { [ "$(wc -c <"$packages/petal-$version-$1.tar.gz")" -lt 1000000 ]; }
is_static() { ! readelf -lW "$unpacked/bin/petal" | grep -e INTERP -e NEEDED; }
has_all() {
    has_files "$unpacked/share" man/man1/petal.1 bash-completion/completions/petal \
        zsh/site-functions/_petal fish/vendor_completions.d/petal.fish &&
        has_files "$unpacked/share/doc/petal" LICENSE LICENSE-xxhash LICENSE-zlib LICENSE-musl \
            LICENSE-zig
}
says_version() { "$TMPDIR/$1/petal" --version | tee /dev/stderr | grep -q "^petal $version"; }
same_file() { # compares its files with those of the tool built on this machine
    gzip -dc examples/data/urls.txt.gz | head -n 5000 >"$TMPDIR/urls" &&
        for scheme in blocked classic counting; do
            petal build --scheme $scheme --force -o "$TMPDIR/here.petal" "$TMPDIR/urls" &&
                "$TMPDIR/$1/petal" build --scheme $scheme --force -o "$TMPDIR/there.petal" "$TMPDIR/urls" &&
                cmp "$TMPDIR/here.petal" "$TMPDIR/there.petal" || return 1
        done
}
reads_gzip() {
    for file in vectors/dcso/*.gz; do
        "$TMPDIR/$1/petal" info --from dcso-gzip "$file" || return 1
    done
}
demo() { sh examples/demo.sh "$TMPDIR/$1"; }

for system in linux-x86_64 linux-aarch64; do
    ok "$system: unpacks" unpacked $system
    case $system in
    *aarch64) command_of "$TMPDIR/$system" qemu-aarch64 "$unpacked/bin/petal" ;;
    *) command_of "$TMPDIR/$system" "$unpacked/bin/petal" ;;
    esac
    ok "$system: is below 1 MB" is_small $system
    ok "$system: needs no library" is_static
    ok "$system: contains the manual, completions and licences" has_all
    ok "$system: prints its version" says_version $system
    ok "$system: makes the same files as here" same_file $system
    ok "$system: reads gzip" reads_gzip $system
    ok "$system: the demonstration on real addresses" demo $system
done

# The tool selects its kernel at run time. Each CPU below supports more instructions than the
# previous one.
chooses() { qemu-x86_64 -cpu "$1" "$TMPDIR/petal-$version-linux-x86_64/bin/petal" --version | tee /dev/stderr | grep -q "$2 on this CPU"; }
ok 'on the first x86-64 CPUs: the portable kernel' chooses qemu64 generic
ok 'on a CPU of 2008: SSE4.1' chooses Nehalem sse4
ok 'on a CPU of 2013: AVX2' chooses Haswell avx2
if grep -q avx512dq /proc/cpuinfo; then
    ok 'here: AVX-512' "$TMPDIR/linux-x86_64/petal" --version
    avx512() { "$TMPDIR/linux-x86_64/petal" --version | grep avx512; }
    ok 'here: AVX-512, by name' avx512
else
    skip 'here: AVX-512' 'this machine has none'
fi

for test in formats/vectors unit/golden; do
    name=${test#*/}
    ok "linux-aarch64: $test compiles" cross_test linux-aarch64 $test "$TMPDIR/$name"
    ok "linux-aarch64: $test passes" qemu-aarch64 "$TMPDIR/$name"
done
finish
