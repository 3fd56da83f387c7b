#!/bin/sh
# Tests the crates in the form in which they are published: every test vector, misuse of every call,
# and the code in the documents and in the example. clippy must find nothing, not even calls newer
# than rust-version. ./dev nightly also runs the tests under AddressSanitizer and with the oldest
# supported Rust.
#
# ./dev test --all and ./dev test bindings/rust install the dependencies (bindings/rust/needs) in
# build/interop. Without them, this test is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/rust
work=$PWD/build/bindings/rust
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs cargo cc python3 ldd || finish
crates=$(petal_crates_folder)
may_install "$crates" cargo bindings/rust || finish
petal_crates || finish

# ---- the crates ----------------------------------------------------------------------------------

# The paths are always the same, so that compiled files stay valid.
exec 8>"$work/lock"
! command -v flock >/dev/null || flock 8
CARGO_TARGET_DIR=$work/target CARGO_PROFILE_DEV_DEBUG=0
CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never
PETAL_REPOSITORY=$PWD PETAL_FACTS=$work/facts
export CARGO_TARGET_DIR CARGO_PROFILE_DEV_DEBUG CARGO_NET_OFFLINE CARGO_TERM_COLOR
export PETAL_REPOSITORY PETAL_FACTS
headers='include/petal/petal.h include/petal/petal_build.h include/petal/petal_host.h'

made() {
    petal_crates_into "$work/crates" && mkdir "$work/crates/.cargo" &&
        cp -R "$here/test" "$work/crates/petal-bloom/tests" &&
        rm "$work/crates/petal-bloom/tests/run.sh" &&
        documents "$here/README.md" docs/rust.md >"$work/crates/petal-bloom/tests/documents.rs" &&
        vendored "$crates" >"$work/crates/.cargo/config.toml"
}
# Each ```rust program becomes a test, which must print the text of its comments after "Output:".
documents() {
    awk '
        /^```rust$/ { inside = 1; count++; body = ""; said = ""; output = 0; next }
        /^```$/ && inside {
            inside = 0
            gsub(/println!\(/, "writeln!(out, ", body)
            printf "#[test]\nfn program_%d() -> Result<(), Box<dyn std::error::Error>> {\n", count
            printf "    #[allow(unused_imports)]\n    use std::fmt::Write as _;\n"
            printf "    let _folder = common::in_folder(\"program-%d\");\n", count
            printf "    #[allow(unused_mut)]\n    let mut out = String::new();\n%s", body
            printf "    assert_eq!(out, \"%s\");\n    Ok(())\n}\n", said
            next
        }
        !inside || /^# Ok/ { next }
        /^\/\/ Output:$/ { output = 1; next }
        output { line = substr($0, 4); gsub(/"/, "\\\"", line); said = said line "\\n"; next }
        { sub(/^# /, ""); if ($0 ~ /println!\(/) sub(/\);/, ")?;"); body = body "    " $0 "\n" }
        BEGIN { print "//! The programs of the documents.\nmod common;\n" }
    ' "$@"
}
facts() { # prints the facts on which the C compiler and Rust must agree
    # shellcheck disable=SC2086 # words
    "$here/declare" --facts c $headers >"$work/facts.c" &&
        cc -Iinclude -o "$work/facts-program" "$work/facts.c" && "$work/facts-program" >"$work/facts" &&
        "$here/declare" --facts rust $headers >"$work/crates/petal-bloom/tests/facts.rs"
}
in_crates() { (cd "$work/crates" && "$@"); }
ok 'the crates are made' made
ok 'the C compiler lists the contents of the headers' facts
ok 'the library is compiled' in_crates cargo build -q
ok 'the tests are compiled' in_crates cargo test -q --no-run --all-features

relay_cargo() { # relay_cargo ARGUMENT...: prints the tests of `cargo test` as lines of this test
    in_crates cargo test --no-fail-fast "$@" -- --show-output >"$TMPDIR/relayed" 2>&1
    status=$?
    failed_before=$tap_failed
    grep '^counted: ' "$TMPDIR/relayed" | sed 's/^/# /'
    grep -E '^test .* \.\.\. ' "$TMPDIR/relayed" >"$TMPDIR/lines"
    while read -r _ name; do
        tap_count=$((tap_count + 1))
        case $name in
        *'... ok') echo "ok $tap_count - ${name% ... ok}" ;;
        *'... ignored'*) echo "ok $tap_count - ${name% ... *} # SKIP ignored" ;;
        *)
            tap_failed=$((tap_failed + 1))
            echo "not ok $tap_count - ${name% ... *}"
            ;;
        esac
    done <"$TMPDIR/lines"
    [ "$failed_before" = "$tap_failed" ] || grep -A 12 'panicked at' "$TMPDIR/relayed" | sed 's/^/# /'
    ok "cargo test $*: every test passes" test "$status" -eq 0 -a -s "$TMPDIR/lines"
}
relay_cargo --all-features
program=$(ls "$work"/target/debug/deps/misuse-* | grep -v '\.d$' | head -n 1)
ok 'a program needs only the C library' links_only "$program" libc libm libgcc_s
dedupe() { [ "$(printf 'a\nb\na\n' | "$work/target/debug/examples/dedupe" | tr '\n' ' ')" = 'a b ' ]; }
ok 'the example is compiled' in_crates cargo build -q --examples
ok 'the example prints each line once' dedupe
depends_on() {
    [ "$(in_crates cargo tree -q -p petal-bloom -e normal --prefix none | sed 's/ .*//' | tr '\n' ' ')" = \
        'petal-bloom petal-bloom-sys ' ]
}
ok 'a program needs no other crate' depends_on
if needs cargo-clippy; then
    ok 'clippy finds nothing' \
        in_crates cargo clippy -q -p petal-bloom --all-features --all-targets -- -D warnings
