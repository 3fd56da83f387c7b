# packages.sh - installs other libraries by name and version, using their package clients. This
# script must be sourced, not run.
#
# Packages are installed in build/interop, with one folder per version, which `./dev clean` removes.
# The script that sources this file must define skip() and ok(), which report unavailable packages
# (see tap.sh and bench/peers/run).
interop=$PWD/build/interop
top=$PWD
mkdir -p "$interop"

# Messages that package clients print if no server answers or if the registry refuses the request.
unreachable='could not resolve host|name resolution|unknown host|no such host|no route to host|unreachable|timed? ?out|'\
'connection (refused|reset|broken|closed)|proxyerror|tunnel connection failed|could not transfer (artifact|metadata)|dial tcp|'\
'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|E403|E429|E50[0234]|couldn.?t connect|failed to connect|could not download file|403 forbidden|429 too many requests|'\
'50[0234] (internal server error|bad gateway|service unavailable|gateway time)|got (403|429|50[0234])|'\
'using offline mode'

# install FOLDER WHAT COMMAND...: runs COMMAND, which must install WHAT, in a new folder of
# build/interop. If COMMAND fails, returns false. If the registry was unreachable, reports a skip,
# otherwise a failure.
install() {
    folder=$interop/$1 what=$2
    shift 2
    exec 9>"$folder.lock"
    ! command -v flock >/dev/null || flock 9
    [ ! -d "$folder" ] || return 0
    rm -rf "$folder.part" && mkdir "$folder.part"
    if (cd "$folder.part" && "$@") >"$folder.log" 2>&1 </dev/null; then
        mv "$folder.part" "$folder"
    elif reason=$(grep -Eim1 "$unreachable" "$folder.log"); then
        skip "$what" "unreachable: $(printf '%s' "$reason" | cut -c 1-150)"
        return 1
    else
        ok "$what is installed" log_of_failure "$folder.log"
        return 1
    fi
}
log_of_failure() { cat "$1" && return 1; }

# may_install FOLDER WHAT TEST: succeeds if WHAT is installed or if the user asked for installation.
# Otherwise reports a skip.
may_install() {
    [ ! -d "$interop/$1" ] && [ -z "${PETAL_INSTALL-}" ] || return 0
    skip "$2" "not installed: ./dev test --all or ./dev test $3 installs it"
    return 1
}

# Maven runs for seconds, so the optimizing compiler costs more than it saves.
MAVEN_OPTS=${MAVEN_OPTS--XX:+UseSerialGC -XX:TieredStopAtLevel=1}
export MAVEN_OPTS

# Installs the jars of these Maven packages and their dependencies. Installations run one at a time,
# because Maven's store doesn't support two writers.
maven() { # maven FOLDER GROUP:ARTIFACT:VERSION...; sets $classpath to the jars
    classpath="$interop/$1/*"
    install "$1" "$2" maven_get "$@"
}
maven_get() {
    shift
    {
        echo '<project><modelVersion>4.0.0</modelVersion><groupId>interop</groupId><artifactId>interop</artifactId>'
        echo '<version>1</version><dependencies>'
        printf '%s\n' "$@" | sed 's|\(.*\):\(.*\):\(.*\)|<dependency><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version></dependency>|'
        echo '</dependencies></project>'
    } >pom.xml
    exec 9>"$interop/maven.lock"
    ! command -v flock >/dev/null || flock 9
    mvn -B -U -Dstyle.color=never dependency:copy-dependencies -DoutputDirectory="$PWD"
}

# Compiles Kotlin.
kotlin() { # kotlin OUT JARS SOURCE; sets $kotlin_library, the jar that OUT needs to run
    maven kotlin-2.2.0 org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.0 || return
    kotlin_library=$(ls "$interop"/kotlin-2.2.0/kotlin-stdlib-*.jar)
    java -cp "$classpath" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -nowarn \
        -cp "$2:$kotlin_library" -d "$1" "$3" >&2
}

# Builds Petal's wheel from this tree with the Python in PATH, and writes it to OUT. Builds share
# object files, so they run one at a time.
petal_wheel() { # petal_wheel OUT
    install scikit-build-core-1.1.2 scikit-build-core petal_wheel_builders || return
    ok 'the Python package is built' petal_wheel_into "$1"
}
petal_wheel_builders() {
    python3 -m pip install --disable-pip-version-check --target . scikit-build-core==1.1.2
}
petal_wheel_into() (
    mkdir -p "$top/build/bindings/python"
    exec 9>"$top/build/bindings/python/shared.lock"
    ! command -v flock >/dev/null || flock 9
    PYTHONPATH=$interop/scikit-build-core-1.1.2
    export PYTHONPATH
    python3 -m pip wheel --disable-pip-version-check -q --no-index --no-deps --no-build-isolation \
        -w "$1" "$top/bindings/python" \
        "--config-settings=build-dir=$top/build/bindings/python/shared"
)

