--- gateway.lua - refuses requests whose address or token is on the blocklist.
--
-- The list is a filter of lines such as "ip 203.0.113.9" and "token 5f1c..", made by
-- `petal build -p 0.0001% -o blocklist.petal`. To change it, build the new list beside it and move
-- that over it with mv: each worker maps the new file at its next request after a second, without a
-- reload, and all workers share its pages. A broken file changes nothing but the error log.
local petal = require "petal"
local list

local gateway = {}

--- For init_by_lua: without a list, nginx does not start.
function gateway.open(path)
    list = assert(petal.watch(path, { every = 1 }))
end

--- For access_by_lua.
function gateway.access()
    local blocked, message = list:contains("ip " .. ngx.var.remote_addr)
    local token = ngx.var.http_authorization
    if not blocked and token then
        blocked, message = list:contains("token " .. token:gsub("^[Bb]earer ", ""))
    end
    -- An error lets the request through: this list is a filter in front of the real check.
    if message then ngx.log(ngx.ERR, "gateway: ", message) end
    if blocked then return ngx.exit(ngx.HTTP_FORBIDDEN) end
end

return gateway
