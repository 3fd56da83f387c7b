# rust.sh - queries the keys with the Rust crates; see hosts.sh.
name=Rust
prepare() {
    needs cargo cc python3 || return 1
    petal_crates && rust_locked rust_hosts "$1"
}
# The crates and compiled files are those of bindings/rust/test/run.sh, so the library is compiled
# only once.
rust_locked() (
    work=$top/build/bindings/rust
    mkdir -p "$work" && exec 8>"$work/lock" || return
    ! command -v flock >/dev/null || flock 8
    "$@"
)
rust_hosts() {
    CARGO_TARGET_DIR=$work/target CARGO_PROFILE_DEV_DEBUG=0 CARGO_NET_OFFLINE=true
    export CARGO_TARGET_DIR CARGO_PROFILE_DEV_DEBUG CARGO_NET_OFFLINE
    petal_crates_into "$work/crates" && rm -rf "$work/hosts" &&
        mkdir -p "$work/hosts/src" "$work/hosts/.cargo" &&
        cp "$hosts/hosts.rs" "$work/hosts/src/main.rs" &&
        vendored "$(petal_crates_folder)" >"$work/hosts/.cargo/config.toml" &&
        printf '[package]\nname = "hosts"\nedition = "2021"\n[dependencies]\npetal-bloom.path = "%s"\n[workspace]\n' \
            "$work/crates/petal-bloom" >"$work/hosts/Cargo.toml" &&
        (cd "$work/hosts" && cargo build -q) && cp "$work/target/debug/hosts" "$1/hosts"
}
ask() { "$here/hosts" "$@"; }
