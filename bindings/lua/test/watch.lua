--- watch.lua - a watched file that is replaced is picked up within the time, and a broken one is not.
local petal, tap, ffi = require "petal", require "tap", require "ffi"

local clock = 1000
-- As in nginx: the module asks for the time here.
ngx = { now = function() return clock end }

local function filter_of(keys, options)
    local filter = assert(petal.create(options or { capacity = 100, rate = 1e-6 }))
    assert(filter:add_batch(keys))
    return filter
end

local path, new = tap.here("list"), tap.here("list.new")
local function replace(filter)
    assert(filter:save(new))
    assert(os.rename(new, path))
end

tap.test("a replaced file is picked up after `every` seconds, and not before", function()
    replace(filter_of { "old" })
    local list = assert(petal.watch(path, { every = 2 }))
    assert(list:contains("old") and not list:contains("new"))
    replace(filter_of { "new" })
    clock = clock + 1.9
    assert(list:contains("old") and not list:contains("new"))
    clock = clock + 0.1
    assert(not list:contains("old") and list:contains("new"))
    assert(list:contains_batch({ "old", "new" })[2] == true and list:info().items == 1)
    replace(filter_of { "newest" })
    clock = clock - 3600 -- set back
    assert(list:contains("newest"))
    list:close()
    tap.fails("closed", "bad argument", list:contains("newest"))
end)

tap.test("a broken file is not picked up, and is reported once", function()
    replace(filter_of { "good" })
    local said = {}
    local list = assert(petal.watch(path, { every = 1, log = function(message) said[#said + 1] = message end }))
    local good = tap.read(path)
    local flipped = good:sub(1, -10) .. string.char((good:byte(-9) + 1) % 256) .. good:sub(-8)
    for what, bytes in pairs { empty = "", cut = good:sub(1, -2), text = "no filter", damaged = flipped } do
        said = {}
        os.rename(tap.write(new, bytes), path)
        for _ = 1, 5 do
            clock = clock + 1
            assert(list:contains("good") == true and list:contains("other") == false, what)
        end
        tap.equal(#said, 1, what)
        assert(said[1]:find(path, 1, true) == 1 and not said[1]:find("\n"), said[1])
        assert(said[1]:find("the old filter stays in use", 1, true), said[1])
    end
    said = {}
    os.remove(path)
    for _ = 1, 5 do
        clock = clock + 1
        assert(list:contains("good") == true)
    end
    tap.equal(#said, 1, "removed")
    replace(filter_of { "back" })
    clock = clock + 1
    assert(list:contains("back") == true and list:contains("good") == false)
    tap.equal(#said, 1, "back")
end)

tap.test("a log that fails ends nothing", function()
    replace(filter_of { "good" })
    local list = assert(petal.watch(path, { every = 0, log = function() error("no log") end }))
    os.rename(tap.write(new, "no filter"), path)
    clock = clock + 1
    assert(list:contains("good") == true)
end)

tap.test("another key type or a secret is picked up too; the options stay", function()
    replace(filter_of({ 5 }, { capacity = 10, rate = 0.01, key_type = "i64" }))
    local list = assert(petal.watch(path, { every = 0, log = function() end }))
    assert(list:contains(5) == true)
    replace(filter_of { "5" })
    clock = clock + 1
    assert(list:contains("5") == true)
    replace(filter_of({ "a" }, { capacity = 10, rate = 0.01, secret = tap.SECRET }))
    clock = clock + 1
    assert(list:contains("5") == true) -- the new one needs a secret
    tap.fails("no file", "i/o error", petal.watch("no such file"))
    tap.fails("no filter", "not a filter", petal.watch("vectors/README.md"))
end)

local function maps_of(name)
    local count = 0
    local file = io.open("/proc/self/maps")
    if not file then return nil end
    for line in file:lines() do count = count + (line:find(name, 1, true) and 1 or 0) end
    file:close()
    return count
end

tap.test("the old file is unmapped at once, or when nobody uses it any more", function()
    replace(filter_of { "old" })
    if not maps_of(path) then return print("# this machine has no /proc/self/maps") end
    collectgarbage()
    local list = assert(petal.watch(path, { every = 0 }))
    local others = maps_of(path) - 1
    replace(filter_of { "new" })
    clock = clock + 1
    assert(list:contains("new") == true)
    tap.equal(maps_of(path) - others, 1, "maps")
    local kept = list:filter()
    replace(filter_of { "newest" })
    clock = clock + 1
    assert(list:contains("newest") and kept:contains("new") and not kept:contains("newest"))
    tap.equal(maps_of(path) - others, 2, "maps")
    kept = nil
    collectgarbage()
    tap.equal(maps_of(path) - others, 1, "maps")
end)

tap.test("1,000 replacements leave one map", function()
    replace(filter_of { "0" })
    local list = assert(petal.watch(path, { every = 0 }))
    for i = 1, 1000 do
        replace(filter_of { tostring(i) })
        clock = clock + 1
        assert(list:contains(tostring(i)) == true)
    end
    assert((maps_of(path) or 0) < 20, maps_of(path))
end)

tap.finish()
