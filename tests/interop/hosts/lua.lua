-- lua.lua - LuaJIT, one key at a time: KEYS FOLDER.
local ffi = require "ffi"
local petal = require "petal"
ffi.cdef "long long strtoll(const char *text, char **end, int base);"

local function unhex(value)
    if value == "-" then return "" end
    return (value:gsub("..", function(two) return string.char(tonumber(two, 16)) end))
end

local function real(value)
    local double = ffi.new("double[1]")
    ffi.copy(double, unhex(value):reverse(), 8)
    return double[0]
end

local READ = {
    text = unhex,
    i64 = function(value) return ffi.C.strtoll(value, nil, 10) + 0LL end,
    f64 = real,
    bytes = unhex,
}

for _, name in ipairs { "text", "i64", "f64", "bytes" } do
    local filter = assert(petal.open(arg[2] .. "/" .. name .. ".petal"))
    local answers, native = {}, nil
    for line in io.lines(arg[1]) do
        local value = line:match("^" .. name .. " (.*)$")
        if value then
            local key = READ[name](value)
            native = type(key) == "cdata" and "int64_t" or type(key)
            local present, message = filter:contains(key)
            if present == nil then error(message) end
            answers[#answers + 1] = present and "1" or "0"
        end
    end
    print(name .. "\t`" .. native .. "`\t" .. table.concat(answers))
end
