# system.sh - checks each system's package of the command. Sourced by scripts/release, not run.

brings() { # brings FILE NAME...: checks that the archive contains these files
    brings_file=$packages/$1
    shift
    case $brings_file in
    *.zip) python3 -m zipfile -t "$brings_file" && python3 -m zipfile -l "$brings_file" ;;
    *) tar -tzf "$brings_file" ;;
    esac >"$TMPDIR/list" || return 1
    for name; do grep -q "/$name" "$TMPDIR/list" || { echo "lacks $name"; return 1; }; done
}
# Runs the command in an otherwise empty root folder, since it needs only a kernel.
runs_alone() {
    mkdir "$work/empty" && tar -xzf "$packages/$1" -C "$work/empty" --strip-components=1 &&
        chroot "$work/empty" /bin/petal --version | grep -F "petal $version"
}
for file in $(made 'petal-*-linux-*.tar.gz' | grep -e x86_64 -e aarch64) $(made 'petal-*-macos-*.tar.gz'); do
    checked "$file" 'has manual, completions, licences' brings "$file" bin/petal man1/petal.1 \
        completions/petal site-functions/_petal petal/LICENSE petal/LICENSE-zlib
    case $file in
    *macos*) skip "$file: run" 'this machine: not a Mac' ;;
    *"$(uname -m)"*)
        if [ "$(id -u)" -eq 0 ]; then
            checked "$file" 'runs in an empty root' runs_alone "$file"
        else
            skip "$file: run in an empty root" 'this machine: needs root'
        fi
        ;;
    *) skip "$file: run" 'this machine: another CPU; ./dev test packages/tool runs it under QEMU' ;;
    esac
done
for file in $(made 'petal-*.zip' | grep windows); do
    checked "$file" 'unpacks, has manual and licences' brings "$file" petal.exe petal.txt LICENSE LICENSE-zlib
    skip "$file: run" 'this machine: not Windows; ./dev test packages/windows runs it under Wine'
done
for file in $(made 'petal-lua-*'); do
    checked "$file" 'has both CPUs, a rockspec and licences' brings "$file" petal.lua amd64/libpetal.so \
        arm64/libpetal.so "petal-bloom-$version-1.rockspec" LICENSE-xxhash
done
for file in $(made 'petal-duckdb-*'); do
    checked "$file" 'has all platforms and licences' brings "$file" \
        linux_amd64/petal linux_arm64/petal LICENSE-xxhash
done
for file in $(made 'petal-postgresql-*'); do
    checked "$file" 'has its script, the library and licences' brings "$file" Makefile \
        "petal--$version.sql" core/petal.h LICENSE-xxhash
done
for file in $(made 'petal-sqlite-*'); do
    checked "$file" 'has both CPUs and licences' brings "$file" amd64/petal.so arm64/petal.so LICENSE-xxhash
done
