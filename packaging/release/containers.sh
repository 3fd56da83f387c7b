# containers.sh - tests the container recipes: the command's, which this script writes, and the
# recipe for a server with the module. Each step is executed in a folder, with a new Debian in place
# of the base image. Sourced by scripts/release, not run.

recipe=petal-$version.Containerfile
sed "s/@VERSION@/$version/g" packaging/release/Containerfile >"$packages/$recipe"
checked "$recipe" "says $version" version_in "$recipe"
carries_out() { python3 packaging/release/container "$@"; }
# Debian's server replaces the base image's server.
base_with_server() {
    inside apt-get -o APT::Sandbox::User=root update &&
        inside apt-get -o APT::Sandbox::User=root install -y --no-install-recommends redis-server
}
answers() { chroot "$1" /usr/local/bin/petal --version | tee /dev/stderr | grep -qF "petal $version"; }

if [ -n "$bare" ] && [ -n "$(made 'petal-redis-*')" ]; then
    checked "$recipe" 'its steps' carries_out "$packages/$recipe" "$packages" '' "$bare" "$work/image"
    checked "$recipe" 'runs' answers "$work/image"
    file=$(made 'petal-redis-*')
    mkdir "$work/redis" && tar -xzf "$packages/$file" -C "$work/redis" --strip-components=1
    root=$bare
    ok "$file: a base with a server" base_with_server
    checked "$file" "the recipe's steps" carries_out "$work/redis/Containerfile" "$work/redis" redis "$bare" "$work/image-redis"
    root=$work/image-redis
    checked "$file" "the recipe's server loads it" serves $(sed -n 's/",* *"*/ /g; s/^CMD \["*//p' "$work/redis/Containerfile" | head -n 1 | tr -d ']')
else
    missing='unreachable: a new Debian, or the archives'
    [ -z "$chosen" ] || missing='not chosen: debian, redis and the archives for Linux'
    skip "$recipe: its steps" "$missing"
fi
skip "$recipe: podman build" 'this machine: containers need an image registry and namespaces'
