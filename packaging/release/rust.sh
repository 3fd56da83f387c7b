# rust.sh - runs the checks that Cargo performs before publishing a crate, and a program that uses
# both crates. Sourced by scripts/release, not run.

crates=$work/rust/petal-rust-$version
in_crate() { # in_crate NAME COMMAND...
    (cd "$crates/$1" && shift && CARGO_TARGET_DIR=$work/rust/target CARGO_TERM_COLOR=never "$@")
}
# petal-bloom needs this version of petal-bloom-sys, which is not in the registry yet.
beside='patch.crates-io.petal-bloom-sys.path="../petal-bloom-sys"'
can_be_published() { # Cargo only warns of missing fields, but each warning is a fault
    in_crate "$@" >"$TMPDIR/cargo" 2>&1
    cargo_status=$?
    cat "$TMPDIR/cargo"
    [ $cargo_status -eq 0 ] && ! grep '^warning: ' "$TMPDIR/cargo" | grep -v 'due to dry run'
}
dedupes() {
    in_crate petal-bloom cargo build -q --example dedupe --config "$beside" &&
        [ "$(printf 'a\nb\na\n' | "$work/rust/target/debug/examples/dedupe" | tr '\n' ' ')" = 'a b ' ]
}
for file in $(made 'petal-rust-*.tar.gz'); do
    mkdir "$work/rust" && tar -xzf "$packages/$file" -C "$work/rust"
    if ! command -v cargo >/dev/null; then
        skip "$file: cargo publish" 'not installed: cargo'
    elif ! in_crate petal-bloom-sys cargo fetch >"$work/logs/cargo.log" 2>&1; then
        skip "$file: cargo publish" 'unreachable: the crate that petal-bloom-sys needs to build'
    else
        # The second command compiles both crates.
        checked "$file" 'petal-bloom-sys: cargo publish --dry-run' can_be_published petal-bloom-sys \
            cargo publish --dry-run --allow-dirty --no-verify
        checked "$file" 'petal-bloom: cargo publish --dry-run' can_be_published petal-bloom \
            cargo publish --dry-run --allow-dirty --config "$beside"
        checked "$file" 'its example runs' dedupes
    fi
done