fi
if needs rustfmt; then
    ok 'the Rust files are formatted' rustfmt --check --edition 2021 \
        --config use_small_heuristics=Max "$here"/src/lib.rs "$here"/test/*.rs "$here"/example/*.rs "$here"/sys/build.rs
fi
ok 'the documentation is complete' \
    in_crates env RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps -p petal-bloom --all-features

# ---- AddressSanitizer ----------------------------------------------------------------------------

# Only the C code is instrumented, but Rust allocates with malloc, so the sanitizer also tracks
# Rust's memory. The memory test is left out, since the sanitizer delays reusing freed memory.
sanitized() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    options=quarantine_size_mb=8:allocator_may_return_null=1:detect_leaks=1
    in_crates env CARGO_TARGET_DIR="$work/sanitized" RUSTFLAGS='-C link-arg=-lasan' \
        CFLAGS='-fsanitize=address -fno-omit-frame-pointer' \
        "CARGO_TARGET_$(printf %s "$host" | tr a-z- A-Z_)_RUNNER=env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=$options" \
        cargo test -q --all-features --target "$host" --test misuse --test vectors --test arrow
}
! nightly 'under AddressSanitizer' || ok 'under AddressSanitizer, every test ends well' sanitized

# ---- the oldest Rust -----------------------------------------------------------------------------

# Tests without the feature `arrow`, because its crates require a newer Rust. An old Cargo can't
# even read the manifests of these crates, so they are omitted from its vendor folder.
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$here/Cargo.toml")
get_oldest() { RUSTUP_HOME=$PWD rustup toolchain install "$oldest" --profile minimal --no-self-update; }
for_oldest() {
    rm -rf "$work/oldest" && mkdir -p "$work/oldest/vendor" &&
        cp -R "$work/crates" "$work/oldest/crates" && cd "$work/oldest/crates" || return 1
    rm -f Cargo.lock petal-bloom/tests/arrow.rs petal-bloom/tests/documents.rs &&
        sed -i '/arrow/d' petal-bloom/Cargo.toml &&
        cargo tree -q -p petal-bloom --all-features -e all --target all --prefix none -f '{p}' \
            >"$TMPDIR/tree" &&
        rm Cargo.lock || return 1
    for crate in $(sed 's/ .*//' "$TMPDIR/tree" | sort -u); do
        [ ! -d "$interop/$crates/vendor/$crate" ] ||
            ln -s "$interop/$crates/vendor/$crate" "$work/oldest/vendor" || return 1
    done
    interop=$work vendored oldest >.cargo/config.toml
}
with_oldest() {
    cd "$work/oldest/crates" && PATH=$(echo "$interop/rust-$oldest"/toolchains/*/bin):$PATH || return 1
    rustc --version | grep -F "rustc $oldest" && CARGO_TARGET_DIR=$work/oldest-target \
        cargo test -q --all-features --lib --tests
}
if nightly "with Rust $oldest"; then
    if ! command -v rustup >/dev/null; then
        skip "Rust $oldest" 'this machine: no rustup, which installs it'
    elif install "rust-$oldest" "Rust $oldest" get_oldest; then
        ok "the crates for Rust $oldest are made" eval '(for_oldest)'
        ok "with Rust $oldest, every test ends well" eval '(with_oldest)'
    fi
fi
finish