# Builds Petal's jar from this tree, which requires the Maven dependencies. Builds share object
# files, so they run one at a time.
petal_jar() { # petal_jar NAME: copies the jar to a folder with this name; sets $jar
    petal_pom=$top/bindings/java/pom.xml
    petal_store=java-jar-$(built_of "$petal_pom")
    petal_work=$top/build/bindings/java
    install "$petal_store" 'what Maven needs for the jar' petal_locked petal_package . || return
    ok 'the jar is built' petal_locked petal_jar_into "$petal_work/$1"
    jar=$(ls "$petal_work/$1"/petal-bloom-*.jar)
}
petal_locked() (
    mkdir -p "$petal_work" && exec 9>"$petal_work/lock" || return
    ! command -v flock >/dev/null || flock 9
    "$@"
)
petal_jar_into() {
    rm -rf "$1" && mkdir -p "$1" || return
    petal_package "$interop/$petal_store" -o && cp "$petal_work"/petal-bloom-*.jar "$1"
}
petal_package() { # petal_package FOLDER [OPTION]
    mvn -B -q -Dstyle.color=never "-Dmaven.repo.local=$1/store" ${2-} "-Dpetal.build=$petal_work" \
        -f "$petal_pom" package
}

# Prints the folder for the crates that bindings/rust and its tests depend on.
petal_crates_folder() {
    echo "rust-$(cd "$top/bindings/rust" && built_of needs Cargo.toml sys/Cargo.toml)"
}
petal_crates() { install "$(petal_crates_folder)" 'what bindings/rust/needs lists' petal_crates_get; }
petal_crates_get() { # not with `cargo add`, which doesn't report why it fails
    cargo init -q --vcs none --lib --name needs &&
        sed 's/\(.*\)@\(.*\)/\1 = "\2"/' "$top/bindings/rust/needs" >>Cargo.toml &&
        cargo vendor -q vendor
}
# Writes Petal's crates into this folder. If the library has not changed, its old files are kept,
# because Cargo would recompile the library if a file were newer.
petal_crates_into() {
    rm -rf "$1.new" && "$top/bindings/rust/crates" "$1.new" || return 1
    ! diff -r "$1/petal-bloom-sys" "$1.new/petal-bloom-sys" >/dev/null 2>&1 ||
        { rm -rf "$1.new/petal-bloom-sys" && mv "$1/petal-bloom-sys" "$1.new"; }
    rm -rf "$1" && mv "$1.new" "$1"
}
# Prints a Cargo configuration that uses the crates in this folder of build/interop.
vendored() { # vendored FOLDER
    printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' \
        "$interop/$1/vendor"
}

python_packages() { # python_packages FOLDER REQUIREMENT...; also sets PYTHONPATH
    PYTHONPATH=$interop/$1:$PWD/tests/interop/lib PYTHONDONTWRITEBYTECODE=1
    export PYTHONPATH PYTHONDONTWRITEBYTECODE
    folder=$1
    shift
    install "$folder" "$*" python3 -m pip install --disable-pip-version-check --target . "$@"
}

node_packages() { # node_packages FOLDER PACKAGE@VERSION...; also sets NODE_PATH
    NODE_PATH=$interop/$1/node_modules:$PWD/tests/interop/lib
    export NODE_PATH
    folder=$1
    shift
    install "$folder" "$*" npm install --no-audit --no-fund --fetch-retries 1 --prefix . "$@"
}

# Prints a checksum of the sources, so that changed sources are built in a new folder.
built_of() { cat "$@" | cksum | cut -d' ' -f1; }

# Prints the folder for the modules that Petal's Go module needs in examples/pipeline/go.
go_pipeline_folder() { echo "go-pipeline-$(built_of "$top/bindings/go/go.sum")"; }
# Lets Go build programs with these modules and without a network.
go_pipeline_offline() {
    GOTOOLCHAIN=local GOWORK=off GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off GOSUMDB=off
    GOCACHE=$top/build/go-cache GOMODCACHE=$interop/$(go_pipeline_folder)/mod
    export GOTOOLCHAIN GOWORK GOFLAGS GOPROXY GOSUMDB GOCACHE GOMODCACHE
}

# Builds the driver with this version of the Go module.
go_program() { # go_program FOLDER MODULE@VERSION SOURCE...; the program is $program
    folder=$1 module=$2
    shift 2
    folder=$folder-$(built_of "$@")
    program=$interop/$folder/driver
    install "$folder" "$module" go_build "$module" "$@"
}
go_build() {
    module=$1
    shift
    for source; do cp "$top/$source" .; done
    go mod init interop && go get "$module" && go build -o driver .
}

# Builds the source file with these versions of the crates.
rust_program() { # rust_program FOLDER SOURCE CRATE@VERSION...; the program is $program
    source=$2 folder=$1-$(built_of "$2")
    program=$interop/$folder/target/release/driver
    shift 2
    install "$folder" "$*" rust_build "$@"
}
rust_build() {
    export CARGO_PROFILE_RELEASE_LTO=true CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
    cargo init -q --vcs none --edition 2021 --name driver && cp "$top/$source" src/main.rs &&
        cargo add -q $(printf '%s\n' "$@" | sed 's/@/@=/') && cargo build -q --release
}
