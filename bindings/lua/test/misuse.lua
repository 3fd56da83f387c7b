--- misuse.lua - no argument raises an error or ends the process: nil, a message and a status.
local petal, tap, ffi = require "petal", require "tap", require "ffi"

-- What a program may pass by mistake.
local hostile = setmetatable({}, {
    __tostring = function() error("called") end, __index = function() error("called") end,
})
local VALUES = {
    false, true, 0, -1, 0.5, 1 / 0, 0 / 0, 2 ^ 63, 5LL, -5LL, 0xffffffffffffffffULL, "", "\0", "a\0b",
    "no such file", ("x"):rep(2 ^ 20), {}, { {} }, hostile, print, io.stdout, coroutine.create(print),
    ffi.new("int[2]"), ffi.new("petal_error"), ffi.cast("void *", 0), petal,
}

local function new() return assert(petal.create { capacity = 100, rate = 0.01 }) end

--- The call may succeed or fail, but raises no error.
local function calm(what, call, ...)
    local raised = not xpcall(call, function(message) print("# " .. what .. ": " .. tostring(message)) end, ...)
    assert(not raised, what .. " raised an error")
end

tap.test("each function of the module takes every value", function()
    for name, call in pairs(petal) do
        if type(call) == "function" then
            calm(name, call)
            for _, value in ipairs(VALUES) do
                calm(name, call, value)
                for _, path in ipairs { "vectors/petal/blocked.petal", value } do calm(name, call, path, value) end
            end
        end
    end
end)

local METHODS = getmetatable(new()).__index

tap.test("each method takes every value, of an open and of a closed filter", function()
    local count = 0
    for name, method in pairs(METHODS) do
        if name:sub(1, 2) ~= "__" then
            count = count + 1
            for _, value in ipairs(VALUES) do
                if not (name == "save" and type(value) == "string") then -- which makes files
                    calm(name, method, new(), value)
                    calm(name, method, new(), tap.here("misused"), value)
                    calm(name, method, new(), { "a", value })
                end
                local closed = new()
                closed:close()
                calm(name, method, closed, value)
            end
        end
    end
    assert(count >= 20, count)
end)

tap.test("each call of a closed filter fails, and closing again does not", function()
    local filter, other = new(), new()
    assert(filter:close() == true and filter:close() == true)
    for name, method in pairs(METHODS) do
        if name:sub(1, 2) ~= "__" and name ~= "close" then
            local found, message, status = method(filter, name == "merge" and other or "a")
            tap.fails(name, "bad argument", found, message, status)
            assert(message:find("closed", 1, true), message)
        end
    end
    tap.equal(tostring(filter), "petal filter (closed)")
    tap.fails("merge", "bad argument", other:merge(filter))
end)

tap.test("wrong options are named", function()
    for name, value in pairs {
        scheme = "cuckoo", capacity = -1, rate = "much", hashes = 2 ^ 32, seed = 0.5, secret = "short",
        format = "a\0b", growth = 1, key_type = "varchar", metadata = 5, typo = 1, window_keys = {},
    } do
        for _, call in ipairs { petal.create, petal.plan } do
            local message = tap.fails(name, "bad argument", call { capacity = 10, rate = 0.01, [name] = value })
            assert(message:find(name, 1, true), message)
        end
    end
    for name, value in pairs { mode = "fast", verify = true, recover = 1, live = "yes", typo = 1, key_type = 5,
        max_bytes = -1, memory_limit = "big", format = {}, secret = 5 } do
        local message = tap.fails(name, "bad argument", petal.open("vectors/petal/blocked.petal", { [name] = value }))
        assert(message:find(name, 1, true), message)
        tap.fails(name, "bad argument", petal.load("", { [name] = value }))
    end
    tap.fails("save", "bad argument", new():save(tap.here("x"), { replace = 1 }))
    tap.fails("save", "bad argument", new():save(tap.here("x"), { typo = 1 }))
    tap.fails("watch", "bad argument", petal.watch("vectors/petal/blocked.petal", { every = "often" }))
    tap.fails("watch", "bad argument", petal.watch("vectors/petal/blocked.petal", { log = 5 }))
    tap.fails("merge", "bad argument", new():merge({}))
end)

tap.test("files that are no filters are refused", function()
    tap.fails("none", "i/o error", petal.open("no such file"))
    assert(select(2, petal.open("no such file")):find("no such file: ", 1, true) == 1)
    tap.fails("folder", "i/o error", petal.open("vectors"))
    tap.fails("text", "not a filter", petal.open("vectors/README.md"))
    tap.fails("empty", "not a filter", petal.load(""))
    tap.fails("limit", "over a limit", petal.open("vectors/petal/blocked.petal", { max_bytes = 10 }))
    tap.fails("format", "bad argument", petal.open("vectors/petal/blocked.petal", { format = "nothing" }))
    tap.fails("long", "i/o error", petal.open(("x"):rep(2 ^ 20)))
    tap.fails("no folder", "i/o error", new():save("no such folder/filter"))
end)

tap.test("the module can be loaded again, as with lua_code_cache off", function()
    package.loaded.petal = nil
    local again = require "petal"
    assert(again ~= petal and again.create({ capacity = 10, rate = 0.1 }):add("a"))
    tap.fails("of another copy", "bad argument", new():merge(again.create { capacity = 100, rate = 0.01 }))
end)

tap.finish()
