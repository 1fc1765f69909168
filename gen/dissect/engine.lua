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
add("padding", ProtoField.bytes(spec.name .. ".padding", "Padding"))
add("checksum", ProtoField.uint32(spec.name .. ".checksum", "Checksum (not verified)", base.HEX))
add("sequence", ProtoField.uint32(spec.name .. ".sequence", "Sequence number"))

local widths = { [8] = ProtoField.uint8, [16] = ProtoField.uint16, [24] = ProtoField.uint24, [32] = ProtoField.uint32, [64] = ProtoField.uint64 }

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
  return some and item.bits <= 32 and names or nil
end

local function declare(prefix, items)
  for _, item in ipairs(items or {}) do
    local abbr = item.field and (item.field == "" and prefix or prefix .. "." .. item.field)
    if item.k == "int" then
      add(item, widths[item.bits](abbr, item.field == "" and "element" or item.field, base.DEC, names_of(item), nil, item.doc))
    elseif item.k == "text" or item.k == "value" then
      add(item, ProtoField.string(abbr, item.field, base.NONE, item.doc))
    elseif item.k == "address" then
      add(item, ProtoField.bytes(abbr, item.field, base.SPACE, item.doc))
    elseif item.k == "each" then
      declare(abbr, item.items)
    end
  end
end

for _, m in ipairs(spec.messages) do
  declare(spec.name .. "." .. m.name, m.items)
  for _, part in ipairs(m.line or {}) do
    if part.field then add(part, ProtoField.string(spec.name .. "." .. m.name .. "." .. part.field, part.field, base.NONE, part.doc)) end
  end
end
proto.fields = all

-- Values as fsmgen writes them.

local function quoted(s)
  local plain = { ["\a"] = "\\a", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\v"] = "\\v", ["\\"] = "\\\\", ['"'] = '\\"' }
  return '"' .. s:gsub('[%z\1-\31\127"\\]', function(c) return plain[c] or string.format("\\x%02x", c:byte()) end) .. '"'
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

local function need(r, n, what)
  if r.finish - r.at < n then wrong(r.at, "%s needs %d bytes, there are %d", what, n, r.finish - r.at) end
end

local function unsigned(range, bits, little)
  if bits == 64 then return little and range:le_uint64() or range:uint64() end
  return little and range:le_uint() or range:uint()
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

local read = {}
local function items(r, list, out)
  local begin = {}
  for i, item in ipairs(list) do
    begin[i] = r.at
    read[item.k](r, item, out, begin)
  end
end

function read.int(r, item, out)
  local at = r.at
  local range = take(r, item.bits, item.field)
  local node = put(r, item, range, item.little)
  local t, v = item.type, unsigned(range, item.bits, item.little)
  if item.bits == 64 then v = t.lo and v:tonumber() or tostring(v) end
  if t.k == "optional" then
    if item.none and v == item.none then
      keep(out, item, NONE)
      return
    end
    t = t.elem
  end
  keep(out, item, within(t, v, at, item.field))
  if t.k == "bool" and v > 1 then node:append_text(" (true)") end
end

function read.pad(r, item)
  r.tree:add(f.padding, take(r, item.bytes * 8, "padding"))
end

function read.const(r, item)
  local at, range = r.at, take(r, item.bits, "a constant")
  put(r, "constant", range, item.little)
  local v = unsigned(range, item.bits, item.little)
  if number(v) ~= number(item.value) then wrong(at, "a constant is %s, not %s", number(v), number(item.value)) end
end

function read.align(r, item, out, begin)
  local from = item.since < 0 and r.begin or begin[item.since + 1]
  local n = math.min((from - r.at) % item.to, r.finish - r.at)
  if n > 0 then r.tree:add(f.padding, take(r, n * 8, "padding")) end
end

function read.count(r, item)
  local at, range = r.at, take(r, item.bits, "the count of " .. item.field)
  put(r, "count", range, item.little):append_text(" (" .. item.field .. ")")
  local n = unsigned(range, item.bits, item.little)
  if item.most and n > item.most then wrong(at, "%d elements of %s, at most %d", n, item.field, item.most) end
  r.counts[item.field] = n
end

function read.each(r, item, out)
  local list, tree = {}, r.tree
  for i = 1, r.counts[item.field] or 0 do
    local el, start = {}, r.at
    r.tree = tree:add(proto, r.tvb(start, 0), item.field .. " " .. i)
    items(r, item.items, el)
    r.tree:set_len(r.at - start)
    list[i] = item.single and el[item.single] or el
  end
  r.tree = tree
  keep(out, item, list)
end

function read.text(r, item, out)
  local at, n, skip = r.at, r.finish - r.at, 0
  if item.by == "nul" then
    for i = r.at, r.finish - 1 do
      if r.tvb(i, 1):uint() == 0 then
        n, skip = i - r.at, 1
        break
      end
    end
  elseif item.by == "counted" then
    n = r.counts[item.field] or 0
    need(r, n, item.field)
  end
  local shown = n
  if n > item.most then
    if not item.cut then wrong(at, "%s has %d bytes, at most %d", item.field, n, item.most) end
    shown = item.most
  end
  local text = shown > 0 and r.tvb:raw(at, shown) or ""
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
  local v = unsigned(range, t.bits)
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

local by_id = {}
for _, m in ipairs(spec.messages) do by_id[m.id] = m end

-- size returns the length of the frame at `at`; nil if more bytes are needed to tell; or nil and what is wrong.
local function size(tvb, at)
  if tvb:len() - at < spec.header_length then return nil end
  local message, total, offset = #spec.messages == 1 and spec.messages[1] or nil, nil, at
  for _, item in ipairs(spec.header) do
    local v = item.k == "address" and 0 or unsigned(tvb(offset, item.bits / 8), item.bits, item.little)
    if item.k == "length" then
      total = v + item.less
    elseif item.k == "type" then
      message = by_id[v]
      if not message then return nil, { at = offset, text = "no message has the type number " .. number(v) } end
    elseif item.k == "const" and number(v) ~= number(item.value) then
      return nil, { at = offset, text = "a constant is " .. number(v) .. ", not " .. number(item.value) }
    end
    offset = offset + item.bits / 8
  end
  total = total or tvb:len() - at
  if message and total < message.least then return nil, { at = at, text = string.format("%s has at least %d bytes, not %d", message.name, message.least, total) } end
  if total > spec.most then return nil, { at = at, text = string.format("a frame has at most %d bytes, not %d", spec.most, total) } end
  return total, nil, message
end

local function header(r)
  for _, item in ipairs(spec.header) do
    local range = take(r, item.bits, "the header")
    put(r, item.k == "const" and "constant" or item.k, range, item.little)
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

local function frame(tvb, pinfo, tree, at, total, m)
  local root = tree:add(proto, tvb(at, total))
  local r = { tvb = tvb, at = at, begin = at, finish = at + total, tree = root, root = root, counts = {} }
  local out = {}
  local fine, err = pcall(function()
    header(r)
    items(r, m.items, out)
    if r.at < r.finish then
      if not spec.surplus then wrong(r.at, "%d bytes behind the last item", r.finish - r.at) end
      root:add(f.padding, tvb(r.at, r.finish - r.at)):append_text(" (surplus)")
    end
  end)
  if fine then
    finished(r, m, out, pinfo)
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
  return #w <= t.most and w or nil
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
    if spec.lines then
      total, err = line_size(tvb, at)
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
      frame(tvb, pinfo, tree, at, total, m)
    end
    at = at + total
  end
  return tvb:len()
end

DissectorTable.get(spec.transport .. ".port"):add(spec.port, proto)
