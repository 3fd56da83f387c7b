--- petal.lua - Bloom filters for LuaJIT, OpenResty and nginx: one file over the library libpetal.
--
--     local petal = require "petal"
--     local list, message, status = petal.open("blocklist.petal")
--     if list:contains("203.0.113.9") then ...
--
-- A call that fails returns nil, a message, the name of its status, and, if they are known, the
-- offset in the file or the index in the batch. No call raises an error, whatever its arguments.
-- docs/lua.md has every call.
local VERSION = "0.1.0"

local found, ffi = pcall(require, "ffi")
if not found then error("petal: this Lua has no FFI; use LuaJIT or OpenResty") end
local bit = require "bit"
local byte, char, concat, floor = string.byte, string.char, table.concat, math.floor
local string_of = ffi.string

-- ---- the library ------------------------------------------------------------------------------

-- Written by bindings/lua/declare, from the headers: run it after using another call or constant.
-- Begin of what declare writes.
local DECLARED = [[
typedef int32_t petal_status;
enum { PETAL_SECRET_BYTES = 16, PETAL_SAVE_NO_REPLACE = 1, PETAL_OPEN_MAP = 0,
    PETAL_OPEN_WRITABLE = 1, PETAL_OPEN_LOAD = 2, PETAL_OPEN_VERIFY = 16, PETAL_OPEN_RECOVER =
    32, PETAL_OPEN_LIVE = 64, PETAL_OPEN_VERIFY_ON_USE = 2048, PETAL_CAN_EMPTY_KEY = 16384,
    PETAL_OK = 0, PETAL_ERR_ARGUMENT = -1, PETAL_ERR_LIMIT = -3, PETAL_ERR_MEMORY = -4,
    PETAL_ERR_UNSUPPORTED = -7, PETAL_ERR_IO = -8, PETAL_ERR_BUSY = -10, PETAL_SCHEME_BLOCKED =
    1, PETAL_SCHEME_CLASSIC = 2, PETAL_SCHEME_COUNTING = 3, PETAL_SCHEME_STATIC = 4,
    PETAL_KEY_TYPE_NONE = 0, PETAL_KEY_TYPE_TEXT = 1, PETAL_KEY_TYPE_UTF16LE = 2,
    PETAL_KEY_TYPE_I32 = 3, PETAL_KEY_TYPE_I64 = 4, PETAL_KEY_TYPE_F64 = 5, PETAL_KEY_TYPE_HEX =
    6, PETAL_KEY_TYPE_BASE64 = 7, PETAL_LAYOUT_POINTERS = 0, PETAL_POLICY_GROWING = 1,
    PETAL_ALL_LAYERS = -1 };
typedef struct petal_filter petal_filter;
typedef struct petal_error { petal_status status; int32_t system_errno; uint64_t offset; char
    message[240]; } petal_error;
typedef struct petal_allocator { void *(*alloc_zeroed)(void *context, size_t size_bytes); void
    (*release)(void *context, void *memory, size_t size_bytes); void *context; }
    petal_allocator;
typedef struct petal_options { uint32_t struct_size; uint32_t scheme; uint32_t hash; uint32_t
    key_type; uint64_t capacity; double rate; uint64_t memory_bytes; uint64_t bits; uint32_t
    hashes; uint32_t lines_per_key; uint64_t seed; const void *secret; const void *metadata;
    uint64_t metadata_bytes; const petal_allocator *allocator; const char *format; uint8_t
    growth; uint8_t refuse_overfull; uint8_t foldable; uint8_t reserved[1]; uint32_t
    growth_step; double growth_ratio; uint64_t window_keys; uint64_t window_ms; uint32_t
    generations; uint32_t reserved2; } petal_options;
typedef struct petal_key { const void *data; size_t size_bytes; } petal_key;
typedef struct petal_batch { uint32_t struct_size; uint32_t layout; const void *data; const void
    *offsets; uint64_t data_bytes; uint64_t key_bytes; uint64_t stride; uint64_t count; }
    petal_batch;
typedef struct petal_batch_outcome { uint32_t struct_size; uint32_t reserved; uint64_t done;
    uint64_t positive; } petal_batch_outcome;
typedef struct petal_save_options { uint32_t struct_size; uint32_t flags; const char *format; }
    petal_save_options;
typedef struct petal_open_options { uint32_t struct_size; uint32_t flags; const void *secret;
    uint64_t max_bytes; const petal_allocator *allocator; const char *format; uint64_t
    memory_limit; void (*release)(void *context, const void *bytes, uint64_t size_bytes); void
    *release_context; uint8_t refuse_overfull; uint8_t reserved[7]; } petal_open_options;
typedef struct petal_info { uint32_t struct_size; uint32_t abilities; uint32_t scheme; uint32_t
    hash; uint32_t hashes; uint32_t lines_per_key; uint32_t layers; uint32_t counter_bits;
    uint64_t bits; uint64_t bytes; uint64_t memory_bytes; uint64_t capacity; double target_rate;
    double predicted_rate; uint64_t items; uint64_t seed; uint64_t metadata_bytes; uint32_t
    secret_id; uint32_t key_type; uint32_t policy; uint8_t keyed; uint8_t reserved[3]; const
    char *scheme_name; const char *hash_name; const char *format_name; const char *kernel_name;
    } petal_info;
typedef struct petal_layers_info { uint32_t struct_size; uint32_t growth_step; double
    growth_ratio; uint64_t window_keys; uint64_t window_ms; uint32_t generations; uint32_t
    reserved; uint64_t clock_ms; uint64_t earliest_ms; uint64_t latest_ms; } petal_layers_info;
typedef struct petal_file_info { uint32_t struct_size; uint8_t live; uint8_t verifiable; uint8_t
    verifies_on_use; uint8_t reserved; uint64_t unchecked_blocks; uint64_t compared_blocks;
    uint64_t recovered_blocks; const char *format_name; } petal_file_info;
typedef struct petal_estimate { double value; double low; double high; } petal_estimate;
typedef struct petal_stats { uint32_t struct_size; uint8_t saturated; uint8_t overfull; uint8_t
    reserved[2]; uint64_t bits_set; uint64_t saturated_counters; double fill; petal_estimate
    estimated_items; double estimated_rate; } petal_stats;
typedef struct petal_format_info { uint32_t struct_size; uint32_t abilities; const char *name;
    const char *keys; } petal_format_info;
const char *petal_status_name(petal_status status);
const char *petal_version(void);
uint32_t petal_version_number(void);
petal_status petal_create(const petal_options *options, petal_filter **filter, petal_error
    *error);
void petal_free(petal_filter *filter);
petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes);
bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes);
petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);
uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);
void petal_encode_i32(int32_t value, uint8_t key[4]);
void petal_encode_i64(int64_t value, uint8_t key[8]);
void petal_encode_f64(double value, uint8_t key[8]);
petal_status petal_add_batch(petal_filter *filter, const petal_batch *batch, uint8_t *results,
    petal_batch_outcome *outcome, petal_error *error);
