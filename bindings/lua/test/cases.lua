--- cases.lua - the table of cases that every binding runs (vectors/bindings/cases.txt).
local petal, tap, ffi = require "petal", require "tap", require "ffi"
local RENAMED = { memory = "memory_bytes", grow = "growth", window = "window_keys" }

local function number(text)
    if text:match("^%d+$") then return tap.whole(text) end
    return tonumber(text) -- nan too
end

local function chosen(words, first)
    local options = {}
    for i = first, #words do
        local name, value = words[i]:match("(.-)=(.*)")
        name = RENAMED[name] or name
        if name == "secret" then
            value = tap.unhex(value)
        elseif name == "growth" then
            value = true
        elseif name == "rate" or name == "growth_ratio" then
            value = tonumber(value)
            if value ~= value then value = -value end -- LuaJIT's own NaN is printed as -nan
        elseif name ~= "scheme" and name ~= "format" then
            value = number(value)
        end
        options[name] = value
    end
    return options
end

--- Calls each(words, outcome) for each case of the verb.
local function cases(verb, each)
    local count = 0
    for line in tap.read("vectors/bindings/cases.txt"):gmatch("[^\n]+") do
        local at = line:find(" = ", 1, true) -- an option has no spaces around its `=`
        if at and line:sub(1, #verb + 1) == verb .. " " then
            local before, outcome = line:sub(#verb + 2, at - 1), line:sub(at + 3)
            local words = {}
            for word in before:gmatch("%S+") do words[#words + 1] = word end
            each(words, outcome)
            count = count + 1
        end
    end
    assert(count >= 5, count .. " cases of " .. verb)
end

tap.test("plans have the sizes of the core", function()
    cases("plan", function(words, outcome)
        local plan = assert(petal.plan(chosen(words, 1)))
        local found = ("%s %s %s"):format(tostring(plan.bits), plan.hashes, tostring(plan.bytes))
        tap.equal(found, outcome, table.concat(words, " "))
    end)
end)

tap.test("what no filter can be is refused in the words of the core", function()
    cases("refuse", function(words, outcome)
        for _, call in ipairs { petal.create, petal.plan } do
            local _, message = call(chosen(words, 1))
            tap.equal(message, outcome, table.concat(words, " "))
        end
    end)
end)

tap.test("keys have the hashes of the core", function()
    cases("hash", function(words, outcome)
        local filter = assert(petal.create { capacity = 10, rate = 0.01, key_type = words[1] })
        local key
        if words[1] == "text" then
            key = tap.unhex(words[2])
        elseif words[1] == "i64" then
            key = tap.whole(words[2])
            key = ffi.cast("int64_t", words[2]:sub(1, 1) == "-" and -key or key)
        else
            key = tap.double(tap.unhex64(words[2]))
        end
        tap.equal(filter:hash(key), tap.unhex64(outcome), words[2])
    end)
end)

tap.test("filters err as the core does", function()
    local kinds = {
        text = function(i) return "key-" .. i end,
        i64 = function(i) return i end,
        f64 = function(i) return i / 2 end,
    }
    cases("fill", function(words, outcome)
        local options = chosen(words, 4)
        options.key_type = words[1]
        local filter, key = assert(petal.create(options)), kinds[words[1]]
        local count, asked, new, passed = tonumber(words[2]), tonumber(words[3]), 0, 0
        local again = assert(petal.create(options))
        local keys, absent = {}, {}
        for i = 0, count - 1 do
            keys[i + 1] = key(i)
            if filter:add(key(i)) then new = new + 1 end
        end
        tap.equal(again:add_batch(keys), new, "a batch")
        tap.equal(again:content_id(), filter:content_id(), "a batch")
        for i = count, count + asked - 1 do
            if filter:contains(key(i)) then passed = passed + 1 end
            absent[#absent + 1] = key(i)
        end
        local in_batch = 0
        for _, answer in ipairs(assert(again:contains_batch(absent))) do
            if answer then in_batch = in_batch + 1 end
        end
        tap.equal(in_batch, passed, "a batch")
        for _, answer in ipairs(assert(again:contains_batch(keys))) do
            assert(answer or options.window_keys, "a key is missed")
        end
        tap.equal(("%d %d %s"):format(new, passed, filter:content_id()), outcome, table.concat(words, " "))
    end)
end)

tap.test("broken files are refused in the words of the core", function()
    cases("open", function(words, outcome)
        local path = "vectors/" .. words[#words]
        local status = table.concat(words, " ", 1, #words - 1)
        local said, offset = outcome:match("^(.*) @ (.*)$")
        local place = offset == "-" and "" or " (at byte " .. offset .. ")"
        local _, message, given, at = petal.open(path, { format = "petal", verify = "open" })
        tap.equal(message, path .. ": " .. status .. ": " .. said .. place)
        tap.equal(given, status)
        tap.equal(at, tonumber(offset))
    end)
end)

tap.finish()
