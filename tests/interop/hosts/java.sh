# java.sh - the jar, from Java; see hosts.sh.
name=Java
prepare() { java_package && javac -cp "$our_jar" -d "$1" "$hosts/Hosts.java"; }
ask() { java -cp "$here:$our_jar" Hosts "$@"; }
