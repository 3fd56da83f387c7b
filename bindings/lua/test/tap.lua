--- tap.lua - TAP for the tests in this folder, and what they share. They run at the top of the tree.
local ffi = require "ffi"
local tap = { count = 0, failed = 0 }

--- Runs a test; an error in it is its failure.
function tap.test(name, body)
    tap.count = tap.count + 1
    local passed, message = xpcall(body, debug.traceback)
    if not passed then tap.failed = tap.failed + 1 end
    print((passed and "ok " or "not ok ") .. tap.count .. " - " .. name)
    if not passed then print("# " .. tostring(message):gsub("\n", "\n# ")) end
    io.stdout:flush()
end

function tap.finish()
    print("1.." .. tap.count)
    os.exit(tap.failed == 0, true) -- closes the state: all finalizers run
end

function tap.equal(found, expected, what)
    if found ~= expected then
        error(("%s: %s, not %s"):format(tostring(what or "value"), tostring(found), tostring(expected)), 2)
    end
end

--- The call must fail: nil, a message of one line, and a status. Returns both.
function tap.fails(what, status, found, message, given)
    if found ~= nil then error(tostring(what) .. ": no failure: " .. tostring(found), 2) end
    assert(type(message) == "string" and not message:find("\n"), "no message of one line")
    tap.equal(given, status, message)
    return message
end

function tap.read(path)
    local file = assert(io.open(path, "rb"))
    local bytes = file:read("*a")
    file:close()
    return bytes
end

function tap.write(path, bytes)
    local file = assert(io.open(path, "wb"))
    assert(file:write(bytes))
    file:close()
    return path
end

--- A path in the folder of this run.
function tap.here(name) return assert(os.getenv("TMPDIR")) .. "/" .. name end

--- The words of each line that is no comment.
function tap.rows(path)
    local rows = {}
    for line in tap.read(path):gmatch("[^\n]+") do
        if line:sub(1, 1) ~= "#" then
            local words = {}
            for word in line:gmatch("%S+") do words[#words + 1] = word end
            rows[#rows + 1] = words
        end
    end
    return rows
end

--- Bytes in hexadecimal; `-` are none.
function tap.unhex(text)
    if text == "-" then return "" end
    return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

--- A decimal number as uint64_t; a Lua number would lose digits.
function tap.whole(text)
    local value = 0ULL
    for digit in text:gmatch("%d") do value = value * 10 + tonumber(digit) end
    return value
end

--- Eight bytes in hexadecimal, most significant first, as uint64_t.
function tap.unhex64(text)
    return tonumber(text:sub(1, 8), 16) * 0x100000000ULL + tonumber(text:sub(9), 16)
end

tap.word = ffi.typeof("union { uint64_t integer; uint8_t bytes[8]; int32_t i32; int64_t i64; double real; }")
function tap.double(bits) return tonumber(tap.word(bits).real) end

tap.SECRET = tap.unhex("000102030405060708090a0b0c0d0e0f")
return tap
