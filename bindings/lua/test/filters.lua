--- filters.lua - types of keys, batches, files, damage, windows, and static filters.
local petal, tap, ffi = require "petal", require "tap", require "ffi"

local function new(options)
    return assert(petal.create(options or { capacity = 1000, rate = 0.01 }))
end

local function range(first, last, make)
    local keys = {}
    for i = first, last do keys[#keys + 1] = make(i) end
    return keys
end

local function count(answers)
    local positive = 0
    for _, answer in ipairs(answers) do positive = positive + (answer and 1 or 0) end
    return positive
end

-- ---- keys ----

--- The places of the keys that the tool finds.
local function tool_finds(path, key_type, keys, line)
    local input = tap.write(tap.here("keys"), table.concat(range(1, #keys, function(i)
        return line(keys[i])
    end), "\n") .. "\n")
    local process = io.popen(("petal check -n --key-type %s %s <%s"):format(key_type, path, input))
    local found = {}
    for place in process:lines() do found[tonumber(place:match("^(%d+):"))] = true end
    process:close()
    return found
end

local function hex(bytes)
    return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

local MAKE = {
    i64 = { function(i) return i * 7919 - 50000 end, function(key) return ("%d"):format(key) end },
    f64 = { function(i) return i / 7 - 50 end, function(key) return ("%.17g"):format(key) end },
    text = { function(i) return "key " .. i .. " é" end, function(key) return key end },
    hex = { function(i) return string.char(i % 256, math.floor(i / 256), 0, 255) end, hex },
    i32 = { function(i) return i * 79 - 50000 end, function(key) return ("%d"):format(key) end },
    utf16le = { function(i) return "é" .. i .. "\240\159\152\128" end, function(key) return key end },
}

tap.test("a key of each type is the key that the tool means, false positives included", function()
    local path = tap.here("typed")
    for key_type, make in pairs(MAKE) do
        local keys, absent = range(0, 499, make[1]), range(500, 20499, make[1])
        local filter = new { capacity = 500, rate = 0.1, key_type = key_type }
        assert(filter:add_batch(keys) > 450)
        assert(filter:save(path))
        filter = assert(petal.open(path))
        tap.equal(filter:info().key_type, key_type)
        tap.equal(count(filter:contains_batch(keys)), 500, key_type)
        local answers = assert(filter:contains_batch(absent))
        local found = tool_finds(path, key_type, absent, make[2])
        for i, key in ipairs(absent) do
            tap.equal(answers[i], found[i] or false, key_type .. ", key " .. i)
            tap.equal(filter:contains(key), answers[i], key_type .. ", key " .. i)
        end
        local passed = count(answers)
        assert(passed > 500 and passed < 4000, key_type .. ": " .. passed)
    end
end)

tap.test("a key of another type is an error, in a batch with its index", function()
    local keys = { text = "5", i64 = 5, f64 = 5.5, none = "5" }
    for made in pairs(keys) do
        local filter = new { capacity = 10, rate = 0.01, key_type = made }
        for given, key in pairs { string = "5", number = 5, fraction = 5.5, int64_t = 5LL, ["nil"] = false,
            table = {}, boolean = true, ["function"] = print } do
            if given == "nil" then key = nil end
            local fits = made == "text" and given == "string" or
                made == "none" and (given == "string" or given == "int64_t") or
                made == "i64" and (given == "number" or given == "int64_t") or
                made == "f64" and (given == "number" or given == "fraction")
            if fits then
                assert(filter:contains(key) ~= nil and filter:add(key) ~= nil)
                assert(filter:contains_batch({ key })[1] == true)
            else
                for _, name in ipairs { "contains", "add", "remove", "hash" } do
                    local call = filter[name]
                    tap.fails(made .. given, "wrong key type", call(filter, key))
                end
                local answers, message, status, index = filter:contains_batch({ keys[made], key or {} })
                tap.fails(made .. given, "wrong key type", answers, message, status)
                tap.equal(index, 2)
                assert(message:find("(key 2)", 1, true), message)
            end
        end
    end
end)

tap.test("integers out of range, and text that is not UTF-8, are errors", function()
    local wide = new { capacity = 10, rate = 1e-6, key_type = "i64" }
    for _, key in ipairs { 2 ^ 53 + 2, -2 ^ 60, 2 ^ 63, 0x8000000000000000ULL } do
        tap.fails(tostring(key), "key out of range", wide:add(key))
    end
    for _, key in ipairs { 1 / 0, 0 / 0, 0.5 } do
        tap.fails(tostring(key), "wrong key type", wide:add(key))
    end
    for _, key in ipairs { 2 ^ 53, -2 ^ 53, 0x7fffffffffffffffULL, -0x8000000000000000LL } do
        assert(wide:add(key) == true and wide:contains(key) == true)
    end
    assert(wide:add(7) and wide:contains(7LL) and wide:contains(7ULL) and not wide:contains(-7))
    local narrow = new { capacity = 10, rate = 0.01, key_type = "i32" }
    for _, key in ipairs { 2 ^ 31, -2 ^ 31 - 1, 0x80000000LL } do
        tap.fails(tostring(key), "key out of range", narrow:add(key))
    end
    assert(narrow:add(2 ^ 31 - 1) and narrow:add(-2 ^ 31))
    local text = new { capacity = 10, rate = 0.01, key_type = "utf16le" }
    for _, key in ipairs { "\255", "\192\128", "\224\128\128", "\237\160\128", "\244\144\128\128", "a\195", "\128" } do
        tap.fails(hex(key), "wrong key type", text:add(key))
    end
    assert(text:add("é") and text:add("\244\143\191\191") and text:add(""))
    local real = new { capacity = 10, rate = 0.01, key_type = "f64" }
    assert(real:add(0) and real:contains(-0.0) and real:add(0 / 0) and real:contains(-(0 / 0)))
end)

tap.test("keys of any length have one answer, zero bytes included", function()
    local filter = new { capacity = 100, rate = 1e-6 }
    local keys = { "", "\0", "\0\0", "a\0b", ("x"):rep(1000), ("y"):rep(10 * 2 ^ 20) }
    for _, key in ipairs(keys) do assert(filter:add(key) == true) end
    for _, key in ipairs(keys) do assert(filter:contains(key) == true) end
    for _, key in ipairs { "\0\0\0", "a", "a\0c", ("x"):rep(999), ("y"):rep(10 * 2 ^ 20 - 1) } do
        assert(filter:contains(key) == false)
    end
end)

-- ---- batches ----

tap.test("batches of any size give the answers of single keys", function()
    for _, size in ipairs { 0, 1, 1023, 1024, 1025, 3000 } do
        local filter, single = new(), new()
        local keys = range(1, size, function(i) return "key" .. i % 2000 end)
        local added = 0
        for _, key in ipairs(keys) do added = added + (single:add(key) and 1 or 0) end
        tap.equal(filter:add_batch(keys), added, size)
        tap.equal(filter:content_id(), single:content_id())
        local answers = filter:contains_batch(keys)
        tap.equal(#answers, size)
        tap.equal(count(answers), size)
    end
end)

tap.test("all keys before a refused one are added, none after it", function()
    for _, place in ipairs { 1, 2, 1024, 1025, 2500 } do
        local filter = new { capacity = 5000, rate = 1e-6 }
        local keys = range(1, 3000, function(i) return "key" .. i end)
        keys[place] = 5
        local _, message, status, index = filter:add_batch(keys)
        tap.equal(status, "wrong key type", message)
        tap.equal(index, place)
        tap.equal(filter:info().items, place - 1)
        assert(place == 1 or filter:contains(keys[place - 1]))
        assert(not filter:contains("key" .. place + 1))
    end
    local full = new { capacity = 100, rate = 0.01, refuse_overfull = true }
    local added, message, status, index = full:add_batch(range(1, 2000, tostring))
    tap.fails("overfull", "full", added, message, status)
    assert(index > 100 and message:find("(key " .. index .. ")", 1, true), message)
    tap.fails("overfull", "full", full:add("another"))
end)

tap.test("an empty key that the scheme does not accept is skipped, and reported once", function()
    local filter = new { capacity = 100, rate = 0.01, format = "datasketches" }
    tap.equal(filter:contains(""), false)
    local new_keys, message = filter:add_batch { "a", "", "b", "" }
    tap.equal(new_keys, 2)
    assert(message:find("^2 empty keys were skipped"), message)
    tap.equal(filter:contains_batch({ "", "a" })[1], false)
    tap.equal(filter:contains_batch({ "", "a" })[2], true)
    tap.fails("one", "not supported", filter:add(""))
end)

-- ---- counting, windows, static filters ----

tap.test("a counting filter forgets what is removed", function()
    local filter = new { capacity = 1000, rate = 0.0001, scheme = "counting" }
    tap.equal(filter:add_batch { "a", "b", "c" }, 3)
    assert(filter:remove("a") == true and filter:remove("a") == false)
    tap.equal(filter:remove_batch { "b", "x" }, 1)
    assert(not filter:contains("a") and not filter:contains("b") and filter:contains("c"))
    tap.fails("blocked", "not supported", new():remove("a"))
end)

tap.test("a window forgets with its clock", function()
    local filter = new { window_keys = 1000, window_ms = 60000, rate = 0.0001 }
    assert(filter:set_clock(1e12) and filter:add("old"))
    assert(filter:set_clock(1e12 + 59000) and filter:contains("old"))
    assert(filter:set_clock(1e12 + 200000) and not filter:contains("old"))
    tap.equal(filter:info().window_ms, 60000)
    tap.fails("no window", "not supported", new():set_clock(5))
    tap.fails("no time", "bad argument", filter:set_clock("now"))
end)

tap.test("a static filter is built by freeze()", function()
    local filter = new { rate = 0.01, scheme = "static" }
    assert(filter:add_batch(range(1, 10000, tostring)))
    tap.fails("not frozen", "not supported", filter:save(tap.here("static")))
    assert(filter:freeze() and filter:save(tap.here("static")))
    filter = assert(petal.open(tap.here("static")))
    tap.equal(count(filter:contains_batch(range(1, 10000, tostring))), 10000)
    local passed = count(filter:contains_batch(range(10001, 110000, tostring)))
    assert(passed > 500 and passed < 2000, passed)
    tap.fails("frozen", "not supported", filter:add("a"))
end)

tap.test("a growing filter keeps its rate", function()
    local filter = new { capacity = 100, rate = 0.01, growth = true }
    assert(filter:add_batch(range(1, 10000, tostring)))
    assert(filter:info().layers > 3 and filter:info().grows)
    assert(count(filter:contains_batch(range(10001, 20000, tostring))) < 200)
end)

-- ---- whole filters ----

tap.test("merging gives the filter of all keys; others are refused", function()
    local whole, a, b = new(), new(), new()
    whole:add_batch { "a", "b", "c" }
    a:add_batch { "a", "b" }
    b:add_batch { "b", "c" }
    assert(a:merge(b) == true)
    tap.equal(a:content_id(), whole:content_id())
    tap.fails("sizes", "filters differ", a:merge(new { capacity = 10, rate = 0.1 }))
    assert(a:clear() and not a:contains("a"))
    tap.equal(a:content_id(), new():content_id())
end)

tap.test("info and stats describe the filter", function()
    local filter = new { capacity = 1000, rate = 0.01, seed = 7, metadata = "of a test", key_type = "i64" }
    filter:add_batch(range(1, 1000, function(i) return i end))
    local info, stats = filter:info(), filter:stats()
    tap.equal(info.scheme, "blocked")
    tap.equal(info.bits, 10240)
    tap.equal(info.capacity, 1000)
    tap.equal(info.target_rate, 0.01)
    tap.equal(info.seed, 7)
    tap.equal(info.key_type, "i64")
    tap.equal(info.overfull, false)
    tap.equal(filter:metadata(), "of a test")
    assert(stats.estimated_items > 950 and stats.estimated_items < 1050)
    assert(stats.estimated_items_low < stats.estimated_items_high and stats.bits_set < info.bits)
    assert(tostring(filter):find("blocked, 9%d%d items, 1280 bytes") or
        tostring(filter):find("blocked, 1000 items, 1280 bytes"), tostring(filter))
    tap.equal(new({ bits = 512, hashes = 3 }):info().capacity, nil)
end)

-- ---- files ----

tap.test("a writable map changes its file", function()
    local path = tap.here("writable")
    assert(new():save(path))
    local filter = assert(petal.open(path, { mode = "writable" }))
    assert(filter:add("a") and filter:sync())
    tap.fails("locked", "busy", petal.open(path, { mode = "writable" }))
    tap.fails("dirty", "dirty", (function()
        assert(filter:add("b"))
        return petal.load(tap.read(path))
    end)())
    assert(filter:close())
    filter = assert(petal.open(path))
    assert(filter:contains("a") and filter:contains("b") and filter:verify() == true)
    tap.fails("read-only", "read-only", filter:add("c"))
    local loaded = assert(petal.open(path, { mode = "load" }))
    assert(loaded:add("c") and loaded:verify() == false and not filter:contains("c"))
end)

tap.test("a file is replaced as a whole, or kept", function()
    local path = tap.here("saved")
    local filter = new()
    assert(filter:add("a") and filter:save(path))
    tap.fails("exists", "exists", filter:save(path, { replace = false }))
    local old = assert(petal.open(path))
    assert(filter:add("b") and filter:save(path, { replace = true }))
    assert(not old:contains("b") and petal.open(path):contains("b"))
    assert(filter:dump() == tap.read(path))
    local guava = new { capacity = 100, rate = 0.01, format = "guava" }
    assert(guava:add("a") and guava:save(path, { format = "guava" }))
    tap.equal(petal.open(path):info().format, "guava")
    tap.fails("format", "not supported", filter:save(path, { format = "guava" }))
end)

tap.test("a keyed filter needs its secret, which no file has", function()
    local path = tap.here("keyed")
    local filter = new { capacity = 100, rate = 0.01, secret = tap.SECRET }
    assert(filter:add("a") and filter:save(path) and filter:info().keyed)
    assert(not tap.read(path):find(tap.SECRET, 1, true))
    tap.fails("none", "secret needed", petal.open(path))
    tap.fails("wrong", "wrong secret", petal.open(path, { secret = ("x"):rep(16) }))
    tap.fails("short", "bad argument", petal.open(path, { secret = "short" }))
    assert(petal.open(path, { secret = tap.SECRET }):contains("a"))
end)

-- ---- damage ----

tap.test("a query of a damaged block is an error, in a batch with the index", function()
    local filter = new { capacity = 200000, rate = 0.01, scheme = "classic" }
    local keys = range(1, 200000, function(i) return "key" .. i end)
    assert(filter:add_batch(keys))
    local path = tap.here("damaged")
    assert(filter:save(path))
    local bytes = tap.read(path)
    local at = #bytes - 100000
    tap.write(path, bytes:sub(1, at) .. string.char((bytes:byte(at + 1) + 1) % 256) .. bytes:sub(at + 2))
    tap.fails("verified", "damaged", petal.open(path, { verify = "open" }))
    tap.fails("loaded", "damaged", petal.open(path, { mode = "load" }))
    local damaged = assert(petal.open(path))
    local healthy, failed = 0, 0
    for i = 1, 2000 do
        local present, message, status = damaged:contains(keys[i])
        if present == nil then
            tap.equal(status, "damaged", message)
            failed = failed + 1
        else
            healthy = healthy + (present and 1 or 0)
        end
    end
    assert(healthy + failed == 2000 and healthy > 100 and failed > 100, healthy .. " " .. failed)
    local answers, message, status, index = damaged:contains_batch(keys)
    tap.fails("batch", "damaged", answers, message, status)
    assert(index >= 1 and damaged:contains(keys[index]) == nil)
    tap.fails("verify", "damaged", damaged:verify())
    local trusting = assert(petal.open(path, { verify = "never" }))
    tap.equal(#assert(trusting:contains_batch(keys)), 200000)
end)

tap.test("every cut of a file is refused", function()
    local bytes = tap.read("vectors/petal/two-blocks.petal")
    local path = tap.here("cut")
    for size = 0, #bytes - 1, 997 do
        tap.write(path, bytes:sub(1, size))
        for _, options in ipairs { {}, { mode = "load" }, { mode = "writable" }, { format = "petal" } } do
            local _, message, status = petal.open(path, options)
            assert(status, size .. ": opened")
            assert(not message:find("\n"))
        end
    end
end)

tap.finish()
