-- From here on nothing depends on the protocol: all that is known of it is in the table `spec`.

local ok, proto = pcall(Proto, spec.name, spec.title)
if not ok then -- Wireshark knows a protocol of this name already
  spec.name = spec.name .. "_parley"
  proto = Proto(spec.name, spec.title)
end

local NONE = {}
local malformed = ProtoExpert.new(spec.name .. ".malformed", "Malformed frame", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { malformed }

-- Fields. f[item] is the field of an item of a message's layout.

local f, all = {}, {}
local function add(key, field)
  f[key] = field
  all[#all + 1] = field
end

add("message", ProtoField.string(spec.name .. ".message", "Message"))
add("text", ProtoField.string(spec.name .. ".text", "As text", base.NONE, "the message as fsmgen writes it"))
add("length", ProtoField.uint32(spec.name .. ".length", "Length"))
add("type", ProtoField.uint32(spec.name .. ".type", "Type number"))
add("count", ProtoField.uint32(spec.name .. ".count", "Count"))
add("constant", ProtoField.uint32(spec.name .. ".constant", "Constant"))
add("bytes", ProtoField.bytes(spec.name .. ".constant_bytes", "Constant"))
add("head", ProtoField.bytes(spec.name .. ".bits", "Bits"))
add("padding", ProtoField.bytes(spec.name .. ".padding", "Padding"))
add("checksum", ProtoField.uint32(spec.name .. ".checksum", "Checksum (not verified)", base.HEX))
add("sum", ProtoField.uint32(spec.name .. ".sum", "Checksum", base.HEX))
add("sequence", ProtoField.uint32(spec.name .. ".sequence", "Sequence number"))

local widths = { [8] = ProtoField.uint8, [16] = ProtoField.uint16, [24] = ProtoField.uint24, [32] = ProtoField.uint32, [64] = ProtoField.uint64 }

local signed_widths = { [8] = ProtoField.int8, [16] = ProtoField.int16, [24] = ProtoField.int24, [32] = ProtoField.int32, [64] = ProtoField.int64 }

-- whole reports whether Wireshark reads the number of an item as the specification does.
local function whole(item) return widths[item.bits] and not item.varint and not item.shift and not item.xor end

local function field_of(item, ...)
  local list = item.signed and signed_widths or widths
  if item.shift then return list[item.bits <= 32 and 32 or 64](...) end
  return list[whole(item) and item.bits or 64](...)
end

local function names_of(item)
  local t, names, some = item.type, {}, false
  if t.k == "optional" then
    t = t.elem
    if item.none and item.none < 4294967296 then names[item.none], some = "none", true end
  end
  if t.k == "enum" then
    for i, code in ipairs(t.codes) do names[code], some = t.names[i], true end
  elseif t.k == "bool" then
    names[0], names[1], some = "false", "true", true
  end
  return some and item.bits <= 32 and (whole(item) or item.shift) and names or nil
end

local function declare(prefix, items)
  for _, item in ipairs(items or {}) do
    local abbr = item.field and (item.field == "" and prefix or prefix .. "." .. item.field)
    for _, branch in ipairs(item.branches or {}) do declare(prefix, branch.items) end
    if item.k == "bits" or item.k == "sized" or item.k == "if" then
      declare(prefix, item.items)
    elseif item.k == "run" then
      add(item, ProtoField.uint32(abbr, item.field, base.DEC, nil, nil, item.doc))
    elseif item.k == "int" then
      add(item, field_of(item, abbr, item.field == "" and "element" or item.field, base.DEC, names_of(item), nil, item.doc))
    elseif item.k == "text" or item.k == "value" or item.k == "word" then
      add(item, ProtoField.string(abbr, item.field == "" and "element" or item.field, base.NONE, item.doc))
    elseif item.k == "address" then
      add(item, ProtoField.bytes(abbr, item.field, base.SPACE, item.doc))
    elseif item.k == "each" then
      declare(abbr, item.items)
      for _, row in ipairs(item.named or {}) do declare(prefix, row.items) end
    end
  end
end

for _, m in ipairs(spec.messages) do
  declare(spec.name .. "." .. m.name, m.head)
  declare(spec.name .. "." .. m.name, m.items)
  for _, part in ipairs(m.line or {}) do
    if part.field then add(part, ProtoField.string(spec.name .. "." .. m.name .. "." .. part.field, part.field, base.NONE, part.doc)) end
  end
end
proto.fields = all

-- Values as fsmgen writes them.

-- plain_bytes writes the bytes that are no UTF-8 in hexadecimal.
local function plain_bytes(s)
  local out, i = {}, 1
  while i <= #s do
    local c = s:byte(i)
    local n = c < 128 and 1 or c >= 194 and c < 224 and 2 or c >= 224 and c < 240 and 3 or c >= 240 and c < 245 and 4 or 0
    if n > 0 and s:sub(i + 1, i + n - 1):match("^[\128-\191]*$") and i + n - 1 <= #s then
      out[#out + 1] = s:sub(i, i + n - 1)
    else
      out[#out + 1], n = string.format("\\x%02x", c), 1
    end
    i = i + n
  end
  return table.concat(out)
end

local function quoted(s)
  local plain = { ["\a"] = "\\a", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\v"] = "\\v", ["\\"] = "\\\\", ['"'] = '\\"' }
  return '"' .. plain_bytes((s:gsub('[%z\1-\31\127"\\]', function(c) return plain[c] or string.format("\\x%02x", c:byte()) end))) .. '"'
end

local function number(v) return type(v) == "number" and string.format("%.0f", v) or tostring(v) end

local show
local function show_fields(fields, v)
  local out = {}
  for _, x in ipairs(fields) do out[#out + 1] = x.name .. ": " .. show(x.type, v[x.name]) end
  return "{" .. table.concat(out, ", ") .. "}"
end

function show(t, v)
  if v == nil then return "?" end
  if t.k == "optional" then return v == NONE and "none" or show(t.elem, v) end
  if t.k == "bool" then return v ~= 0 and "true" or "false" end
  if t.k == "text" then return quoted(v) end
  if t.k == "record" then return show_fields(t.fields, v) end
  if t.k == "enum" then
    for i, code in ipairs(t.codes) do
      if code == v then return t.names[i] end
    end
  end
  if t.k == "list" or t.k == "array" then
    local out = {}
    for i, x in ipairs(v) do out[i] = show(t.elem, x) end
    return "[" .. table.concat(out, ", ") .. "]"
  end
  if t.k == "set" then
    local out, bits = {}, v
    for i = 0, t.n - 1 do
      if bits % 2 == 1 then out[#out + 1] = show(t.elem, t.elem.k == "enum" and t.elem.codes[i + 1] or t.elem.lo and t.elem.lo + i or i) end
      bits = math.floor(bits / 2)
    end
    return "[" .. table.concat(out, ", ") .. "]"
  end
  return number(v)
end

-- Frames. A reader goes through the bytes of one frame and puts what it finds into the tree; what is wrong is a
-- Lua error { at, text }, caught in `frame`.

local function wrong(at, text, ...) error({ at = at, text = string.format(text, ...) }, 0) end

-- short is wrong because the frame, but not a region of it, ends too early.
local function short(r, at, text, ...)
  error({ at = at, text = string.format(text, ...), short = not r.region }, 0)
end

local function need(r, n, what)
  if r.finish - r.at < n then short(r, r.at, "%s needs %d bytes, there are %d", what, n, r.finish - r.at) end
end

-- fixed reads a number of a fixed size: a Lua number, or a UInt64 or Int64 of 64 bits.
local function fixed(range, item)
  local bits, little = item.bits, item.little
  if item.signed and bits == 64 then return little and range:le_int64() or range:int64() end
  if item.signed and bits <= 32 then return little and range:le_int() or range:int() end
  if bits <= 32 then return little and range:le_uint() or range:uint() end
  local v = little and range:le_uint64() or range:uint64()
  if bits == 64 then return v end
  v = v:tonumber()
  return item.signed and v >= 2 ^ (bits - 1) and v - 2 ^ bits or v
end

-- varint reads a number of varying length that begins at `at`: a UInt64, and how many bytes it has; nil if it does not
-- end before finish.
local varint = {}
function varint.leb128(tvb, at, finish)
  local v = UInt64.new(0)
  for i = 0, math.min(finish - at, 10) - 1 do
    local c = tvb(at + i, 1):uint()
    v = v + UInt64.new(c % 128):lshift(7 * i)
    if c < 128 then return v, i + 1 end
  end
end
function varint.quic(tvb, at, finish)
  if at >= finish then return nil end
  local n = 2 ^ math.floor(tvb(at, 1):uint() / 64)
  if at + n > finish then return nil end
  local v = tvb(at, n):uint64()
  return v:lshift(2 + 64 - 8 * n):rshift(2 + 64 - 8 * n), n
end

-- shortest is how many bytes a number of varying length needs.
local shortest = {}
function shortest.leb128(v)
  local n = 1
  while v >= UInt64.new(128) do v, n = v:rshift(7), n + 1 end
  return n
end
function shortest.quic(v)
  local n = 1
  while n < 8 and v:rshift(8 * n - 2) > UInt64.new(0) do n = 2 * n end
  return n
end

-- plain_number makes a Lua number of what fixed and varint give, zigzagged ones with their sign.
local function plain_number(v, item)
  v = type(v) == "number" and v or v:tonumber()
  if item.varint and item.signed then return v % 2 == 0 and v / 2 or -(v + 1) / 2 end
  return v
end

-- part cuts the bits of an item out of a number.
local function part(word, item)
  local v
  if type(word) == "number" then
    v = math.floor(word / 2 ^ item.shift) % 2 ^ item.width
  else
    v = word:lshift(64 - item.shift - item.width):rshift(64 - item.width):tonumber()
  end
  return item.signed and v >= 2 ^ (item.width - 1) and v - 2 ^ item.width or v
end

local function take(r, bits, what)
  need(r, bits / 8, what)
  local range = r.tvb(r.at, bits / 8)
  r.at = r.at + bits / 8
  return range
end

local function put(r, key, range, little)
  if little then return r.tree:add_le(f[key], range) end
  return r.tree:add(f[key], range)
end

local function within(t, v, at, what)
  if t.k == "enum" then
    for _, code in ipairs(t.codes) do
      if code == v then return v end
    end
    wrong(at, "%s is %s, which no name has", what, number(v))
  elseif t.k == "opaque" and t.bits < 64 and tonumber(tostring(v)) >= 2 ^ t.bits or t.k == "set" and tonumber(tostring(v)) >= 2 ^ t.n then
    wrong(at, "%s is %s, more than %d bits", what, number(v), t.k == "set" and t.n or t.bits)
  elseif t.lo and (v < t.lo or v > t.hi) then
    wrong(at, "%s is %s, outside %s..%s", what, number(v), number(t.lo), number(t.hi))
  end
  return v
end

-- keep puts a value where it belongs: into out, or into a record there.
local function keep(out, item, v)
  local path = item.path or { item.field }
  for i = 1, #path - 1 do
    out[path[i]] = out[path[i]] or {}
    out = out[path[i]]
  end
  out[path[#path]] = v
end

local read, summed = {}, nil
local function items(r, list, out)
  local begin = {}
  r.begins = r.begins or {}
  table.insert(r.begins, begin)
  begin.sums = {}
  for i, item in ipairs(list) do
    begin[i] = r.at
    summed(r, begin, i)
    read[item.k](r, item, out, begin)
  end
  summed(r, begin, #list + 1)
  table.remove(r.begins)
end

-- Checksums. Each takes a text of bytes.
local bxor = bit and bit.bxor or load("return function(a, b) return a ~ b end")()
local function crc(poly)
  local t = {}
  for i = 0, 255 do
    local c = i
    for _ = 1, 8 do c = c % 2 == 1 and bxor(poly, math.floor(c / 2)) % 2 ^ 32 or math.floor(c / 2) end
    t[i] = c
  end
  return function(s)
    local c = 0xffffffff
    for i = 1, #s do c = bxor(t[bxor(c % 256, s:byte(i)) % 256], math.floor(c / 256)) % 2 ^ 32 end
    return 0xffffffff - c
  end
end
local sums = { CRC32 = crc(0xedb88320), CRC32C = crc(0x82f63b78) }
function sums.Adler32(s)
  local a, b = 1, 0
  for i = 1, #s do
    a = (a + s:byte(i)) % 65521
    b = (b + a) % 65521
  end
  return b * 65536 + a
end
function sums.Internet(s)
  local n = 0
  for i = 1, #s, 2 do n = n + s:byte(i) * 256 + (s:byte(i + 1) or 0) end
  while n > 65535 do n = math.floor(n / 65536) + n % 65536 end
  return 65535 - n
end

-- xored is what a number is before it is XORed.
local function xored(r, v, item)
  local wide = type(v) == "number" and UInt64.new(v % 2 ^ 32, math.floor(v / 2 ^ 32)) or v
  wide = wide:bxor(UInt64.new(item.xor[1], item.xor[2]))
  if item.xor_at > 0 then
    local key = fixed(r.tvb(r.begin + item.xor_at - 1, item.bits / 8), item)
    wide = wide:bxor(type(key) == "number" and UInt64.new(key % 2 ^ 32, math.floor(key / 2 ^ 32)) or key)
  end
  return type(v) == "number" and wide:tonumber() or wide
end

-- digits reads a number in digits and what ends it: the number, and how many bytes both have.
local function digits(r, item, what)
  local most = item.varint == "hex" and "ffffffffffffffff" or item.signed and "9223372036854775807" or "18446744073709551615"
  local s = r.finish > r.at and r.tvb:raw(r.at, math.min(r.finish - r.at, 40)) or ""
  local minus = item.signed and s:match("^%-") or ""
  if minus ~= "" then most = "9223372036854775808" end
  local found = s:match(item.varint == "hex" and (item.overlong and "^%x*" or "^[0-9a-f]*") or "^%d*", #minus + 1)
  local behind = s:sub(#minus + #found + 1, #minus + #found + #item.tail)
  local plain = found:lower():gsub("^0+(.)", "%1")
  local bad = #found > 20 or not item.overlong and plain ~= found or #plain > #most or #plain == #most and plain > most
  bad = bad or minus ~= "" and plain == "0" and not item.overlong
  if not bad and behind ~= item.tail and item.tail:sub(1, #behind) == behind and #minus + #found + #behind == #s then
    short(r, r.at, "the number of %s does not end", what)
  elseif bad or found == "" or behind ~= item.tail then
    wrong(r.at, "the number of %s is none", what)
  end
  local v
  if item.varint == "hex" then
    v = UInt64.new(0)
    for i = 1, #plain do v = v:lshift(4) + UInt64.new(tonumber(plain:sub(i, i), 16)) end
  else
    v = UInt64.new(plain)
  end
  return v, minus, #minus + #found + #behind
end

-- number_at reads the number of an item and goes behind it: a Lua number, what it was read from, and as it was read.
local function number_at(r, item, what)
  local raw, n
  if item.tail then
    local minus
    raw, minus, n = digits(r, item, what)
    local range = r.tvb(r.at, n)
    r.at = r.at + n
    local v = raw:tonumber()
    if minus == "" then return v, range, raw end
    return -v, range, UInt64.new(0) - raw
  elseif item.varint then
    raw, n = varint[item.varint](r.tvb, r.at, r.finish)
    if not raw then short(r, r.at, "the number of %s does not end", what) end
    if item.bits < 64 and raw:rshift(item.bits) > UInt64.new(0) or n > shortest[item.varint](raw) and not item.overlong then
      wrong(r.at, "the number of %s has more bytes than it may", what)
    end
  else
    n = item.bits / 8
    need(r, n, what)
  end
  local range = r.tvb(r.at, n)
  raw = raw or fixed(range, item)
  if item.xor then raw = xored(r, raw, item) end
  r.at = r.at + n
  return plain_number(raw, item), range, raw
end

local take_value

function read.int(r, item, out)
  local at, t = r.at, item.type
  local v, range, raw = number_at(r, item, item.field)
  local node
  if whole(item) then
    node = put(r, item, range, item.little)
  else
    node = r.tree:add(f[item], range, item.signed and Int64.new(v) or type(raw) == "number" and UInt64.new(v % 2 ^ 32, math.floor(v / 2 ^ 32)) or raw)
  end
  if (item.bits == 64 or item.varint) and not t.lo and not t.elem then v = t.k == "opaque" and tostring(raw) or v end
  take_value(item, v, at, out, node)
end

-- take_value keeps the number of an item as the value of its field.
function take_value(item, v, at, out, node)
  local t = item.type
  if t.k == "optional" then
    if item.none and v == item.none then
      keep(out, item, NONE)
      return
    end
    t = t.elem
  end
  keep(out, item, within(t, v, at, item.field))
  if t.k == "bool" and v > 1 then
    if not item.nonzero then wrong(at, "%s is %s, neither 0 nor 1", item.field, number(v)) end
    node:append_text(" (true)")
  end
end

-- compare compares a checksum that stands at a place with that of bytes, in which its own count as zeros.
local function compare(r, item, v, at, from, to)
  local s = to > from and r.tvb:raw(from, to - from) or ""
  if item.ahead and at >= from and at < to then
    s = s:sub(1, at - from) .. string.rep("\0", item.bits / 8) .. s:sub(at - from + item.bits / 8 + 1)
  end
  local want = sums[item.sum](s)
  if v ~= want then wrong(at, "the checksum is %s, not %s", number(v), number(want)) end
end

local function sum_place(r, a, otherwise)
  if a[2] < 0 then return otherwise end
  return r.begins[#r.begins - a[1]][a[2] + 1]
end

-- summed compares the checksums whose bytes end before item i of their list.
function summed(r, begin, i)
  for _, s in ipairs(begin.sums) do
    if s.item.to[2] + 1 == i then compare(r, s.item, s.v, s.at, sum_place(r, s.item.from, r.begin), r.at) end
  end
end

function read.sum(r, item, out, begin)
  local at = r.at
  local v, range = number_at(r, item, "a checksum")
  if item.ahead then
    r.tree:add(f.sum, range, v % 2 ^ 32)
    table.insert(begin.sums, { item = item, v = v, at = at })
    return
  end
  if item.ends and r.at ~= r.whole then wrong(r.at, "%d bytes behind the checksum", r.whole - r.at) end
  r.tree:add(f.sum, range, v % 2 ^ 32)
  compare(r, item, v, at, sum_place(r, item.from, r.begin), sum_place(r, item.to, at))
end

function read.pad(r, item)
  r.tree:add(f.padding, take(r, item.bytes * 8, "padding"))
end

-- there notes whether an optional field is there.
local function there(r, item, v, at, out)
  if v > 1 then wrong(at, "%s is there or not, %s is neither 1 nor 0", item.field, number(v)) end
  r.there[out] = r.there[out] or {}
  r.there[out][item.field] = v == 1
end

function read.present(r, item, out)
  local at = r.at
  local v, range = number_at(r, item, item.field)
  r.tree:add(f.count, range, v % 2 ^ 32):append_text(" (" .. item.field .. ")")
  there(r, item, v, at, out)
end

-- sized reads a region, in which the frame ends where it does.
function read.sized(r, item, out)
  local n, range = number_at(r, item, "a region")
  r.tree:add(f.length, range, n % 2 ^ 32)
  if spec.self and n > spec.most then wrong(r.at, "a region has %s bytes, at most %d", number(n), spec.most) end
  if n > r.finish - r.at then short(r, r.at, "a region has %s bytes, there are %d", number(n), r.finish - r.at) end
  local finish, region = r.finish, r.region
  r.finish, r.region = r.at + n, true
  items(r, item.items, out)
  if r.at < r.finish then wrong(r.at, "%d bytes behind the last item of a region", r.finish - r.at) end
  r.finish, r.region = finish, region
end

-- An optional part is there because something said so, or because bytes remain.
read["if"] = function(r, item, out)
  local is = r.at < r.finish
  if item.flagged then is = r.there[out] and r.there[out][item.field] end
  if is then return items(r, item.items, out) end
  out[item.field] = NONE
end

-- case reads the items that a tag says.
function read.case(r, item, out)
  local v = out
  for _, step in ipairs(item.path) do v = v[step] end
  if item.bool and v ~= 0 then v = 1 end
  for _, x in ipairs(item.fields) do out[x] = NONE end
  for _, branch in ipairs(item.branches) do
    local is = branch.other
    for _, code in ipairs(branch.values) do is = is or code == v end
    if is then
      for _, x in ipairs(branch.fields) do out[x] = nil end
      return items(r, branch.items, out)
    end
  end
end

-- bits reads the items of a number.
function read.bits(r, item, out)
  local at = r.at
  local word, range, raw = number_at(r, item, "bits")
  if item.bits == 64 then word = raw end
  for _, x in ipairs(item.items) do
    local v = part(word, x)
    if x.k == "present" then
      there(r, x, v, at, out)
    elseif x.k == "const" then
      r.tree:add(f.constant, range, v)
      if v ~= x.value then wrong(at, "a constant is %s, not %s", number(v), number(x.value)) end
    else
      local shown = x.bits > 32 and (x.signed and Int64.new(v) or UInt64.new(v % 2 ^ 32, math.floor(v / 2 ^ 32))) or v
      if x.width == 64 and x.type.k == "opaque" then shown, v = word, tostring(word) end -- more bits than a Lua number has
      take_value(x, v, at, out, r.tree:add(f[x], range, shown))
    end
  end
end

function read.literal(r, item)
  local at, n = r.at, #item.bytes
  local there = math.min(n, r.finish - at)
  if there > 0 and r.tvb:raw(at, there) ~= item.bytes:sub(1, there) then wrong(at, "a constant is other than it has to be") end
  local range = take(r, n * 8, "a constant")
  r.tree:add(f.bytes, range)
  if r.tvb:raw(at, n) ~= item.bytes then wrong(at, "a constant is other than it has to be") end
end

function read.const(r, item)
  local at = r.at
  local v, range = number_at(r, item, "a constant")
  r.tree:add(f.constant, range, v % 2 ^ 32)
  if number(v) ~= number(item.value) then wrong(at, "a constant is %s, not %s", number(v), number(item.value)) end
end

function read.align(r, item, out, begin)
  local from = item.since < 0 and r.begin or begin[item.since + 1]
  local n = math.min((from - r.at) % item.to, r.finish - r.at)
  if n > 0 then r.tree:add(f.padding, take(r, n * 8, "padding")) end
end

function read.count(r, item)
  local at = r.at
  local n, range = number_at(r, item, "the count of " .. item.field)
  r.tree:add(f.count, range, n % 2 ^ 32):append_text(" (" .. item.field .. ")")
  if item.most and n > item.most then wrong(at, "%d elements of %s, at most %d", n, item.field, item.most) end
  r.counts[item.field] = n
end

-- behind is how many bytes come after something that takes the rest.
local function behind(r, item)
  if not item.behind then return 0 end
  local n = item.behind.bytes
  for _, name in ipairs(item.behind.counts) do n = n + (r.counts[name] or 0) end
  need(r, n, "what is behind " .. item.field)
  return n
end

function read.run(r, item, out)
  local at, n = r.at, 0
  while at + n < r.finish and r.tvb(at + n, 1):uint() == item.byte do n = n + 1 end
  within(item.type, n, at, item.field)
  r.at = at + n
  keep(out, item, n)
  r.tree:add(f[item], r.tvb(at, n), n)
end

function read.space(r)
  local n = 0
  while r.at + n < r.finish and r.tvb:raw(r.at + n, 1):find("^[ \t]") do n = n + 1 end
  if n > 0 then r.tree:add(f.padding, take(r, n * 8, "white space")) end
end

-- named reads a row that begins with a name, if one does.
local function named(r, item, out)
  local rest = r.finish > r.at and r.tvb:raw(r.at, math.min(64, r.finish - r.at)):lower() or ""
  for _, row in ipairs(item.named) do
    if rest:sub(1, #row.name) == row.name then
      if r.there[out][row.field] then wrong(r.at, "%s comes twice", row.field) end
      r.there[out][row.field], out[row.field] = true, nil
      take(r, #row.name * 8, row.name)
      items(r, row.items, out)
      return true
    end
  end
  for _, row in ipairs(item.named) do
    if rest == row.name:sub(1, #rest) then short(r, r.at, "%s does not end", item.field) end
  end
end

function read.each(r, item, out)
  local list, tree, finish = {}, r.tree, r.finish
  if item.named then
    r.there[out] = r.there[out] or {}
    for _, row in ipairs(item.named) do out[row.field] = NONE end
  end
  r.finish = finish - behind(r, item)
  local i = 0
  while true do
    if item.till then
      need(r, item.till.bits / 8, "the end of " .. item.field)
      if fixed(r.tvb(r.at, item.till.bits / 8), item.till) == item.till.value then
        r.tree:add(f.constant, r.tvb(r.at, item.till.bits / 8), item.till.value)
        r.at = r.at + item.till.bits / 8
        break
      end
    elseif item.to_end then
      if r.at >= r.finish then break end
    elseif i >= (r.counts[item.field] or 0) then
      break
    end
    if not (item.named and named(r, item, out)) then
      i = i + 1
      if item.most and i > item.most then wrong(r.at, "more than %d elements of %s", item.most, item.field) end
      local el, start = {}, r.at
      r.tree = tree:add(proto, r.tvb(start, 0), item.field .. " " .. i)
      items(r, item.items, el)
      r.tree:set_len(r.at - start)
      list[i] = item.single and el[item.single] or el
    end
  end
  r.tree, r.finish = tree, finish
  keep(out, item, list)
end

-- bad_in returns the place of the first byte that a charset does not allow, from 1; nil if there is none.
local function bad_in(charset, s)
  if charset == "ascii" then return s:find("[\128-\255]") end
  if charset == "printable" then return s:find("[^ -~]") end
  if charset ~= "utf8" then return nil end
  local i = 1
  while i <= #s do
    local a, b = s:byte(i, i + 1)
    local more = a < 0x80 and 0 or a >= 0xc2 and a < 0xe0 and 1 or a >= 0xe0 and a < 0xf0 and 2 or a >= 0xf0 and a < 0xf5 and 3
    if not more then return i end
    local low = a == 0xe0 and 0xa0 or a == 0xf0 and 0x90 or 0x80
    local high = a == 0xed and 0x9f or a == 0xf4 and 0x8f or 0xbf
    for k = 1, more do
      local c = s:byte(i + k)
      if not c or c < (k == 1 and low or 0x80) or c > (k == 1 and high or 0xbf) then return i end
    end
    i = i + 1 + more
  end
end

-- domain reads a name of the DNS, which may point back.
local function domain(r, item, out)
  local at, first, finish, labels, n, jumped = r.at, r.at, nil, {}, 0, 0
  while true do
    if at >= r.finish then wrong(at, "%s does not end", item.field) end
    local size = r.tvb(at, 1):uint()
    if size == 0 then
      finish = finish or at + 1
      break
    elseif size >= 192 and item.back then
      if at + 2 > r.finish then wrong(at, "%s does not end", item.field) end
      finish = finish or at + 2
      local to = r.begin + item.base + r.tvb(at, 2):uint() % 16384
      jumped = jumped + 1
      if to >= first or jumped > 32 then wrong(at, "%s points to byte %d", item.field, to - r.begin) end
      at, first = to, to
    else
      if size > 63 or at + 1 + size > r.finish then wrong(at, "%s has a label of %d bytes", item.field, size) end
      local label = r.tvb:raw(at + 1, size)
      n = n + size + (#labels > 0 and 1 or 0)
      if n > item.most or label:find(".", 1, true) then wrong(at, "%s is no name of at most %d bytes", item.field, item.most) end
      labels[#labels + 1], at = label, at + 1 + size
    end
  end
  local text = table.concat(labels, ".")
  keep(out, item, text)
  r.tree:add(f[item], r.tvb(r.at, finish - r.at), text)
  r.at = finish
end

-- ended finds the end of a text: how many bytes it has, and how many the end.
local function ended(r, item)
  local s = r.finish > r.at and r.tvb:raw(r.at, math.min(r.finish - r.at, item.most + #item.tail)) or ""
  local from, to = s:find(item.lone and "\n" or item.tail, 1, true)
  if item.lone and from and from > 1 and s:byte(from - 1) == 13 then from = from - 1 end
  local stop = s:find("[\r\n]")
  while not item.plain and stop do -- a CR or LF before the end
    local rest = s:sub(stop)
    if rest:sub(1, #item.tail) == item.tail or rest == item.tail:sub(1, #rest) or from and stop >= from then break end
    wrong(r.at + stop - 1, "%s has a line end that is none", item.field)
  end
  if from and from - 1 > item.most or not from and #s == item.most + #item.tail then wrong(r.at, "%s does not end", item.field) end
  if not from then short(r, r.at, "%s does not end", item.field) end
  return from - 1, to - from + 1
end

-- word reads the word for a value.
function read.word(r, item, out)
  local at = r.at
  local rest = r.finish > at and r.tvb:raw(at, math.min(r.finish - at, 4096)) or ""
  local best, size
  for i, word in ipairs(item.words) do
    local all = word .. item.tail
    if #rest < #all and all:sub(1, #rest) == rest then short(r, at, "%s does not end", item.field) end
    if rest:sub(1, #all) == all and #all > (size or -1) then best, size = i, #all end
  end
  if not best then wrong(at, "%s is no word", item.field) end
  keep(out, item, item.type.codes[best])
  r.tree:add(f[item], r.tvb(at, size), item.type.names[best])
  r.at = at + size
end

function read.text(r, item, out)
  if item.by == "domain" then return domain(r, item, out) end
  local at, n, skip = r.at, r.finish - r.at, 0
  if item.by == "ended" then
    n, skip = ended(r, item)
    local s = n > 0 and r.tvb:raw(at, n) or ""
    for i = 1, item.plain and 0 or #s do
      local c = s:sub(i, i)
      if c == "\n" or c == "\r" or item.without:find(c, 1, true) then wrong(at + i - 1, "%s has a byte that it must not have", item.field) end
    end
  elseif item.by == "nul" then
    for i = r.at, r.finish - 1 do
      if r.tvb(i, 1):uint() == 0 then
        n, skip = i - r.at, 1
        break
      end
    end
  elseif item.by == "whole" then
    n = item.most
    need(r, n, item.field)
  elseif item.by == "rest" then
    n = n - behind(r, item)
  elseif item.by == "counted" then
    n = r.counts[item.field] or 0
    if spec.self and n > item.most then wrong(at, "%s has %s bytes, at most %d", item.field, number(n), item.most) end
    need(r, n, item.field)
  end
  local shown = n
  local bad = n > 0 and bad_in(item.charset, r.tvb:raw(at, n))
  if bad and (n <= item.most or item.cut) then wrong(at + bad - 1, "%s has a byte that is not %s", item.field, item.charset) end
  if n > item.most then
    if not item.cut then wrong(at, "%s has %d bytes, at most %d", item.field, n, item.most) end
    shown = item.most
  end
  local text = shown > 0 and r.tvb:raw(at, shown) or ""
  if item.xor_at > 0 then
    local out = {}
    for i = 1, #text do out[i] = string.char(bxor(text:byte(i), r.tvb(r.begin + item.xor_at - 2 + i, 1):uint())) end
    text = table.concat(out)
  end
  keep(out, item, text)
  r.tree:add(f[item], r.tvb(at, n + skip), text)
  r.at = at + n + skip
end

function read.address(r, item, out)
  r.tree:add(f[item], take(r, item.bytes * 8, item.field))
end

-- Values of the default format.
local value
local function plain(r, t)
  local range = take(r, t.bits, "a value")
  local v = fixed(range, t)
  if t.bits == 64 then v = t.k == "opaque" and tostring(v) or v:tonumber() end
  return v
end

function value(r, t)
  if t.k == "optional" then
    local there = take(r, 8, "a value"):uint()
    if there > 1 then wrong(r.at - 1, "%d is neither 0 nor 1", there) end
    return there == 0 and NONE or value(r, t.elem)
  elseif t.k == "record" then
    local v = {}
    for _, x in ipairs(t.fields) do v[x.name] = value(r, x.type) end
    return v
  elseif t.k == "array" or t.k == "list" then
    local v, at, n = {}, r.at, t.n
    if t.k == "list" then n = take(r, 16, "a count"):uint() end
    if n > t.n then wrong(at, "%d elements, at most %d", n, t.n) end
    for i = 1, n do v[i] = value(r, t.elem) end
    return v
  elseif t.k == "text" then
    local at, n = r.at, take(r, 16, "a count"):uint()
    if n > t.most then wrong(at, "a text of %d bytes, at most %d", n, t.most) end
    need(r, n, "a text")
    r.at = r.at + n
    return n > 0 and r.tvb:raw(r.at - n, n) or ""
  end
  local at, v = r.at, plain(r, t)
  if t.k == "enum" then
    if v >= #t.names then wrong(at, "%d is no name", v) end
    return t.codes[v + 1]
  elseif t.k == "bool" and v > 1 then
    wrong(at, "%d is neither 0 nor 1", v)
  elseif t.lo then
    return within(t, v + t.lo, at, "a value")
  end
  return v
end

function read.value(r, item, out)
  local at = r.at
  local v = value(r, item.type)
  keep(out, item, v)
  r.tree:add(f[item], r.tvb(at, r.at - at), show(item.type, v))
end

-- The header, and how long a frame is.

-- alike are the messages that the header does not tell from each other, by their number; without a type in the
-- header all are alike.
local alike, by_id = {}, {}
for _, m in ipairs(spec.messages) do
  local key = spec.typed and m.id or 0
  alike[key] = alike[key] or {}
  table.insert(alike[key], m)
  by_id[key] = by_id[key] or m
  by_id[key].shortest = math.min(by_id[key].shortest or m.least, m.least)
end

-- size returns the length of the frame at `at`; nil if more bytes are needed to tell; or nil and what is wrong. With the
-- length come the message and where its body begins.
local function size(tvb, at)
  if tvb:len() - at < spec.header_length then return nil end
  local message, length, length_end, v = not spec.typed and spec.messages[1] or nil
  local r = { tvb = tvb, at = at, finish = tvb:len() }
  local function typed(id, offset)
    message = by_id[id]
    if not message then return { at = offset, text = "no message has the type number " .. number(id) } end
  end
  local function const(v, item, offset)
    if v ~= item.value then return { at = offset, text = "a constant is " .. number(v) .. ", not " .. number(item.value) } end
  end
  for _, item in ipairs(spec.header) do
    local offset, err = r.at, nil
    if item.varint and not varint[item.varint](tvb, r.at, r.finish) then
      if r.finish - r.at >= 10 then return nil, { at = r.at, text = "a number does not end" } end
      return nil
    end
    if item.k == "literal" then
      if r.finish - r.at < #item.bytes then return nil end
      if tvb:raw(r.at, #item.bytes) ~= item.bytes then err = { at = r.at, text = "a constant is other than it has to be" } end
      r.at = r.at + #item.bytes
    else
      if not item.varint and r.finish - r.at < item.bits / 8 then return nil end
      local raw, ok, _
      ok, v, _, raw = pcall(number_at, r, item, "the header")
      if not ok then return nil, v end
      if item.k == "length" then
        length, length_end = { v = v, of = item.of }, r.at
      elseif item.k == "type" then
        err = typed(v, offset)
      elseif item.k == "const" then
        err = const(v, item, offset)
      elseif item.k == "bits" then
        for _, x in ipairs(item.parts) do
          local cut = part(item.bits == 64 and raw or v, x)
          if x.k == "type" then err = err or typed(cut, offset) else err = err or const(cut, x, offset) end
        end
      end
    end
    if err then return nil, err end
  end
  local total = tvb:len() - at
  if length then
    total = length.v + (length.of == 1 and r.at - at or length.of == 2 and length_end - at or 0)
  end
  if message and total < math.max(message.shortest, r.at - at) then return nil, { at = at, text = string.format("%s has at least %d bytes, not %d", message.name, message.shortest, total) } end
  if total > spec.most then return nil, { at = at, text = string.format("a frame has at most %d bytes, not %d", spec.most, total) } end
  return total, nil, message
end

local function header(r)
  for _, item in ipairs(spec.header) do
    if item.k == "literal" then
      read.literal(r, item)
    elseif item.k == "bits" or item.k == "head" then
      r.tree:add(f.head, take(r, item.bits, "the header"))
    elseif item.varint then
      local v, range = number_at(r, item, "the header")
      r.tree:add(f[item.k == "const" and "constant" or item.k], range, v % 2 ^ 32)
    else
      local range = take(r, item.bits, "the header")
      put(r, item.k == "const" and "constant" or item.k, range, item.little)
    end
  end
end

local function summary(pinfo, text)
  pinfo.cols.protocol = spec.name
  if spec.fresh ~= pinfo.number then pinfo.cols.info:clear() end
  pinfo.cols.info:append((spec.fresh == pinfo.number and "; " or "") .. text)
  spec.fresh = pinfo.number
end

local function complain(tvb, pinfo, tree, at, finish, err)
  if type(err) ~= "table" then error(err, 0) end
  local from = math.min(err.at, finish)
  tree:add_proto_expert_info(malformed, "Malformed: " .. err.text .. " (byte " .. (from - at) .. ")")
  summary(pinfo, "malformed: " .. err.text)
end

local function finished(r, m, out, pinfo)
  local text = m.name .. (#m.fields > 0 and show_fields(m.fields, out) or "")
  r.root:add(f.message, m.name):set_generated()
  r.root:add(f.text, text):set_generated()
  r.root:append_text(": " .. text)
  summary(pinfo, text)
end

local function read_frame(r, at, m, out)
  if r.finish - at < m.least then wrong(at, "%s has at least %d bytes, not %d", m.name, m.least, r.finish - at) end
  header(r)
  local body = r.at
  for _, x in ipairs(m.head or {}) do
    r.at = at + x.at
    read.bits(r, x, out)
  end
  r.at = body
  items(r, m.items, out)
  if r.at < r.finish then
    if not spec.surplus then wrong(r.at, "%d bytes behind the last item", r.finish - r.at) end
    r.tree:add(f.padding, r.tvb(r.at, r.finish - r.at)):append_text(" (surplus)")
  end
end

local nobody = setmetatable({}, { __index = function() return function(self) return self end end })

-- Streams with phases. phase is that of the frame which is looked at; phases has by stream the one behind the last frame,
-- and before has by frame the one before it, for Wireshark dissects a packet again when it is looked at.
local phase, phases, before = 0, {}, {}
local stream_of = spec.phased and Field.new("tcp.stream")
function proto.init() phases, before = {}, {} end

local function stream_key(pinfo)
  local stream = stream_of()
  return string.format("%s %s:%d>%s:%d", stream and tostring(stream.value) or "", tostring(pinfo.src), pinfo.src_port, tostring(pinfo.dst), pinfo.dst_port)
end

local function frame_key(tvb, pinfo, at)
  return string.format("%d %d %d %s", pinfo.number, tvb:len(), at, tvb:raw(at, math.min(16, tvb:len() - at)))
end

-- strange reports whether a message does not go this way: it is of another phase, or the server receives what goes to its
-- port, and has sent what comes from there.
local function strange(pinfo, x)
  if spec.phased and not x.phases[phase] then return true end
  return spec.server and x.from ~= "" and
    (pinfo.dst_port == spec.port and x.from == spec.server or pinfo.src_port == spec.port and x.from ~= spec.server)
end

-- raw reports whether no message goes this way in the present phase, so that the bytes are somebody else's.
local function raw(pinfo)
  for _, x in ipairs(spec.messages) do
    if not strange(pinfo, x) then return false end
  end
  return true
end

-- chosen returns the first of the messages that are like m that the frame is; if it is none, the one that was read
-- farthest.
local function chosen(tvb, pinfo, at, total, m)
  local list = alike[spec.typed and m.id or 0]
  if #list == 1 and not spec.phased then return m end
  local best, reached
  for _, x in ipairs(list) do
    if not strange(pinfo, x) then
      local r = { tvb = tvb, at = at, begin = at, finish = at + total, whole = at + total, tree = nobody, root = nobody, counts = {}, there = {} }
      local fine, err = pcall(read_frame, r, at, x, {})
      if fine then return x end
      if type(err) ~= "table" then error(err, 0) end
      if not best or err.at > reached then best, reached = x, err.at end
    end
  end
  return best or m
end

-- self_size returns the length of a frame that ends where its last item does, as size does.
local function self_size(tvb, pinfo, at)
  local finish = math.min(tvb:len(), at + spec.most)
  local worst
  for _, x in ipairs(spec.messages) do
    if not strange(pinfo, x) then
      local r = { tvb = tvb, at = at, begin = at, finish = finish, tree = nobody, root = nobody, counts = {}, there = {} }
      local fine, err = pcall(items, r, x.items, {})
      if fine then return r.at - at, nil, x end
      if type(err) ~= "table" then error(err, 0) end
      if not worst or err.short and not worst.short or err.short == worst.short and err.at > worst.at then worst = err end
    end
  end
  if worst and worst.short then
    if tvb:len() - at >= spec.most then return nil, { at = at, text = "a frame has at most " .. spec.most .. " bytes" } end
    return nil
  end
  return nil, worst or { at = at, text = "no message begins so" }
end

local function frame(tvb, pinfo, tree, at, total, m)
  if not spec.self then m = chosen(tvb, pinfo, at, total, m) end
  local root = tree:add(proto, tvb(at, total))
  if spec.phased and not m.phases[phase] then
    complain(tvb, pinfo, root, at, at + total, { at = at, text = m.name .. " is not sent here" })
    return
  end
  local r = { tvb = tvb, at = at, begin = at, finish = at + total, whole = at + total, tree = root, root = root, counts = {}, there = {} }
  local out = {}
  local fine, err = pcall(read_frame, r, at, m, out)
  if fine then
    finished(r, m, out, pinfo)
    phase = m.next or phase
  else
    complain(tvb, pinfo, root, at, at + total, err)
  end
end

-- Lines.

local words = {}
function words.text(t, w)
  for i = 1, #t.without do
    if w:find(t.without:sub(i, i), 1, true) then return nil end
  end
  return #w <= t.most and not bad_in(t.charset, w) and w or nil
end
function words.enum(t, w)
  for i, x in ipairs(t.words or t.names) do
    if x == w then return t.codes[i] end
  end
end
local function word(t, w)
  if words[t.k] then return words[t.k](t, w) end
  if not w:match("^%d+$") or #w > 1 and w:sub(1, 1) == "0" or #w > 20 then return nil end
  if t.k == "opaque" and t.bits == 64 then return (#w < 20 or w <= "18446744073709551615") and w or nil end
  local v = tonumber(w)
  local lo, hi = t.lo or 0, t.k == "bool" and 1 or t.hi or 2 ^ t.bits - 1
  return v >= lo and v <= hi and v or nil
end

local function match(m, line)
  local rest, at, out, found = line, 0, {}, {}
  for _, part in ipairs(m.line) do
    if part.literal then
      if rest:sub(1, #part.literal) ~= part.literal then return nil end
      rest, at = rest:sub(#part.literal + 1), at + #part.literal
    else
      local stop = part.stop and rest:find(part.stop, 1, true)
      local w = stop and rest:sub(1, stop - 1) or rest
      local v, t = nil, part.type
      if t.k == "optional" and w == part.none then v = NONE else v = word(t.k == "optional" and t.elem or t, w) end
      if v == nil then return nil end
      keep(out, part, v)
      found[#found + 1] = { part = part, at = at, text = w }
      rest, at = rest:sub(#w + 1), at + #w
    end
  end
  if rest == "" then return out, found end
end

local function line(tvb, pinfo, tree, at, total)
  local root = tree:add(proto, tvb(at, total))
  local text = tvb:raw(at, total - 1):gsub("\r$", "")
  local bad = text:find(spec.ascii and "[^ -~]" or "\r")
  if spec.strict and #text ~= total - 2 then bad = total end
  if bad then
    complain(tvb, pinfo, root, at, at + total, { at = at + bad - 1, text = "a byte that no line has" })
    return
  end
  for _, m in ipairs(spec.messages) do
    local out, found = match(m, text)
    if out then
      for _, x in ipairs(found) do root:add(f[x.part], tvb(at + x.at, #x.text), x.text) end
      finished({ root = root }, m, out, pinfo)
      return
    end
  end
  complain(tvb, pinfo, root, at, at + total, { at = at, text = "no message has such a line" })
end

local function line_size(tvb, at)
  for i = at, math.min(tvb:len(), at + spec.most) - 1 do
    if tvb(i, 1):uint() == 10 then return i + 1 - at end
  end
  if tvb:len() - at >= spec.most then return nil, { at = at, text = "a line has at most " .. spec.most .. " bytes" } end
  return nil
end

-- One datagram is one frame; in a stream frames follow each other.

function proto.dissector(tvb, pinfo, tree)
  local at = 0
  while at < tvb:len() do
    local total, err, m
    local stream = spec.phased and stream_key(pinfo)
    local place = stream and frame_key(tvb, pinfo, at)
    if stream then
      phase = before[place] or phases[stream] or 0
      if raw(pinfo) then
        tree:add(proto, tvb(at)):append_text(": somebody else's bytes")
        summary(pinfo, "somebody else's bytes")
        return tvb:len()
      end
    end
    if spec.lines then
      total, err = line_size(tvb, at)
    elseif spec.self then
      total, err, m = self_size(tvb, pinfo, at)
    else
      total, err, m = size(tvb, at)
    end
    if spec.transport == "udp" and not err then
      if not total or at + total > tvb:len() then
        err = { at = tvb:len(), text = "the datagram ends within a frame" }
      elseif at + total < tvb:len() then
        err = { at = at + total, text = "bytes behind the frame" }
      end
    end
    if err then
      complain(tvb, pinfo, tree:add(proto, tvb(at)), at, tvb:len(), err)
      return tvb:len()
    end
    if not total or at + total > tvb:len() then
      pinfo.desegment_offset = at
      pinfo.desegment_len = total and at + total - tvb:len() or DESEGMENT_ONE_MORE_SEGMENT
      return tvb:len()
    end
    if spec.lines then
      line(tvb, pinfo, tree, at, total)
    else
      if stream then before[place] = phase end
      frame(tvb, pinfo, tree, at, total, m)
      if stream and not pinfo.visited then phases[stream] = phase end
    end
    at = at + total
  end
  return tvb:len()
end

DissectorTable.get(spec.transport .. ".port"):add(spec.port, proto)
