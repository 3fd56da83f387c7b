#!/bin/sh
# The crates, as they are published, read every vector and misuse every call; their documents and
# example run; clippy has nothing to say, about newer standard libraries neither (rust-version).
#
# What they need (bindings/rust/needs) stays in build/interop. It is installed by ./dev test --all
# and by ./dev test bindings/rust; without it, this is a skip.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/rust
work=$PWD/build/bindings/rust
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs cargo cc python3 ldd || finish
crates=rust-$(built_of "$here/needs" "$here/Cargo.toml" "$here/sys/Cargo.toml")
may_install "$crates" cargo bindings/rust || finish
get_crates() { # `cargo add` does not say why it fails
    cargo init -q --vcs none --lib --name needs &&
        sed 's/\(.*\)@\(.*\)/\1 = "\2"/' "$here/needs" >>Cargo.toml && cargo vendor -q vendor
}
install "$crates" 'what bindings/rust/needs lists' get_crates || finish

# ---- the crates ----------------------------------------------------------------------------------

# Always the same paths, so that what was compiled stays valid.
exec 8>"$work/lock"
! command -v flock >/dev/null || flock 8
CARGO_TARGET_DIR=$work/target CARGO_PROFILE_DEV_DEBUG=0
CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never
PETAL_REPOSITORY=$PWD PETAL_FACTS=$work/facts
export CARGO_TARGET_DIR CARGO_PROFILE_DEV_DEBUG CARGO_NET_OFFLINE CARGO_TERM_COLOR
export PETAL_REPOSITORY PETAL_FACTS
headers='include/petal/petal.h include/petal/petal_build.h include/petal/petal_host.h'

# If the library is the same, its old files stay: Cargo compiles it anew if one of them is newer.
fresh() {
    rm -rf "$work/new" && "$here/crates" "$work/new" || return 1
    ! diff -r "$work/crates/petal-bloom-sys" "$work/new/petal-bloom-sys" >/dev/null 2>&1 ||
        { rm -rf "$work/new/petal-bloom-sys" && mv "$work/crates/petal-bloom-sys" "$work/new"; }
    rm -rf "$work/crates" && mv "$work/new" "$work/crates"
}
made() {
    fresh && mkdir "$work/crates/.cargo" &&
        cp -R "$here/test" "$work/crates/petal-bloom/tests" &&
        rm "$work/crates/petal-bloom/tests/run.sh" &&
        documents "$here/README.md" docs/rust.md >"$work/crates/petal-bloom/tests/documents.rs" &&
        printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' \
            "$interop/$crates/vendor" >"$work/crates/.cargo/config.toml"
}
# Each program in ```rust becomes a test, which prints what its comments after "Output:" say.
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
facts() { # what the C compiler and Rust must agree on
    # shellcheck disable=SC2086 # words
    "$here/declare" --facts c $headers >"$work/facts.c" &&
        cc -Iinclude -o "$work/facts-program" "$work/facts.c" && "$work/facts-program" >"$work/facts" &&
        "$here/declare" --facts rust $headers >"$work/crates/petal-bloom/tests/facts.rs"
}
in_crates() { (cd "$work/crates" && "$@"); }
ok 'the crates are made' made
ok 'the C compiler says what is in the headers' facts
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
    ok "cargo test $*: every test ends well" test "$status" -eq 0 -a -s "$TMPDIR/lines"
}
relay_cargo --all-features
program=$(ls "$work"/target/debug/deps/misuse-* | grep -v '\.d$' | head -n 1)
ok 'a program needs the C library only' links_only "$program" libc libm libgcc_s
dedupe() { [ "$(printf 'a\nb\na\n' | "$work/target/debug/examples/dedupe" | tr '\n' ' ')" = 'a b ' ]; }
ok 'the example is compiled' in_crates cargo build -q --examples
ok 'the example prints each line once' dedupe
depends_on() {
    [ "$(in_crates cargo tree -q -p petal-bloom -e normal --prefix none | sed 's/ .*//' | tr '\n' ' ')" = \
        'petal-bloom petal-bloom-sys ' ]
}
ok 'a program needs no other crate' depends_on
if needs cargo-clippy; then
    ok 'clippy has nothing to say' \
        in_crates cargo clippy -q -p petal-bloom --all-features --all-targets -- -D warnings
fi
if needs rustfmt; then
    ok 'the Rust files are formatted' rustfmt --check --edition 2021 \
        --config use_small_heuristics=Max "$here"/src/lib.rs "$here"/test/*.rs "$here"/example/*.rs "$here"/sys/build.rs
fi
ok 'the documentation is complete' \
    in_crates env RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps -p petal-bloom --all-features
finish