petal_status petal_contains_batch(const petal_filter *filter, const petal_batch *batch, uint8_t
    *results, petal_batch_outcome *outcome, petal_error *error);
petal_status petal_remove_batch(petal_filter *filter, const petal_batch *batch, uint8_t
    *results, petal_batch_outcome *outcome, petal_error *error);
petal_status petal_save(const petal_filter *filter, const char *path, const petal_save_options
    *options, petal_error *error);
petal_status petal_open(const char *path, const petal_open_options *options, petal_filter
    **filter, petal_error *error);
petal_status petal_sync(petal_filter *filter, petal_error *error);
petal_status petal_verify(const petal_filter *filter, petal_error *error);
petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
    petal_error *error);
petal_status petal_get_layers_info(const petal_filter *filter, uint32_t layer, petal_layers_info
    *info, petal_error *error);
petal_status petal_get_file_info(const petal_filter *filter, petal_file_info *info, petal_error
    *error);
petal_status petal_get_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats,
    petal_error *error);
petal_status petal_content_id(const petal_filter *filter, uint64_t *content_id, petal_error
    *error);
bool petal_is_overfull(const petal_filter *filter);
petal_status petal_last_error(const petal_filter *filter, petal_error *error);
const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes);
petal_status petal_plan(const petal_options *options, petal_info *plan, petal_layers_info
    *layers, petal_error *error);
petal_status petal_clear(petal_filter *filter, petal_error *error);
petal_status petal_freeze(petal_filter *filter, petal_error *error);
petal_status petal_merge(petal_filter *filter, const petal_filter *other, petal_error *error);
petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error);
bool petal_format_at(uint32_t place, petal_format_info *info);
uint64_t petal_serialized_bytes(const petal_filter *filter, const petal_save_options *options);
petal_status petal_serialize(const petal_filter *filter, const petal_save_options *options, void
    *bytes, uint64_t size_bytes, petal_error *error);
petal_status petal_load(const void *bytes, uint64_t size_bytes, const petal_open_options
    *options, petal_filter **filter, petal_error *error);
]]
-- End of what declare writes.

-- Layouts are the kernel's, so they are the same for every CPU: how a watched file is identified.
local SYSTEM = [[
typedef struct petal_lua_time { int64_t seconds; uint32_t nanoseconds; int32_t reserved; } petal_lua_time;
typedef struct petal_lua_statx {
    uint32_t mask, block_bytes;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, reserved;
    uint64_t inode, size_bytes, blocks, attributes_mask;
    petal_lua_time accessed, born, changed, modified;
    uint32_t device_type_major, device_type_minor, device_major, device_minor;
    uint64_t spare[14];
} petal_lua_statx;
int statx(int folder, const char *path, int flags, unsigned int mask, petal_lua_statx *found);
]]

-- With lua_code_cache off, OpenResty loads this file for every request, but C types stay.
if not pcall(ffi.typeof, "petal_lua_statx") then ffi.cdef(DECLARED .. SYSTEM) end

