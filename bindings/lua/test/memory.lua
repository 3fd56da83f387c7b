--- memory.lua - memory does not grow with filters that are closed, or are dropped without close().
local petal, tap = require "petal", require "tap"

--- A field of /proc/self/status, in MB; nil without /proc.
local function status(field)
    local file = io.open("/proc/self/status")
    if not file then return nil end
    local size = tonumber(file:read("*a"):match(field .. ":%s*(%d+) kB"))
    file:close()
    return size / 1024
end

local function descriptors()
    local list = io.popen("ls /proc/$PPID/fd | wc -l")
    local count = tonumber(list:read("*a"))
    list:close()
    return count
end

local function bounded(name, limit_mb, body)
    if not status("VmRSS") then return print("ok 0 - " .. name .. " # SKIP this machine: no /proc/self/status") end
    tap.test(name, function()
        collectgarbage()
        local before, files = status("VmRSS"), descriptors()
        local highest = 0
        body(function() highest = math.max(highest, status("VmRSS")) end)
        collectgarbage()
        assert(highest - before < limit_mb, ("%.0f MB more than %.0f"):format(highest - before, before))
        assert(descriptors() <= files + 300, descriptors())
    end)
end

bounded("100,000 filters that are dropped take no more memory", 100, function(measure)
    for i = 1, 100000 do
        local filter = petal.create { capacity = 1000, rate = 0.01 }
        filter:add("a")
        if i % 1000 == 0 then measure() end
    end
end)

bounded("100,000 filters that are closed take no more memory", 20, function(measure)
    for i = 1, 100000 do
        local filter = petal.create { capacity = 1000, rate = 0.01 }
        filter:add("a")
        filter:close()
        if i % 1000 == 0 then measure() end
    end
end)

bounded("5,000 filters of 1.2 MB that are dropped stay below 512 MB", 512, function(measure)
    local keys = {}
    for i = 1, 20000 do keys[i] = "key" .. i end -- touch every page
    for i = 1, 5000 do
        local filter = petal.create { capacity = 1000000, rate = 0.01 }
        if i % 50 == 0 then filter:add_batch(keys) end
        if i % 50 == 0 then measure() end
    end
end)

bounded("20,000 files that are opened and dropped take no more memory or descriptors", 50, function(measure)
    for i = 1, 20000 do
        assert(petal.open("vectors/petal/blocked.petal"):contains("key-1"))
        if i % 1000 == 0 then measure() end
    end
end)

bounded("failures take no memory", 20, function(measure)
    local filter = petal.open("vectors/petal/blocked.petal")
    for i = 1, 20000 do
        petal.open("no such file")
        petal.load("no filter")
        filter:add("a")
        filter:contains({})
        if i % 1000 == 0 then measure() end
    end
end)

tap.finish()
