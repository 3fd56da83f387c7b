# rust.sh - queries the keys with the Rust crates; see hosts.sh.
name=Rust
prepare() {
    needs cargo cc python3 || return 1
    petal_crates && bindings/rust/crates "$1/crates" &&
        mkdir -p "$1/hosts/src" "$1/hosts/.cargo" && cp "$hosts/hosts.rs" "$1/hosts/src/main.rs" &&
        vendored "$(petal_crates_folder)" >"$1/hosts/.cargo/config.toml" &&
        printf '[package]\nname = "hosts"\nedition = "2021"\n[dependencies]\npetal-bloom.path = "%s"\n[workspace]\n' \
            "$1/crates/petal-bloom" >"$1/hosts/Cargo.toml" &&
        (cd "$1/hosts" && CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$1/target cargo build -q)
}
ask() { "$here/target/debug/hosts" "$@"; }
