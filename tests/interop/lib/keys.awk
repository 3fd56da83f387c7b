# keys.awk - prints the keys and queries of the interop tests, which are the same for every library.
#
#   awk -v type=TYPE -v part=keys|absent -f keys.awk
#
# Each line is a key in the notation of TYPE: text (UTF-8), i32 and i64 (decimal), hex (arbitrary
# bytes), or units (hex of UTF-16 code units, including lone surrogates). There are about 2,000 keys
# and 20,000 absent keys. If the type allows an empty key, it is the first of the keys.

# Every text contains a different number. The lengths and last bytes cover every case of how a hash
# function treats the last bytes.
function text(i,    shape) {
    shape = i % 12
    if (shape == 0) return "key " i
    if (shape == 1) return "https://example.com/a/" i "?q=" i % 7
    if (shape == 2) return i ""
    if (shape == 3) return "ключ-" i
    if (shape == 4) return i "-鍵"
    if (shape == 5) return "😀" i
    if (shape == 6) return "  two  spaces " i " "
    if (shape == 7) return "naïve café " i " Ü"
    if (shape == 8) return "tab\t" i " \"quoted\" \\ 'so'"
    if (shape == 9) return substr("abcdefghijklmnop", 1, i / 12 % 17) i "ÿ"
    if (shape == 10) return i "ā" substr("abcdefghijklmnop", 1, i / 12 % 17)
    return "-" i ".5e-3,\342\200\250" i
}

# Park and Miller's random number generator, whose products stay below 2^53, so that every awk
# computes the same numbers.
function random(below) {
    state = state * 16807 % 2147483647
    return state % below
}

# Returns a random number of random bytes, followed by the number i, which makes the keys distinct.
function bytes(i,    n, out) {
    out = ""
    for (n = random(24); n > 0; n--) out = out sprintf("%02x", random(256))
    return out sprintf("%02x%02x%02x", i % 256, int(i / 256) % 256, int(i / 65536))
}

function units(i) {
    between = i % 4 == 0 ? "d83dde00" : sprintf("%04x", 55296 + i % 2048)
    return sprintf("%04x", i) between sprintf("%04x", 57344 + i % 31)
}

function i64(i,    high) {
    high = i * 7919 % 900
    return (i % 2 ? "-" : "") (high ? high : "") i + 10000 sprintf("%09d", i * 104729 % 1000000000)
}

function key(i) {
    if (type == "text") return text(i)
    if (type == "i32") return (i % 2 ? "-" : "") i * 97003
    if (type == "i64") return i64(i)
    if (type == "hex") return bytes(i)
    return units(i)
}

function extremes() {
    if (type == "i32") return "0 1 -1 127 128 -128 255 256 65535 65536 2147483647 -2147483647 -2147483648"
    if (type == "i64")
        return "0 1 -1 2147483647 -2147483648 2147483648 -2147483649 4294967295 4294967296 " \
               "9223372036854775807 -9223372036854775807 -9223372036854775808"
    if (type == "hex") return "00 0000 0a 0d 0d0a 20 7f 80 ff c328 ffffff 00000080 80000000 ffffffffffffffff"
    if (type == "units") return "d800 dfff d83d de00 de00d83d 0061d800 d8000061 feff 0000 fffe"
    return ""
}

BEGIN {
    state = part == "keys" ? 1 : 2
    if (part == "keys") {
        if (type != "i32" && type != "i64") print ""
        for (n = split(extremes(), list, " "); n > 0; n--) print list[n]
        for (i = 1; i <= 2000; i++) print key(i)
    } else {
        for (i = 2001; i <= 22000; i++) print key(i)
    }
}
