--- handler.lua - the same blocklist as a plugin of Kong. It is an example: the tests run it with a
--- stand-in for Kong. The plugin's schema.lua has one field, `path`.
local petal = require "petal"
local lists = {} -- by path: each worker has its own table, and all share the pages of the files

local Blocklist = { PRIORITY = 2000, VERSION = petal._VERSION }

function Blocklist:access(config)
    local list, message = lists[config.path], nil
    if not list then
        list, message = petal.watch(config.path, { every = 1 })
        if not list then return kong.log.err(message) end
        lists[config.path] = list
    end
    if list:contains("ip " .. kong.client.get_forwarded_ip()) then
        return kong.response.exit(403, { message = "blocked" })
    end
end

return Blocklist
