// Part of src/engine/shred/kernel/shred.as: edges of the plan, and rows with their slots and keys.

/** The edge or attribute that has been learned for a node and a name, probably the one that `previous` foretells; 0 for none. */
// @ts-ignore: decorator
@inline
function findEdge(previous: usize, node: i32, name: i32): usize {
  const foretold = load<usize>(previous, EDGE_NEXT);
  if (load<i32>(foretold, EDGE_NAME) == name && load<i32>(foretold, EDGE_NODE) == node) return foretold;
  const found = searchEdge(node, name);
  if (found != 0) store<usize>(previous, found, EDGE_NEXT);
  return found;
}

function searchEdge(node: i32, name: i32): usize {
  const edges: usize = load<usize>(EDGES);
  const mask = load<i32>(EDGE_MASK);
  let slot = (node * 0x9e3779b1 + name * 0x85ebca6b) & 0x7fffffff;
  slot = (slot ^ (slot >>> 15)) & mask;
  while (true) {
    const edge = edges + ((<usize>slot) << 5);
    if (load<i32>(edge, EDGE_NAME) == name && load<i32>(edge, EDGE_NODE) == node) return edge;
    if (load<i32>(edge, EDGE_NAME) < 0) return 0;
    slot = (slot + 1) & mask;
  }
}

// @ts-ignore: decorator
@inline
function tableAt(index: i32): usize {
  return load<usize>(TABLES) + ((<usize>index) << 6);
}

// @ts-ignore: decorator
@inline
function columnAt(table: usize, index: i32): usize {
  return load<usize>(COLUMNS) + ((<usize>(load<i32>(table, TABLE_FIRST_COLUMN) + index)) << 5);
}

/** Returns the address of the slot that holds the start and end of a row's value. */
// @ts-ignore: decorator
@inline
function slotAt(row: usize, column: i32): usize {
  return load<usize>(SLOTS) + ((<usize>(load<i32>(row, ROW_SLOTS) + (column << 1))) << 2);
}

// @ts-ignore: decorator
@inline
function setSlot(row: usize, column: i32, start: usize, end: usize): void {
  const slot = slotAt(row, column);
  const arena: usize = load<usize>(ARENA);
  store<i32>(slot, <i32>(start - arena));
  store<i32>(slot, <i32>(end - arena), 4);
}

/**
 * The key of row `number` of a table. The last one written is kept as text, as mostly the next is one more: 32 bytes a table, the
 * number, the length, and the digits.
 */
// @ts-ignore: decorator
@inline
function writeKey(index: i32, number: f64, out: usize): usize {
  const last = load<usize>(KEY_TEXTS) + ((<usize>index) << 5);
  const length = load<usize>(last, 8);
  const digit = last + 11 + length;
  const c = load<u8>(digit);
  if (load<f64>(last) + 1 == number && length > 0 && c != ZERO + 9) {
    store<u8>(digit, c + 1);
    store<f64>(last, number);
    v128.store(out, v128.load(last, 12));
    store<u32>(out, load<u32>(last, 28), 16);
    return out + length;
  }
  const end = writeLong(load<u64>(KEY_BASE) + <u64>number, out);
  store<f64>(last, number);
  store<usize>(last, end - out, 8);
  v128.store(last, v128.load(out), 12);
  store<u32>(last, load<u32>(out, 16), 28);
  return end;
}

/**
 * Opens a row above the top one, for which there must be room. Returns the end of the arena, with the row's key written. `holder`: the
 * row that has the key of this one, in column `childKey`; -1: there is none.
 */
function openRow(table: usize, index: i32, out: usize, holder: usize, childKey: i32): usize {
  const top = load<i32>(ROW_TOP) + 1;
  store<i32>(ROW_TOP, top);
  const row = load<usize>(ROWS) + ((<usize>top) << 5);
  const slotTop = load<i32>(SLOT_TOP);
  const count = load<i32>(table, TABLE_SLOT_COUNT);
  store<i32>(row, index);
  store<i32>(row, slotTop, ROW_SLOTS);
  store<i32>(SLOT_TOP, slotTop + (count << 1));
  const none = i32x4.splat(-1);
  let slot = load<usize>(SLOTS) + ((<usize>slotTop) << 2);
  const end = slot + ((<usize>count) << 3);
  for (; slot < end; slot += 16) v128.store(slot, none);
  const keys = load<usize>(LAST_NUMBERS) + ((<usize>index) << 3);
  const number = load<f64>(keys) + 1;
  store<f64>(keys, number);
  store<f64>(row, number, ROW_NUMBER);
  const key = writeKey(index, number, out);
  setSlot(row, load<i32>(table, TABLE_ROW_KEY), out, key);
  // a key that the row above also has must remain when this row is removed
  if (childKey >= 0) setSlot(holder, childKey, out, key);
  store<i32>(row, <i32>((childKey >= 0 ? key : out) - load<usize>(ARENA)), ROW_MARK);
  return key;
}