--- The library beside this file, or the system's, under the name that Debian gives it.
local function load_library()
    local folder = debug.getinfo(1, "S").source:match("^@(.*/)[^/]*$")
    local soname = "libpetal.so." .. VERSION:match("^%d+%.%d+")
    local tried = {}
    for _, name in ipairs { (folder or "./") .. "libpetal.so", soname, "petal" } do
        local loaded, lib = pcall(ffi.load, name)
        if loaded then return lib end
        tried[#tried + 1] = tostring(lib)
    end
    error("petal: no library libpetal: " .. concat(tried, "; "))
end

local lib = load_library()
do
    local major, minor = VERSION:match("^(%d+)%.(%d+)")
    if floor(lib.petal_version_number() / 100) ~= major * 100 + minor then
        error("petal: petal.lua is of version " .. VERSION .. ", the library of " ..
            string_of(lib.petal_version()))
    end
end

-- One Lua state is one thread, and nothing here yields, so every call may use these.
local failed = ffi.new("petal_error")
local info_struct, layers_struct = ffi.new("petal_info"), ffi.new("petal_layers_info")
local file_struct, stats_struct = ffi.new("petal_file_info"), ffi.new("petal_stats")
local filter_pointer = ffi.typeof("petal_filter *[1]")

local function begin(struct)
    ffi.fill(struct, ffi.sizeof(struct))
    struct.struct_size = ffi.sizeof(struct)
    return struct
end

-- ---- errors -------------------------------------------------------------------------------------

local NO_OFFSET = 0xffffffffffffffffULL
local function status_of(code) return string_of(lib.petal_status_name(code)) end
local ARGUMENT, UNSUPPORTED = status_of(lib.PETAL_ERR_ARGUMENT), status_of(lib.PETAL_ERR_UNSUPPORTED)
local LIMIT, MEMORY = status_of(lib.PETAL_ERR_LIMIT), status_of(lib.PETAL_ERR_MEMORY)
local WRONG_TYPE, OUT_OF_RANGE = "wrong key type", "key out of range"

--- A uint64_t as a Lua number if that is exact.
local function number_of(value)
    if value <= 0x20000000000000ULL then return tonumber(value) end
    return value
end

local function refused(message, status)
    status = status or ARGUMENT
    return nil, status .. ": " .. message, status
end

--- A value for a message; tostring() may call what the value brings along.
local function shown(value)
    local kind = type(value)
    if kind == "string" or kind == "number" or kind == "boolean" then return tostring(value) end
    return "a " .. kind
end

--- The results of a call of the library that failed; batches give the index of their key.
local function failure(code, path, index)
    local status = status_of(code)
    local message = status .. ": " .. string_of(failed.message)
    if path then message = path .. ": " .. message end
    if index then return nil, message .. " (key " .. index .. ")", status, index end
    if failed.offset == NO_OFFSET then return nil, message, status end
    local offset = number_of(failed.offset)
    return nil, message .. " (at byte " .. tostring(offset):gsub("ULL", "") .. ")", status, offset
end

-- ---- options ------------------------------------------------------------------------------------

local SCHEMES = {
    blocked = lib.PETAL_SCHEME_BLOCKED, classic = lib.PETAL_SCHEME_CLASSIC,
    counting = lib.PETAL_SCHEME_COUNTING, static = lib.PETAL_SCHEME_STATIC,
}
local KEY_TYPES = {
    none = lib.PETAL_KEY_TYPE_NONE, text = lib.PETAL_KEY_TYPE_TEXT,
    utf16le = lib.PETAL_KEY_TYPE_UTF16LE, i32 = lib.PETAL_KEY_TYPE_I32,
    i64 = lib.PETAL_KEY_TYPE_I64, f64 = lib.PETAL_KEY_TYPE_F64, hex = lib.PETAL_KEY_TYPE_HEX,
    base64 = lib.PETAL_KEY_TYPE_BASE64,
}
local KEY_TYPE_NAMES = {}
for name, value in pairs(KEY_TYPES) do KEY_TYPE_NAMES[value] = name end

-- What an option may be: the names of a list, or a limit of whole numbers, or one of these.
local U32, U64 = 0xffffffffULL, NO_OFFSET
local CREATE = {
    scheme = SCHEMES, key_type = KEY_TYPES, capacity = U64, rate = "number", memory_bytes = U64,
    bits = U64, hashes = U32, lines_per_key = U32, seed = U64, secret = "secret",
    metadata = "bytes", format = "name", growth = "flag", refuse_overfull = "flag",
    foldable = "flag", growth_step = U32, growth_ratio = "number", window_keys = U64,
    window_ms = U64, generations = U32,
}
local MODES = {
    map = lib.PETAL_OPEN_MAP, writable = lib.PETAL_OPEN_WRITABLE, load = lib.PETAL_OPEN_LOAD,
}
local VERIFY = {
    use = lib.PETAL_OPEN_VERIFY_ON_USE, open = lib.PETAL_OPEN_VERIFY, never = 0,
}
-- Those that are no fields of the struct have false, and are read by themselves.
local OPEN = {
    secret = "secret", max_bytes = U64, memory_limit = U64, format = "name",
    refuse_overfull = "flag", mode = false, verify = false, recover = false, live = false,
    key_type = false,
}
local SAVE = { format = "name", replace = false }

local function is_whole(value, limit)
    if type(value) == "number" then
        return value >= 0 and value % 1 == 0 and value < 2 ^ 64 and value <= tonumber(limit)
    end
    if ffi.istype("uint64_t", value) then return value <= limit end
    return ffi.istype("int64_t", value) and value >= 0 and ffi.cast("uint64_t", value) <= limit
end

local is_valid = {
    number = function(value) return type(value) == "number" end,
    flag = function(value) return type(value) == "boolean" end,
    bytes = function(value) return type(value) == "string" end,
    name = function(value) return type(value) == "string" and not value:find("%z") end,
    secret = function(value)
        return type(value) == "string" and #value == lib.PETAL_SECRET_BYTES
    end,
}

local function set_option(struct, name, kind, value)
    if type(kind) == "table" then
        if kind[value] == nil then return false end
        struct[name] = kind[value]
    elseif type(kind) == "string" then
        if not is_valid[kind](value) then return false end
        if kind == "flag" then value = value and 1 or 0 end
        struct[name] = value
        if name == "metadata" then struct.metadata_bytes = #value end
    else
        if not is_whole(value, kind) then return false end
        struct[name] = value
    end
    return true
end

--- Writes the options into the struct. It borrows their strings, so it lives no longer than they.
local function read_options(struct, options, known)
    if type(options) == "nil" then return true end
    if type(options) ~= "table" then return refused("options are a table") end
    for name, value in pairs(options) do
        local kind = known[name]
        if kind == nil then return refused("there is no option " .. shown(name)) end
        if kind and not set_option(struct, name, kind, value) then
            return refused("the option " .. name .. " can't be " .. shown(value))
        end
    end
    return true
end

local function chosen(options, name, names, default)
    local value = options and rawget(options, name)
    if value == nil then return names[default] end
    if names[value] == nil then
        return refused("the option " .. name .. " can't be " .. shown(value))
    end
    return names[value]
end

local function flag(options, name, value)
    local given = options and rawget(options, name)
    if given == nil or given == false then return 0 end
    if given == true then return value end
    return refused("the option " .. name .. " is true or false")
end

-- ---- keys ---------------------------------------------------------------------------------------

--- Text as UTF-16LE, or nil if it is not UTF-8.
local function utf16le(text)
    local units, at = {}, 1
    local function unit(value) units[#units + 1] = char(value % 256, floor(value / 256)) end
    while at <= #text do
        local first = byte(text, at)
        local more = first < 0x80 and 0 or first < 0xc2 and -1 or first < 0xe0 and 1 or
            first < 0xf0 and 2 or first < 0xf5 and 3 or -1
        if more < 0 or at + more > #text then return nil end
        local point = more == 0 and first or first % 2 ^ (6 - more)
        for i = at + 1, at + more do
            local next_byte = byte(text, i)
            if next_byte < 0x80 or next_byte > 0xbf then return nil end
            point = point * 64 + next_byte % 64
        end
        local is_short = more == 2 and point < 0x800 or more == 3 and point < 0x10000
        if is_short or point > 0x10ffff or point >= 0xd800 and point < 0xe000 then return nil end
        if point < 0x10000 then
            unit(point)
        else
            unit(0xd800 + floor((point - 0x10000) / 1024))
            unit(0xdc00 + (point - 0x10000) % 1024)
        end
        at = at + more + 1
    end
    return concat(units)
end

--- A key that is an integer, as int64_t; nil and why not otherwise.
local function integer(key, key_type)
    local value
    if type(key) == "number" then
        if key % 1 ~= 0 then return refused(key .. " is no integer", WRONG_TYPE) end
        if key > 2 ^ 53 or key < -2 ^ 53 then
            return refused("numbers are exact up to 2^53; pass an int64_t, such as 42LL", OUT_OF_RANGE)
        end
        value = ffi.cast("int64_t", key)
    elseif ffi.istype("uint64_t", key) and key > 0x7fffffffffffffffULL then
        return refused(tostring(key) .. " is no signed integer of 64 bits", OUT_OF_RANGE)
    else
        value = ffi.cast("int64_t", key)
    end
    if key_type == KEY_TYPES.i32 and (value < -0x80000000LL or value > 0x7fffffffLL) then
        return refused(tostring(key) .. " is no signed integer of 32 bits", OUT_OF_RANGE)
    end
    return value
end

local function is_integer(key) return ffi.istype("int64_t", key) or ffi.istype("uint64_t", key) end

local function wrong_type(key, key_type)
    local given = is_integer(key) and "an int64_t" or type(key) == "nil" and "nil" or "a " .. type(key)
    if type(key) == "number" and key_type == KEY_TYPES.none then
        return refused("a number is a key only with a type: open the filter with key_type", WRONG_TYPE)
    end
    local keys = key_type == KEY_TYPES.none and "keys are strings and integers" or
        "the filter has keys of type " .. KEY_TYPE_NAMES[key_type]
    return refused(keys .. ", and this is " .. given, WRONG_TYPE)
end

local TAKES_STRINGS, TAKES_INTEGERS = {}, {}
for name in pairs { none = 1, text = 1, hex = 1, base64 = 1 } do TAKES_STRINGS[KEY_TYPES[name]] = true end
for name in pairs { none = 1, i32 = 1, i64 = 1 } do TAKES_INTEGERS[KEY_TYPES[name]] = true end

--- The bytes of a key: a string, or the number of bytes written to `bytes`; nil and why not.
local function encode(key, key_type, bytes)
    if type(key) == "string" then
        if TAKES_STRINGS[key_type] then return key end
        if key_type ~= KEY_TYPES.utf16le then return wrong_type(key, key_type) end
        local wide = utf16le(key)
        if not wide then return refused("the key is not UTF-8", WRONG_TYPE) end
        return wide
    end
    if type(key) == "number" and key_type == KEY_TYPES.f64 then
        lib.petal_encode_f64(key, bytes)
        return 8
    end
    local fits = is_integer(key) or type(key) == "number" and key_type ~= KEY_TYPES.none
    if not (fits and TAKES_INTEGERS[key_type]) then return wrong_type(key, key_type) end
    local value, message, status = integer(key, key_type)
    if not value then return nil, message, status end
    if key_type == KEY_TYPES.i32 then
        lib.petal_encode_i32(value, bytes)
        return 4
    end
    lib.petal_encode_i64(value, bytes)
    return 8
end

-- ---- batches ------------------------------------------------------------------------------------

local CHUNK = 1024
local chunk = ffi.new("petal_key[?]", CHUNK)
local chunk_bytes = ffi.new("uint8_t[?][8]", CHUNK)
local chunk_index = ffi.new("uint32_t[?]", CHUNK)
local chunk_results = ffi.new("uint8_t[?]", CHUNK)
local chunk_strings = {} -- keeps converted keys alive
local batch, outcome = ffi.new("petal_batch"), ffi.new("petal_batch_outcome")

local function place(self, key, at)
    local bytes, message, status = encode(key, self.key_type, chunk_bytes[at])
    if not bytes then return nil, message, status end
    if type(bytes) == "string" then
        if self.rejects_empty and bytes == "" then return "skip" end
        chunk_strings[at] = bytes
        chunk[at].data, chunk[at].size_bytes = bytes, #bytes
    else
        chunk[at].data, chunk[at].size_bytes = chunk_bytes[at], bytes
    end
    return "take"
end

--- Sends the keys of the chunk. `answers` may be nil. Returns how many answers are 1.
local function send(self, call, count, answers)
    if count == 0 then return 0 end
    begin(batch)
    batch.layout, batch.data, batch.count = lib.PETAL_LAYOUT_POINTERS, chunk, count
    local code = call(self.handle, batch, chunk_results, begin(outcome), failed)
    for i = 0, answers and tonumber(outcome.done) - 1 or -1 do
        answers[chunk_index[i]] = chunk_results[i] ~= 0
    end
    if code < 0 then
        local has_index = failed.offset < count
        return failure(code, nil, has_index and chunk_index[tonumber(failed.offset)] or nil)
    end
    return tonumber(outcome.positive)
end

--- Calls `call` for all keys, in chunks. All keys before a refused one are processed, none after
--- it. Returns how many answers are 1, and how many empty keys the scheme does not accept.
local function run(self, keys, call, answers)
    if not self.handle then return refused("the filter is closed") end
    if type(keys) ~= "table" then return refused("the keys of a batch are a table") end
    local positive, skipped, count = 0, 0, 0
    local total = #keys
    for index = 1, total do
        local what, message, status = place(self, keys[index], count)
        if what == "take" then
            chunk_index[count] = index
            count = count + 1
        elseif what == "skip" then
            skipped = skipped + 1
            if answers then answers[index] = false end
        end
        if not what or count == CHUNK or index == total then
            local sent, why, kind, place_of = send(self, call, count, answers)
            if not sent then return nil, why, kind, place_of end
            positive, count = positive + sent, 0
        end
        if not what then
            return nil, message .. " (key " .. index .. ")", status, index
        end
    end
    return positive, skipped
end

--- A batch of one: for the message of a failure.
local function again(self, key, call)
    local what, message, status = place(self, key, 0)
    if what == "skip" then
        return refused("the scheme does not accept the empty key", UNSUPPORTED)
    end
    if not what then return nil, message, status end
    chunk_index[0] = 1
    local sent, why, kind = send(self, call, 1)
    if not sent then return nil, (why:gsub(" %(key 1%)$", "")), kind end
    return sent == 1
end

-- ---- filters ------------------------------------------------------------------------------------

local Filter = {}
Filter.__index = Filter

-- The collector does not see the memory of filters. It runs after so much of it was given to filters
-- that nobody closed; each counts with a floor, since maps and files are limited too.
local UNSEEN_BYTES, FLOOR_BYTES = 64 * 2 ^ 20, 256 * 2 ^ 10
local unseen = 0

local function wrap(pointer, path, key_type)
    local handle = ffi.gc(pointer[0], lib.petal_free)
    local code = lib.petal_get_info(handle, lib.PETAL_ALL_LAYERS, begin(info_struct), failed)
    if code < 0 then return failure(code, path) end
    lib.petal_get_file_info(handle, begin(file_struct), failed)
    key_type = key_type or info_struct.key_type
    local self = setmetatable({
        handle = handle,
        path = path,
        key_type = key_type,
        takes_strings = TAKES_STRINGS[key_type] or false,
        verifies = file_struct.verifies_on_use == 1,
        rejects_empty = bit.band(info_struct.abilities, lib.PETAL_CAN_EMPTY_KEY) == 0,
        counted_bytes = FLOOR_BYTES + tonumber(info_struct.memory_bytes),
    }, Filter)
    unseen = unseen + self.counted_bytes
    if unseen > UNSEEN_BYTES then
        unseen = 0
        collectgarbage()
    end
    return self
end

--- Makes an empty filter in memory; the options are those of petal_options.
local function create(options)
    local struct = begin(ffi.new("petal_options"))
    struct.key_type = KEY_TYPES.text
    local valid, message, status = read_options(struct, options, CREATE)
    if not valid then return nil, message, status end
    local pointer = filter_pointer()
    local code = lib.petal_create(struct, pointer, failed)
    if code < 0 then return failure(code) end
    return wrap(pointer)
end

--- Describes the filter that create() would make, without making it.
local function plan(options)
    local struct = begin(ffi.new("petal_options"))
    local valid, message, status = read_options(struct, options, CREATE)
    if not valid then return nil, message, status end
    local code = lib.petal_plan(struct, begin(info_struct), nil, failed)
    if code < 0 then return failure(code) end
    return {
        bits = number_of(info_struct.bits), hashes = info_struct.hashes,
        bytes = number_of(info_struct.bytes), layers = info_struct.layers,
        predicted_rate = info_struct.predicted_rate,
    }
end

--- Fills in petal_open_options. Returns the key type to assume, or false for the recorded one.
local function opening(struct, options)
    struct.format = "auto"
    local valid, message, status = read_options(struct, options, OPEN)
    if not valid then return nil, message, status end
    local flags = 0
    for name, names in pairs { mode = MODES, verify = VERIFY } do
        local value, why, kind = chosen(options, name, names, name == "mode" and "map" or "use")
        if not value then return nil, why, kind end
        flags = flags + value
    end
    for name, bits in pairs { recover = lib.PETAL_OPEN_RECOVER, live = lib.PETAL_OPEN_LIVE } do
        local value, why, kind = flag(options, name, bits)
        if not value then return nil, why, kind end
        flags = flags + value
    end
    struct.flags = flags
    if not options or rawget(options, "key_type") == nil then return false end
    return chosen(options, "key_type", KEY_TYPES)
end

--- Opens a file of any format: mapped for reading unless options.mode says otherwise.
local function open(path, options)
    if not is_valid.name(path) then return refused("a path is a string without zero bytes") end
    local struct = begin(ffi.new("petal_open_options"))
    local key_type, message, status = opening(struct, options)
    if key_type == nil then return nil, message, status end
    local pointer = filter_pointer()
    local code = lib.petal_open(path, struct, pointer, failed)
    if code < 0 then return failure(code, path) end
    return wrap(pointer, path, key_type or nil)
end

--- Makes a filter from the bytes of a file, as a copy.
local function load(bytes, options)
    if type(bytes) ~= "string" then return refused("the bytes of a filter are a string") end
    local struct = begin(ffi.new("petal_open_options"))
    local key_type, message, status = opening(struct, options)
    if key_type == nil then return nil, message, status end
    local pointer = filter_pointer()
    local code = lib.petal_load(bytes, #bytes, struct, pointer, failed)
    if code < 0 then return failure(code) end
    return wrap(pointer, nil, key_type or nil)
end

--- Releases the filter now. All later calls fail. A writable map is synced first; to know whether
--- that worked, call sync().
function Filter:close()
    if not self.handle then return true end
    unseen = unseen - self.counted_bytes
    lib.petal_free(ffi.gc(self.handle, nil))
    self.handle = nil
    return true
end

--- Is the key present? false: certainly not. true: probably.
function Filter:contains(key)
    local handle = self.handle
    if handle and self.takes_strings and type(key) == "string" then
        local present = lib.petal_contains(handle, key, #key)
        if present and self.verifies and lib.petal_last_error(handle, failed) < 0 then
            return again(self, key, lib.petal_contains_batch)
        end
        return present
    end
    if not handle then return refused("the filter is closed") end
    local what, message, status = place(self, key, 0)
    if what == "skip" then return false end
    if not what then return nil, message, status end
    local present = lib.petal_contains(handle, chunk[0].data, chunk[0].size_bytes)
    if present and self.verifies and lib.petal_last_error(handle, failed) < 0 then
        return again(self, key, lib.petal_contains_batch)
    end
    return present
end

local function change(self, key, call, batch_call, positive)
    if not self.handle then return refused("the filter is closed") end
    local what, message, status = place(self, key, 0)
    if not what then return nil, message, status end
    local code = lib.PETAL_ERR_UNSUPPORTED
    if what == "take" then code = call(self.handle, chunk[0].data, chunk[0].size_bytes) end
    if code < 0 then return again(self, key, batch_call) end
    return code == positive
end

--- Adds a key. true: it was certainly new. false: it was probably present.
function Filter:add(key)
    return change(self, key, lib.petal_add, lib.petal_add_batch, lib.PETAL_OK)
end

--- Removes a key from a counting filter. false: it was certainly absent. Remove only keys that were
--- added.
function Filter:remove(key)
    return change(self, key, lib.petal_remove, lib.petal_remove_batch, lib.PETAL_OK)
end

--- Which of the keys are present: a table of true and false.
function Filter:contains_batch(keys)
    local answers = {}
    local done, message, status, index = run(self, keys, lib.petal_contains_batch, answers)
    if not done then return nil, message, status, index end
    return answers
end

local function change_batch(self, keys, call)
    local count, message, status, index = run(self, keys, call)
    if not count then return nil, message, status, index end
    local skipped = message
    if skipped == 0 then return count end
    return count, skipped .. " empty keys were skipped: the scheme does not accept them"
end

--- Adds the keys. Returns how many were new.
function Filter:add_batch(keys) return change_batch(self, keys, lib.petal_add_batch) end

--- Removes the keys. Returns how many were removed.
function Filter:remove_batch(keys) return change_batch(self, keys, lib.petal_remove_batch) end

--- The 64-bit hash of a key, as uint64_t.
function Filter:hash(key)
    if not self.handle then return refused("the filter is closed") end
    local what, message, status = place(self, key, 0)
    if not what then return nil, message, status end
    if what == "skip" then return lib.petal_hash_key(self.handle, nil, 0) end
    return lib.petal_hash_key(self.handle, chunk[0].data, chunk[0].size_bytes)
end

--- A call of the library that returns a status and nothing else.
local function finished(self, code)
    if code < 0 then return failure(code, self.path) end
    return true
end

--- Makes this filter the union of both.
function Filter:merge(other)
    if type(other) ~= "table" or getmetatable(other) ~= Filter then
        return refused("merge() takes a filter")
    end
    if not self.handle or not other.handle then return refused("the filter is closed") end
    return finished(self, lib.petal_merge(self.handle, other.handle, failed))
end

--- Removes every key.
function Filter:clear()
    if not self.handle then return refused("the filter is closed") end
    return finished(self, lib.petal_clear(self.handle, failed))
end

--- Makes the filter read-only. Builds a static filter.
function Filter:freeze()
    if not self.handle then return refused("the filter is closed") end
    return finished(self, lib.petal_freeze(self.handle, failed))
end

--- Writes the changes of a writable map to disk.
function Filter:sync()
    if not self.handle then return refused("the filter is closed") end
    return finished(self, lib.petal_sync(self.handle, failed))
end

--- Compares every block of a mapped file with its checksum. false: there is nothing to compare.
function Filter:verify()
    if not self.handle then return refused("the filter is closed") end
    local code = lib.petal_verify(self.handle, failed)
    if code < 0 then return failure(code, self.path) end
    return code == lib.PETAL_OK
end

--- Sets the clock of a window of time: milliseconds since 1970.
function Filter:set_clock(now_ms)
    if not self.handle then return refused("the filter is closed") end
    if not is_whole(now_ms, U64) then return refused("a time is milliseconds since 1970") end
    return finished(self, lib.petal_set_clock(self.handle, now_ms, failed))
end

local function saving(options)
    local struct = begin(ffi.new("petal_save_options"))
    local valid, message, status = read_options(struct, options, SAVE)
    if not valid then return nil, message, status end
    local replace = options and rawget(options, "replace")
    if replace ~= nil and type(replace) ~= "boolean" then
        return refused("the option replace is true or false")
    end
    if replace == false then struct.flags = lib.PETAL_SAVE_NO_REPLACE end
    return struct
end

--- Writes the filter to a file, which is replaced as a whole. options.format: for another library.
function Filter:save(path, options)
    if not self.handle then return refused("the filter is closed") end
    if not is_valid.name(path) then return refused("a path is a string without zero bytes") end
    local struct, message, status = saving(options)
    if not struct then return nil, message, status end
    local code = lib.petal_save(self.handle, path, struct, failed)
    if code < 0 then return failure(code, path) end
    return true
end

--- The bytes of the file that save() would write.
function Filter:dump(options)
    if not self.handle then return refused("the filter is closed") end
    local struct, message, status = saving(options)
    if not struct then return nil, message, status end
    local size = lib.petal_serialized_bytes(self.handle, struct)
    if size > 0x7fffff00ULL then return refused("a string has at most 2 GiB; use save()", LIMIT) end
    local made, bytes = pcall(ffi.new, "uint8_t[?]", math.max(tonumber(size), 1))
    if not made then return refused("no memory for " .. tostring(size) .. " bytes", MEMORY) end
    local code = lib.petal_serialize(self.handle, struct, bytes, size, failed)
    if code < 0 then return failure(code) end
    local copied, text = pcall(string_of, bytes, size)
    if not copied then return refused("no memory for a string", MEMORY) end
    return text
end

-- ---- looking inside -----------------------------------------------------------------------------

local function real(value) return value == value and value or nil end
local function name_of(text) return text ~= nil and string_of(text) or nil end

--- What is known without reading bits: the names are those of `petal info --json`, as far as it has
--- them. What is not recorded is nil.
function Filter:info()
    local handle = self.handle
    if not handle then return refused("the filter is closed") end
    local all = lib.PETAL_ALL_LAYERS
    local code = lib.petal_get_info(handle, all, begin(info_struct), failed)
    if code >= 0 then code = lib.petal_get_layers_info(handle, all, begin(layers_struct), failed) end
    if code >= 0 then code = lib.petal_get_file_info(handle, begin(file_struct), failed) end
    if code < 0 then return failure(code, self.path) end
    local info, layers = info_struct, layers_struct
    local capacity = number_of(info.capacity)
    return {
        file = self.path,
        format = name_of(file_struct.format_name),
        origin = name_of(info.format_name),
        scheme = name_of(info.scheme_name),
        hash = name_of(info.hash_name),
        kernel = name_of(info.kernel_name),
        key_type = KEY_TYPE_NAMES[self.key_type],
        bits = number_of(info.bits),
        bytes = number_of(info.bytes),
        memory_bytes = number_of(info.memory_bytes),
        hashes = info.hashes,
        lines_per_key = info.lines_per_key,
        layers = info.layers,
        counter_bits = info.counter_bits,
        capacity = capacity ~= 0 and capacity or nil,
        target_rate = real(info.target_rate),
        predicted_rate = real(info.predicted_rate),
        items = number_of(info.items),
        seed = number_of(info.seed),
        keyed = info.keyed == 1,
        metadata_bytes = number_of(info.metadata_bytes),
        grows = info.policy == lib.PETAL_POLICY_GROWING,
        window_keys = number_of(layers.window_keys),
        window_ms = number_of(layers.window_ms),
        generations = layers.generations,
        clock_ms = number_of(layers.clock_ms),
        overfull = lib.petal_is_overfull(handle),
    }
end

--- What the bits say. Reads all of them.
function Filter:stats()
    if not self.handle then return refused("the filter is closed") end
    local stats = begin(stats_struct)
    local code = lib.petal_get_stats(self.handle, lib.PETAL_ALL_LAYERS, stats, failed)
    if code < 0 then return failure(code, self.path) end
    return {
        bits_set = number_of(stats.bits_set),
        fill = stats.fill,
        saturated = stats.saturated == 1,
        saturated_counters = number_of(stats.saturated_counters),
        overfull = stats.overfull == 1,
        estimated_items = stats.estimated_items.value,
        estimated_items_low = stats.estimated_items.low,
        estimated_items_high = stats.estimated_items.high,
        estimated_rate = real(stats.estimated_rate),
    }
end

--- 16 hexadecimal digits: equal for filters with equal parameters and bits.
function Filter:content_id()
    if not self.handle then return refused("the filter is closed") end
    local id = ffi.new("uint64_t[1]")
    local code = lib.petal_content_id(self.handle, id, failed)
    if code < 0 then return failure(code, self.path) end
    return bit.tohex(tonumber(id[0] / 0x100000000ULL)) .. bit.tohex(tonumber(id[0] % 0x100000000ULL))
end

--- The metadata of the file, or "".
function Filter:metadata()
    if not self.handle then return refused("the filter is closed") end
    local size = ffi.new("uint64_t[1]")
    local bytes = lib.petal_metadata(self.handle, size)
    return bytes ~= nil and string_of(bytes, size[0]) or ""
end

function Filter:__tostring()
    local info = self:info()
    if not info then return "petal filter (closed)" end
    return ("petal filter (%s, %s items, %s bytes)"):format(info.scheme, tostring(info.items), tostring(info.bytes))
end

-- ---- watching a file ----------------------------------------------------------------------------

local Watch = {}
Watch.__index = Watch
local HERE, BASIC_STATS = -100, 0x7ff -- AT_FDCWD, STATX_BASIC_STATS
local has_statx = pcall(function() return ffi.C.statx end)
local statx_struct = ffi.new("petal_lua_statx")

--- Identifies the file that is at the path now; "" if there is none.
local function stamp_of(path)
    local stat = statx_struct
    if ffi.C.statx(HERE, path, 0, BASIC_STATS, stat) ~= 0 then return "" end
    return concat({
        stat.device_major, stat.device_minor, tostring(stat.inode), tostring(stat.size_bytes),
        tostring(stat.modified.seconds), stat.modified.nanoseconds, tostring(stat.changed.seconds),
        stat.changed.nanoseconds,
    }, " ")
end

local function now_of()
    if ngx and ngx.now then return ngx.now() end -- cached by nginx: no system call
    return os.time()
end

local function log_of(message)
    message = "petal: " .. message
    if ngx and ngx.log then
        ngx.log(ngx.WARN, message)
    else
        io.stderr:write(message, "\n")
    end
end

--- A filter that follows its file: at most once in `every` seconds, a query looks whether the path
--- has another file, and then opens that. Options: every (1), log (a function that gets a message)
--- and those of open(). By default the new file is verified when it is opened, and if it is broken,
--- the old one stays and one line is logged.
local function watch(path, options)
    if not has_statx then return refused("this system has no statx()", UNSUPPORTED) end
    if type(options) ~= "nil" and type(options) ~= "table" then return refused("options are a table") end
    local given, every, log = { verify = "open" }, 1, log_of
    for name, value in pairs(options or {}) do
        if name == "every" then
            every = value
        elseif name == "log" then
            log = value
        else
            given[name] = value
        end
    end
    if type(every) ~= "number" or not (every >= 0) then return refused("every is a number of seconds") end
    if type(log) ~= "function" then return refused("log is a function") end
    if not is_valid.name(path) then return refused("a path is a string without zero bytes") end
    local stamp = stamp_of(path)
    local filter, message, status, offset = open(path, given)
    if not filter then return nil, message, status, offset end
    return setmetatable({
        path = path, options = given, every = every, log = log, current = filter, stamp = stamp,
        due = now_of() + every, lent = false,
    }, Watch)
end

-- A busy or unreadable file may be opened later, though it is the same one.
local TEMPORARY = {
    [status_of(lib.PETAL_ERR_BUSY)] = true, [status_of(lib.PETAL_ERR_IO)] = true, [MEMORY] = true,
}

local function look(self, now)
    self.due = now + self.every
    local stamp = stamp_of(self.path)
    if stamp == self.stamp then return end
    local filter, message, status = open(self.path, self.options)
    if not filter then
        if message ~= self.said then
            self.said = message
            pcall(self.log, message .. "; the old filter stays in use")
        end
        if not TEMPORARY[status] then self.stamp = stamp end
        return
    end
    -- Whoever called filter() may still use the old one: the collector closes it.
    if not self.lent then self.current:close() end
    self.current, self.stamp, self.said, self.lent = filter, stamp, nil, false
end

local function follow(self)
    if not self.current then return refused("the filter is closed") end
    local now = now_of()
    -- A clock that was set back must not stop this.
    if now >= self.due or now < self.due - self.every - 1 then look(self, now) end
    return self.current
end

--- The filter of now. It stays valid as long as the caller keeps it.
function Watch:filter()
    local filter, message, status = follow(self)
    if not filter then return nil, message, status end
    self.lent = true
    return filter
end

function Watch:contains(key)
    local filter, message, status = follow(self)
    if not filter then return nil, message, status end
    return filter:contains(key)
end

function Watch:contains_batch(keys)
    local filter, message, status = follow(self)
    if not filter then return nil, message, status end
    return filter:contains_batch(keys)
end

function Watch:info()
    local filter, message, status = follow(self)
    if not filter then return nil, message, status end
    return filter:info()
end

function Watch:close()
    if self.current and not self.lent then self.current:close() end
    self.current = nil
    return true
end

-- ---- the module ---------------------------------------------------------------------------------

--- The names of the formats that this library knows.
local function formats()
    local names, struct = {}, begin(ffi.new("petal_format_info"))
    while lib.petal_format_at(#names, struct) do names[#names + 1] = string_of(struct.name) end
    return names
end

return {
    _VERSION = VERSION, create = create, plan = plan, open = open, load = load, watch = watch,
    formats = formats,
}
