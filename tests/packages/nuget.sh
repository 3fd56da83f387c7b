#!/bin/sh
# nuget.sh - the NuGet package contains a native library for each system, which exports the
# functions of petal.h and requires only the system's own libraries. With the unpacked package,
# every test vector passes on this machine's .NET 8 and Mono, and on Mono for 64-bit ARM under QEMU.
# On .NET 8 for Windows under Wine, only some of the tests run.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/interop/lib/packages.sh
. bindings/dotnet/test/net.sh
needs mcs mono python3 pip || finish
needs_zig

package=$TMPDIR/packages/petalbloom/$version
unpacks() { python3 -m zipfile -e "$packages/PetalBloom.$version.nupkg" "$package"; }
has_all() {
    (cd "$package/runtimes" && find * -type f | sort) >"$TMPDIR/found"
    printf '%s/native/%s\n' linux-arm64 libpetal.so linux-musl-arm64 libpetal.so \
        linux-musl-x64 libpetal.so linux-x64 libpetal.so osx-arm64 libpetal.dylib \
        osx-x64 libpetal.dylib win-x64 libpetal.dll | diff - "$TMPDIR/found" || return 1
    has_files "$package" LICENSE LICENSE-xxhash LICENSE-zlib LICENSE-zig LICENSE-musl \
        LICENSE-mingw-w64
}
exports "$PETAL_BUILD_DIR/lib/libpetal.so" >"$TMPDIR/calls"
same_calls() { exports "$1" | diff "$TMPDIR/calls" -; }
ok 'it unpacks' unpacks
ok 'it has the library of seven systems, and the licences' has_all
for library in "$package"/runtimes/*/native/*; do
    system=$(basename "$(dirname "$(dirname "$library")")")
    case $system in *-arm64) cpu=aarch64 ;; *) cpu=x86_64 ;; esac
    ok "$system: exports the same names as the library built here" same_calls "$library"
    case $system in linux-*) ok "$system: is for that CPU" is_for "$library" $cpu ;; esac
    case $system in
    linux-musl-*)
        ok "$system: needs only musl" needs_only "$library" 'libc\.so$'
        skip "$system: run" 'this machine: Debian has no .NET for musl'
        ;;
    linux-*)
        ok "$system: needs only libc and libm" needs_only "$library" $glibc_own
        ok "$system: needs no glibc after 2.17" glibc_2_17 "$library"
        ;;
    osx-*) skip "$system: run" 'this machine: not a Mac' ;;
    win-*) ok "$system: needs Windows' own libraries alone" needs_only "$library" $windows_own ;;
    esac
done

# ---- run -----------------------------------------------------------------------------------------

project=$TMPDIR/project
mkdir "$project"
ok 'the tests compile with it' net_compile "$package" "$project/Tests.exe" "$PWD"/bindings/dotnet/test/*.cs
vectors_on() { # vectors_on LABEL COMMAND...
    label=$1
    shift
    relay_as "$label: " timeout 600 "$@" Vectors Cases
    ok "$label: all of them were run" grep -x '1\.\.1[0-9]' "$TMPDIR/relayed"
}
mono_project() { # mono_project FOLDER RID
    mkdir "$1" && cp "$project/Tests.exe" "$package/lib/netstandard2.0/Petal.dll" \
        "$package/runtimes/$2/native/libpetal.so" "$1"
}
if [ "$(uname -m)" = x86_64 ]; then
    mono_project "$TMPDIR/mono" linux-x64
    vectors_on 'linux-x64, Mono' mono "$TMPDIR/mono/Tests.exe"
    if net_runtime; then
        net_project "$project/Tests.exe" linux-x64 libpetal.so
        vectors_on 'linux-x64, .NET 8' "$net_dotnet" exec --additionalprobingpath "$TMPDIR/packages" \
            "$project/Tests.exe"
    fi
else
    skip 'linux-x64: run' 'this machine: another CPU'
fi

arm=$interop/packages-arm-mono
if needs qemu-aarch64 dpkg-deb && may_install packages-arm-mono 'Mono for 64-bit ARM' packages &&
    install packages-arm-mono 'Mono for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" \
        mono-runtime libmono-system-core4.0-cil; then
    mono_project "$TMPDIR/arm" linux-arm64
    MONO_CFG_DIR=$arm/etc # contains the mapping for Mono's System.Native
    export MONO_CFG_DIR
    vectors_on 'linux-arm64, Mono' qemu-aarch64 -L "$arm" "$arm/usr/bin/mono-sgen" "$TMPDIR/arm/Tests.exe"
fi

needs_wine
may_install packages-windows-net '.NET 8 for Windows' packages || finish
install packages-windows-net '.NET 8 for Windows' "$PWD/tests/packages/lib/windows-package" \
    "$(grep == bindings/dotnet/needs)" || finish
windows_net=$interop/packages-windows-net/dnv/net/runtime/.net/dotnet.exe
net_project "$project/Tests.exe" win-x64 libpetal.dll
# Under Wine, .NET 8 hangs if an exception is thrown, so only tests without exceptions run there.
in_wine() {
    piped "$windows_net" exec --additionalprobingpath "Z:$TMPDIR/packages" "Z:$project/Tests.exe" \
        plans inside golden_files hashes_are shards_are
}
relay_as 'win-x64, .NET 8: ' in_wine
ok 'win-x64, .NET 8: all of them were run' grep -x '1\.\.6' "$TMPDIR/relayed"
finish
