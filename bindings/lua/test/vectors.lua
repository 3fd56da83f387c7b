--- vectors.lua - the vectors that every binding reads: other libraries' files, petal's golden files,
--- files that must be refused, and hashes.
local petal, tap, ffi = require "petal", require "tap", require "ffi"

-- ---- files of other libraries (the language is that of tests/formats/vectors.c) ----

local counts = { files = 0, answers = 0, rebuilt = 0, typed = 0 }
local known = {}
for _, name in ipairs(petal.formats()) do known[name] = true end

local function open(format, path)
    local bytes = tap.read(path)
    return {
        format = format, path = path, bytes = bytes, keys = {}, expected = {}, typed = {},
        filter = assert(petal.load(bytes, { format = format })),
    }
end

--- The UTF-8 of UTF-16LE bytes, or nil.
local function from_utf16(bytes)
    if #bytes % 2 ~= 0 then return nil end
    local text, high = {}, nil
    for low, top in bytes:gmatch("(.)(.)") do
        local unit = low:byte() + top:byte() * 256
        if unit >= 0xd800 and unit < 0xe000 then return nil end -- other tests have surrogates
        if unit < 0x80 then
            text[#text + 1] = string.char(unit)
        elseif unit < 0x800 then
            text[#text + 1] = string.char(0xc0 + math.floor(unit / 64), 0x80 + unit % 64)
        else
            text[#text + 1] = string.char(0xe0 + math.floor(unit / 4096),
                0x80 + math.floor(unit / 64) % 64, 0x80 + unit % 64)
        end
    end
    return table.concat(text)
end

--- The keys of other types that have the same bytes, by type.
local function other_keys(bytes)
    local keys = { text = bytes, utf16le = from_utf16(bytes) }
    local word = tap.word()
    if #bytes == 4 or #bytes == 8 then ffi.copy(word.bytes, bytes, #bytes) end
    if #bytes == 4 then keys.i32 = word.i32 end
    if #bytes == 8 then
        keys.i64 = ffi.new("int64_t", word.i64)
        local number = tonumber(word.real)
        if number == number and bytes ~= "\0\0\0\0\0\0\0\128" then keys.f64 = number end
    end
    return keys
end

local function ask(at, bytes, expected)
    tap.equal(at.filter:contains(bytes), expected, at.path)
    at.keys[#at.keys + 1], at.expected[#at.keys + 1] = bytes, expected
    for key_type, key in pairs(other_keys(bytes)) do
        local typed = at.typed[key_type]
        if not typed then
            typed = assert(petal.load(at.bytes, { format = at.format, key_type = key_type }))
            at.typed[key_type] = typed
        end
        tap.equal(typed:contains(key), expected, at.path .. " as " .. key_type)
        tap.equal(typed:contains_batch({ key })[1], expected, at.path .. " as " .. key_type)
        counts.typed = counts.typed + 2
    end
end

local function take(at, verb, bytes)
    if verb == "add" then
        if at.made then at.made:add(bytes) end
    else
        ask(at, bytes, verb == "in")
    end
end

local function expect_same(at, filter)
    local made = assert(filter:dump({ format = at.format }))
    if at.packed then
        local again = assert(petal.load(made, { format = at.format }))
        assert(again:dump() == at.filter:dump(), at.path .. ": other bits")
    else
        assert(made == at.bytes, at.path .. ": other bytes")
    end
end

local function finish(at)
    if not at then return end
    local answers = assert(at.filter:contains_batch(at.keys))
    for i = 1, #at.keys do tap.equal(answers[i], at.expected[i], at.path .. " in a batch") end
    expect_same(at, at.filter)
    expect_same(at, assert(petal.load(at.filter:dump(), { format = "petal" })))
    for size = 0, #at.bytes - 1, math.floor(#at.bytes / 50) + 1 do
        local cut, message = petal.load(at.bytes:sub(1, size), { format = at.format })
        assert(cut and cut:contains("a") ~= nil or #message > 0)
    end
    counts.files, counts.answers = counts.files + 1, counts.answers + #at.keys
end

local function run_script(folder)
    local format, at
    for _, words in ipairs(tap.rows(folder .. "/vectors.txt")) do
        local verb = words[1]
        if verb == "format" then
            format = words[2]
        elseif verb == "file" then
            finish(at)
            at = known[format] and open(format, folder .. "/" .. words[2]) or nil
        elseif verb == "loose" or not at then -- nothing
        elseif verb == "plan" then
            at.made = assert(petal.create {
                capacity = tap.whole(words[2]), rate = tonumber(words[3]), format = at.format,
            })
        elseif verb == "size" then
            at.made = assert(petal.create {
                bits = tap.whole(words[2]), hashes = tonumber(words[3]),
                seed = words[4] and tap.whole(words[4]), format = at.format,
            })
        elseif verb == "rebuild" then
            expect_same(at, at.made)
            counts.rebuilt = counts.rebuilt + 1
        elseif verb == "packed" then
            at.packed = true
        elseif verb == "add" or verb == "in" or verb == "out" then
            take(at, verb, tap.unhex(words[2]))
        elseif verb == "adds" or verb == "ins" or verb == "outs" then
            local text = words[2] == "-" and "" or words[2]
            for i = tonumber(words[3]), tonumber(words[4]) do take(at, verb:sub(1, -2), text .. i) end
        else
            error(folder .. ": " .. verb)
        end
    end
    finish(at)
end

tap.test("files of other libraries answer, and are rebuilt and carried", function()
    local list = io.popen("ls vectors/*/vectors.txt")
    for path in list:lines() do run_script(path:match("(.*)/")) end
    list:close()
    print(("# counted: Lua: %d keys of %d files asked as bytes, %d as text and numbers too"):format(
        counts.answers, counts.files, counts.typed))
    assert(counts.files >= 190 and counts.answers >= 20000 and counts.rebuilt >= 140)
    assert(counts.typed >= 30000)
end)

-- ---- petal's own ----

tap.test("golden files are read in each mode, and written byte for byte", function()
    local list, read = io.popen("ls vectors/petal/*.petal"), 0
    for path in list:lines() do
        local bytes = tap.read(path)
        local secret = path:find("keyed") and tap.SECRET or path:find("rotating%-time") and tap.SECRET
        for _, mode in ipairs { "map", "load" } do
            local filter = assert(petal.open(path, { mode = mode, verify = "open", secret = secret or nil }))
            assert(filter:dump() == bytes, path .. ": other bytes")
            filter:close()
        end
        read = read + 1
    end
    list:close()
    assert(read >= 30)
end)

tap.test("a golden file answers as ever", function()
    local filter = assert(petal.open("vectors/petal/blocked.petal"))
    for i = 0, 999 do tap.equal(filter:contains("key-" .. i), i < 100 or i == 980, "key-" .. i) end
    tap.equal(filter:stats().bits_set, 629)
    tap.equal(filter:content_id(), "14f5876858484957")
    local metadata = assert(petal.open("vectors/petal/metadata.petal")):metadata()
    tap.equal(metadata, '{"made": "for a test"}\0\255\0')
    tap.equal(filter:metadata(), "")
end)

tap.test("files that must be refused give their status", function()
    local rows = tap.rows("vectors/reject/expected.txt")
    assert(#rows >= 50)
    for _, words in ipairs(rows) do
        local path = "vectors/reject/" .. words[1] .. ".petal"
        local status = table.concat(words, " ", 2)
        local options = { format = "petal", verify = "open" }
        local message = tap.fails(path, status, petal.open(path, options))
        assert(message:find(path, 1, true) == 1)
        assert(not petal.load(tap.read(path), options), path)
    end
end)

-- ---- hashes ----

tap.test("hashes are those of the vectors", function()
    local x, bytes, checked = 2654435761ULL, {}, 0
    for i = 1, 4096 do
        bytes[i] = string.char(tonumber(x / 0x100000000000000ULL))
        x = x * 11400714785074694797ULL
    end
    local data = table.concat(bytes)
    for _, words in ipairs(tap.rows("vectors/hashes/xxh3.txt")) do
        local filter = assert(petal.create {
            capacity = 10, rate = 0.01, seed = tap.unhex64(words[2]), key_type = "hex",
        })
        assert(filter:hash(data:sub(1, tonumber(words[1]))) == tap.unhex64(words[3]), words[1])
        checked = checked + 1
    end
    local keyed = assert(petal.create { capacity = 10, rate = 0.01, secret = tap.SECRET })
    for i = 0, 255 do bytes[i + 1] = string.char(i) end
    data = table.concat(bytes, "", 1, 256)
    for _, words in ipairs(tap.rows("vectors/hashes/siphash-2-4.txt")) do
        local expected = ffi.cast("const uint64_t *", tap.unhex(words[2]))[0] -- little-endian
        local found = keyed:hash(data:sub(1, tonumber(words[1])))
        assert(ffi.abi("be") or found == expected, words[1])
        checked = checked + 1
    end
    assert(checked >= 90)
end)

tap.test("numbers have the key bytes of the vectors", function()
    local rows = tap.rows("vectors/hashes/typed-keys.txt")
    assert(#rows >= 30)
    for _, words in ipairs(rows) do
        local key
        if words[1] == "i64" then
            key = tap.whole(words[2]) -- negative numbers wrap
            key = ffi.cast("int64_t", words[2]:sub(1, 1) == "-" and -key or key)
        else
            key = tap.double(tap.unhex64(words[2]))
        end
        local typed = assert(petal.create { capacity = 100, rate = 1e-9, key_type = words[1] })
        local same = assert(petal.create { capacity = 100, rate = 1e-9, key_type = "hex" })
        assert(typed:add(key) == true and same:add(tap.unhex(words[3])) == true)
        tap.equal(typed:content_id(), same:content_id(), words[2])
    end
end)

tap.finish()
