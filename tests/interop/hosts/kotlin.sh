# kotlin.sh - the jar, from Kotlin; see hosts.sh.
name=Kotlin
prepare() {
    java_package && kotlin "$1/hosts.jar" "$our_jar" "$hosts/hosts.kt"
}
ask() { java -cp "$here/hosts.jar:$our_jar:$kotlin_library" HostsKt "$@"; }
