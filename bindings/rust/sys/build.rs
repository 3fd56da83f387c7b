//! Compiles the library, which scripts/bundle wrote into the folder `native`. The library is
//! optimized even in debug builds, because an unoptimized filter would be too slow.
fn main() {
    println!("cargo:rerun-if-changed=native");
    let mut sources: Vec<_> = std::fs::read_dir("native")
        .expect("the folder `native`, which bindings/rust/crates makes")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    cc::Build::new().std("c11").opt_level(3).files(sources).compile("petal");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo:rustc-link-lib=m");
    }
}