/** The parent's key, as it is written there. */
// @ts-ignore: decorator
@inline
function copyKey(row: usize, column: i32, parent: usize, out: usize): usize {
  const slot = slotAt(parent, load<i32>(tableAt(load<i32>(parent)), TABLE_ROW_KEY));
  const start = load<i32>(slot);
  const end = copy(out, load<usize>(ARENA) + start, <usize>(load<i32>(slot, 4) - start));
  setSlot(row, column, out, end);
  return end;
}

/** Writes the values that locate an opened row, if its table has columns for them: the parent's key and the row's position. */
// @ts-ignore: decorator
@inline
function placeRow(table: usize, row: usize, parentKey: i32, parent: usize, position: i32, out: usize): usize {
  if (parentKey >= 0) out = copyKey(row, parentKey, parent, out);
  const positionColumn = load<i32>(table, TABLE_POSITION);
  if (positionColumn < 0) return out;
  const end = writeInteger(position, out);
  setSlot(row, positionColumn, out, end);
  return end;
}

// @ts-ignore: decorator
@inline
function hasRoomForRow(table: usize, out: usize): bool {
  return (
    load<i32>(ROW_TOP) + 1 < load<i32>(ROW_CAPACITY) &&
    load<i32>(SLOT_TOP) + (load<i32>(table, TABLE_SLOT_COUNT) << 1) + 4 <= load<i32>(SLOT_CAPACITY) &&
    out + 128 <= load<usize>(ARENA) + load<usize>(ARENA_CAPACITY)
  );
}

/**
 * Opens the row of the substitution group's head if the edge's element is a member, which also has a row in `table`. Returns the end of
 * the arena, or 0 if there is no room for both.
 */
function openHead(edge: usize, table: usize, parent: usize, position: i32, out: usize): usize {
  const number = FIRST_HEAD - load<i32>(edge, EDGE_CHILD_KEY);
  const head = load<usize>(HEADS) + ((<usize>number) << 3);
  const node = load<usize>(NODES) + ((<usize>load<i32>(head, HEAD_NODE)) << 6);
  const index = load<i32>(node, NODE_TABLE);
  const headTable = tableAt(index);
  const labelLength = load<usize>(edge, EDGE_LABEL_LENGTH);
  if (!hasRoomForRow(headTable, out + 2 * labelLength + 128)) return 0;
  const slotCount = load<i32>(headTable, TABLE_SLOT_COUNT) + load<i32>(table, TABLE_SLOT_COUNT);
  if (
    load<i32>(ROW_TOP) + 2 >= load<i32>(ROW_CAPACITY) ||
    load<i32>(SLOT_TOP) + (slotCount << 1) + 4 > load<i32>(SLOT_CAPACITY)
  )
    return 0;
  out = openRow(headTable, index, out, parent, -1);
  const row = load<usize>(ROWS) + ((<usize>load<i32>(ROW_TOP)) << 5);
  out = placeRow(headTable, row, load<i32>(head, HEAD_PARENT_KEY), parent, position, out);
  const end = copy(out, load<usize>(edge, EDGE_LABEL), labelLength);
  setSlot(row, load<i32>(node, NODE_ELEMENT_NAME_COLUMN), out, end);
  return end;
}

/**
 * True if a row with `bytes` bytes of values, possibly without its key, fits; its values are made of the bytes from `from` to `to`. If it
 * does not fit, sets FULL_TABLE to the table, or to -1 if it would not fit even an empty buffer.
 */
// @ts-ignore: decorator
@inline
function fits(table: usize, index: i32, from: usize, to: usize, bytes: usize): bool {
  const length = load<usize>(load<usize>(OUT_LENGTHS) + ((<usize>index) << 2));
  const room = load<usize>(OUT_CAPACITY) - 96;
  const base = load<usize>(table, TABLE_BASE_BYTES);
  const others = length + base;
  if (load<i32>(MODE) == MODE_JSON_LINES && others + bytes * MOST_JSON_BYTES > room)
    bytes += specialsOf(from, to) * (MOST_JSON_BYTES - 1);
  if (others + bytes <= room) return true;
  store<i32>(FULL_TABLE, length > 0 && base + bytes <= room ? index : -1);
  return false;
}

/** Does the same as `fits` for the row below `row`: the row of a head, or of the base type. */
function rowBelowFits(row: usize): bool {
  const below = row - 32;
  const index = load<i32>(below);
  const arena: usize = load<usize>(ARENA);
  const from = arena + load<usize>(below, ROW_MARK);
  const to = arena + load<usize>(row, ROW_MARK);
  store<i32>(FULL_TABLE, -1);
  return index != load<i32>(row) && fits(tableAt(index), index, from, to, to - from);
}

