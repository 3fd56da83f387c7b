#!/bin/sh
# Tests that AddressSanitizer finds no memory errors in the module in a real server, whatever the
# commands and stored values are.
#
# The test loads the module from ./dev asan or ./dev nightly into Debian's Redis, since the
# sanitizer can replace this server's allocator. PETAL_COMMANDS is the number of corrupted values
# (by default 10,000; for valkey-bloom 100,000).
set -u
. tests/redis/lib/servers.sh

nightly 'the module with AddressSanitizer' || finish
needs cc || finish
module=$PWD/build/asan/redis/petal.so redisbloom='' preload=$(cc -print-file-name=libasan.so)
export preload
[ -e "$module" ] || { skip 'the build for it' 'not there: ./dev nightly builds it'; finish; }
changed=$(find redis/*.c redis/*.h src include -name '*.[ch]' -newer "$module" | head -n 1)
[ -z "$changed" ] || {
    skip 'the build for it' "older than $changed: ./dev nightly builds it"
    finish
}
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$TMPDIR/report
export ASAN_OPTIONS
relay python3 tests/redis/conformance.py sanitized "$redis7"
relay python3 tests/redis/server_side.py sanitized "$redis7" "${PETAL_COMMANDS-10000}"
relay python3 tests/redis/valkey_bloom.py sanitized "$redis7" "${PETAL_COMMANDS-100000}"
relay python3 tests/redis/petal_sets.py sanitized "$redis7" "${PETAL_COMMANDS-10000}"
relay python3 tests/redis/petal_commands.py sanitized "$redis7" "${PETAL_COMMANDS-10000}"
# Lengths in corrupted values may exceed the available memory. The server itself refuses such
# values.
reports() { cat "$TMPDIR"/report.* | grep -v 'WARNING: AddressSanitizer failed to allocate'; }
has_none() { ! reports; }
ok 'nothing is reported' has_none
finish
