--- kong.lua - the example for Kong, with a stand-in for what it calls.
local petal, tap = require "petal", require "tap"
local path = tap.here("kong.petal")
local said

kong = {
    log = { err = function(message) said = message end },
    client = { get_forwarded_ip = function() return kong.address end },
    response = { exit = function(status) return status end },
}
local plugin = assert(loadfile("bindings/lua/example/kong/handler.lua"))()

tap.test("the example for Kong blocks addresses, and a missing list blocks nothing", function()
    kong.address = "203.0.113.9"
    tap.equal(plugin:access { path = path }, nil)
    assert(said:find(path, 1, true) == 1, said)
    local list = assert(petal.create { capacity = 10, rate = 1e-6 })
    assert(list:add("ip 203.0.113.9") and list:save(path))
    tap.equal(plugin:access { path = path }, 403)
    kong.address = "203.0.113.10"
    tap.equal(plugin:access { path = path }, nil)
end)

tap.finish()