/** Writes the top row to its table's buffer if it fits, and removes it from the stack. Returns the end of the arena. */
function closeRow(): usize {
  const top = load<i32>(ROW_TOP);
  const row = load<usize>(ROWS) + ((<usize>top) << 5);
  const index = load<i32>(row);
  const table = tableAt(index);
  const arena: usize = load<usize>(ARENA);
  const slots = slotAt(row, 0);
  const required = load<usize>(REQUIRED) + ((<usize>load<i32>(table, TABLE_FIRST_REQUIRED)) << 2);
  const requiredCount = load<i32>(table, TABLE_REQUIRED_COUNT);
  for (let i = 0; i < requiredCount; i++) {
    const number = load<i32>(required + ((<usize>i) << 2));
    if (load<i32>(slots + ((<usize>number) << 3)) >= 0) continue;
    const column = columnAt(table, number);
    if (load<i32>(column, COLUMN_RELAXED) != 0) continue;
    store<i32>(column, 1, COLUMN_RELAXED);
    store<i32>(RELAXED, 1);
  }
  const lengths = load<usize>(OUT_LENGTHS) + ((<usize>index) << 2);
  const begin = load<usize>(load<usize>(OUT_STARTS) + ((<usize>index) << 2));
  let out = begin + load<usize>(lengths);
  const separator = load<u8>(SEPARATOR);
  let slot = slots;
  let column = columnAt(table, 0);
  const last = slots + ((<usize>load<i32>(table, TABLE_COLUMN_COUNT)) << 3);
  if (load<i32>(MODE) == MODE_JSON_LINES) {
    let member = load<usize>(MEMBERS) + ((<usize>load<i32>(table, TABLE_FIRST_COLUMN)) << 4);
    for (; slot < last; slot += 8) {
      const start = load<i32>(slot);
      if (start >= 0) {
        out = writeMember(member, arena + start, <usize>(load<i32>(slot, 4) - start), out);
      } else {
        const from = load<usize>(column, COLUMN_DEFAULT);
        const length = load<usize>(column, COLUMN_DEFAULT_LENGTH);
        if (length == 2 && load<u16>(from) == NULL_TEXT) out = writeNullMember(member, out);
        else out = writeMember(member, from, length, out);
      }
      column += 32;
      member += 16;
    }
    // }, and a line feed for a separator
    store<u8>(out, CLOSE_BRACE);
    out += 2;
  }
  for (; slot < last; slot += 8) {
    const start = load<i32>(slot);
    if (start >= 0) out = copy(out, arena + start, <usize>(load<i32>(slot, 4) - start));
    else out = copy(out, load<usize>(column, COLUMN_DEFAULT), load<usize>(column, COLUMN_DEFAULT_LENGTH));
    store<u8>(out++, separator);
    column += 32;
  }
  store<u8>(out - 1, LF);
  store<usize>(lengths, out - begin);
  const pending = load<usize>(OUT_PENDING) + ((<usize>index) << 2);
  store<i32>(pending, load<i32>(pending) + 1);
  store<i32>(ROW_TOP, top - 1);
  store<i32>(SLOT_TOP, load<i32>(row, ROW_SLOTS));
  return arena + load<i32>(row, ROW_MARK);
}

/** Writes a run of text of mixed content as a row in table `index`. Returns the end of the arena, or 0 if there is no room (see `fits`). */
function writeTextRow(frame: usize, index: i32, out: usize): usize {
  const table = tableAt(index);
  const length = load<usize>(TEXT_LENGTH);
  store<i32>(FULL_TABLE, -1);
  if (load<i32>(PREFIX_COUNT) != 0 && usesPrefix(load<usize>(TEXT), load<usize>(TEXT) + length)) return 0;
  if (!hasRoomForRow(table, out + 2 * length + 64) || !fits(table, index, load<usize>(TEXT), load<usize>(TEXT) + length, 2 * length + 192)) return 0;
  const position = load<i32>(frame, FRAME_POSITION) + 1;
  store<i32>(frame, position, FRAME_POSITION);
  store<i32>(frame, 1, FRAME_SHOWN);
  const parent = load<usize>(ROWS) + ((<usize>load<i32>(frame, FRAME_ROW)) << 5);
  out = openRow(table, index, out, parent, -1);
  const row = load<usize>(ROWS) + ((<usize>load<i32>(ROW_TOP)) << 5);
  out = copyKey(row, load<i32>(table, TABLE_PARENT_KEY), parent, out);
  let end = writeInteger(position, out);
  setSlot(row, load<i32>(table, TABLE_POSITION), out, end);
  out = end;
  const text: usize = load<usize>(TEXT);
  end = escape(text, text + length, out);
  setSlot(row, load<i32>(table, TABLE_CONTENT), out, end);
  store<i32>(TEXT_LENGTH, 0);
  return closeRow();
}
