-- Reads the installed sealwax.cdef.h with LuaJIT: cdef.lua PREFIX.
local ffi = require "ffi"
local prefix = arg[1]
local declarations = assert(io.open(prefix .. "/include/sealwax.cdef.h"))
ffi.cdef(declarations:read "*a")
local sealwax = ffi.load(prefix .. "/lib/libsealwax.so")
local error = ffi.new "sealwax_error"

local function must(status)
  assert(status == sealwax.SEALWAX_OK, ffi.string(error.message))
end

assert(sealwax.sealwax_abi_version() == sealwax.SEALWAX_ABI_VERSION)
local key = ffi.new "sealwax_key *[1]"
must(sealwax.sealwax_key_generate(key, error))
local text, len = ffi.new("char[?]", sealwax.SEALWAX_KEY_TEXT_LEN), ffi.new "size_t[1]"
must(sealwax.sealwax_key_to_text(key[0], text, sealwax.SEALWAX_KEY_TEXT_LEN, len, error))
local seen, id = ffi.new "sealwax_inspection", ffi.new "uint8_t[1][4]"
must(sealwax.sealwax_inspect(text, len[0], seen, error))
must(sealwax.sealwax_key_id(key[0], id, error))
sealwax.sealwax_key_free(key[0])
assert(seen.what == sealwax.SEALWAX_IS_KEY)
assert(ffi.string(seen.key_id, 4) == ffi.string(id, 4))
assert(sealwax.sealwax_inspect("?", 1, seen, error) == sealwax.SEALWAX_MALFORMED)
assert(error.status == sealwax.SEALWAX_MALFORMED and #ffi.string(error.message) > 0)
print "LuaJIT: the declarations are read"
