/**
 * Writes an element with all its content if everything is plain: its rows are in this memory, in the order of their positions, and
 * nothing is kept beside them. Otherwise it changes nothing: the tables stay at their rows, and TypeScript writes the element. Memory:
 * src/engine/unshred/kernel/layout.ts.
 */

let scratch: usize = 0;
let scratchLimit: usize = 0;

/** Allocates bytes of the memory for open elements. Returns 0 if there is no room. */
function room(bytes: usize): usize {
  const at = scratch;
  if (at + bytes > scratchLimit) return 0;
  scratch = at + ((bytes + 7) & ~7);
  return at;
}

function foldedElement(
  child: usize,
  base: usize,
  row: usize,
  keyFrom: usize,
  keyTo: usize,
  depth: i32,
): bool {
  const tag = address(child, FOLDED_TAG);
  const length = field(child, FOLDED_TAG_LENGTH);
  return element(tag, length, field(child, FOLDED_NODE), base, row, keyFrom, keyTo, depth);
}

/** Reads the next row of the table and writes its element. */
function rowElement(table: i32, tag: usize, length: i32, node: i32, depth: i32): bool {
  const record = tableAt(table);
  const row = headRow(record);
  const base = address(record, TABLE_BYTES);
  if (node < 0) return leave();
  if (!take(record, table)) return false;
  const cell = row + <usize>field(record, TABLE_KEY);
  const from = base + <usize>load<u32>(cell);
  return element(tag, length, node, base, row, from, base + <usize>load<u32>(cell, 4), depth);
}

function element(
  tag: usize,
  length: i32,
  nodeIndex: i32,
  base: usize,
  row: usize,
  keyFrom: usize,
  keyTo: usize,
  depth: i32,
): bool {
  const node = <usize>load<u32>(<usize>load<u32>(NODES) + (<usize>nodeIndex << 2));
  if (node == 0) return refuse(WHY_UNKNOWN_NODE, nodeIndex);
  if (depth == 0) return leave();
  const empty = address(node, NODE_EMPTY);
  const emptyCount = field(node, NODE_EMPTY_COUNT);
  for (let at = 0; at < emptyCount; at++)
    if (!isEmpty(row, load<i32>(empty + (<usize>at << 2)))) return leave();
  put(0x3c);
  if (!copy(tag, length)) return leave();
  let attribute = address(node, NODE_ATTRIBUTES);
  const attributeCount = field(node, NODE_ATTRIBUTE_COUNT);
  for (let at = 0; at < attributeCount; at++, attribute += ATTRIBUTE_INTS << 2) {
    const cell = row + <usize>field(attribute, ATTRIBUTE_COLUMN);
    const from = load<i32>(cell);
    if (from < 0) continue;
    if (!copy(address(attribute, ATTRIBUTE_NAME), field(attribute, ATTRIBUTE_NAME_LENGTH))) return leave();
    if (!attributeValue(base + <usize>from, base + <usize>load<u32>(cell, 4))) return leave();
    put(0x22);
  }
  put(0x3e);
  const begin = out;
  const textColumn = field(node, NODE_TEXT);
  if (textColumn >= 0) {
    const cell = row + <usize>textColumn;
    const from = load<i32>(cell);
    if (from >= 0 && !text(base + <usize>from, base + <usize>load<u32>(cell, 4))) return leave();
    return end(tag, length, begin, false);
  }
  const before = scratch;
  const isClosed = content(node, base, row, keyFrom, keyTo, depth);
  scratch = before;
  return isClosed >= 0 && end(tag, length, begin, isClosed > 0);
}

/** `isClosed`: true if the content between the tags may be empty. */
function end(tag: usize, length: i32, begin: usize, isClosed: bool): bool {
  if (out == begin && !isClosed) {
    out--;
    put(0x2f);
    put(0x3e);
    return true;
  }
  put(0x3c);
  put(0x2f);
  if (!copy(tag, length)) return leave();
  put(0x3e);
  return true;
}

/**
 * Writes the content of an element. Returns 1 if there was XML text, which may be empty, 0 if there was none, and -1 if the kernel
 * refuses it.
 */
function content(node: usize, base: usize, row: usize, keyFrom: usize, keyTo: usize, depth: i32): i32 {
  const groups = address(node, NODE_GROUPS);
  const groupCount = field(node, NODE_GROUP_COUNT);
  const contents = address(node, NODE_CONTENTS);
  const contentCount = field(node, NODE_CONTENT_COUNT);
  const nexts = room(<usize>groupCount * NEXT_BYTES);
  if (nexts == 0) {
    leave();
    return -1;
  }
  for (let at = 0; at < groupCount; at++) store<i32>(nexts + <usize>at * NEXT_BYTES, -1);
  let free = address(node, NODE_FOLDED);
  let placed: usize = 0;
  let placedEnd: usize = 0;
  if (field(node, NODE_IS_FREE) == 0) {
    const count = <usize>field(node, NODE_FOLDED_COUNT);
    placed = room(count * PLACED_BYTES);
    free = room((count + 1) << 2);
    if (placed == 0 || free == 0) {
      leave();
      return -1;
    }
    const placedCount = placeFolded(node, placed, free, base, row);
    if (placedCount < 0) return -1;
    placedEnd = placed + <usize>placedCount * PLACED_BYTES;
  }
  let expected: f64 = 1;
  let last: f64 = 0;
  let isClosed = 0;
  for (;;) {
    let position: f64 = Infinity;
    let child: usize = 0;
    let table = -1;
    let found: usize = 0;
    let group = groups;
    for (let at = 0; at < groupCount; at++, group += GROUP_INTS << 2) {
      const next = nexts + <usize>at * NEXT_BYTES;
      const groupTable = field(group, GROUP_TABLE);
      if (
        load<i32>(next) != field(tableAt(groupTable), TABLE_MOVES) &&
        !look(group, next, base, row, keyFrom, keyTo)
      )
        return -1;
      const own = <usize>load<u32>(next, 4);
      if (own == 0 || load<f64>(next, 8) >= position) continue;
      position = load<f64>(next, 8);
      child = own;
      table = groupTable;
    }
    let candidate = contents;
    for (let at = 0; at < contentCount; at++, candidate += CONTENT_INTS << 2) {
      const contentTable = field(candidate, CONTENT_TABLE);
      const record = tableAt(contentTable);
      const has = headOf(record, contentTable);
      if (has < 0) return -1;
      if (has == 0) continue;
      const head = headRow(record);
      const headBase = address(record, TABLE_BYTES);
      if (!cellIs(headBase, head, field(candidate, CONTENT_PARENT_KEY), keyFrom, keyTo)) continue;
      const own = positionOf(headBase, head, field(candidate, CONTENT_POSITION));
      if (own < 0) return -1;
      if (own >= position) continue;
      position = own;
      found = candidate;
    }
    if (position < last) {
      leave();
      return -1;
    }
    const besides = placed < placedEnd ? load<f64>(placed) : Infinity;
    if (min(position, besides) > expected) {
      let folded: usize = 0;
      for (;;) {
        folded = <usize>load<u32>(free);
        if (folded == 0) break;
        free += 4;
        const there = isThere(folded, base, row, keyFrom, keyTo);
        if (there < 0) return -1;
        if (there > 0) break;
      }
      if (folded != 0) {
        expected += 1;
        if (!foldedElement(folded, base, row, keyFrom, keyTo, depth - 1)) return -1;
        continue;
      }
    }
    if (besides < position) {
      expected = besides + 1;
      const known = <usize>load<u32>(placed, 8);
      placed += PLACED_BYTES;
      if (!foldedElement(known, base, row, keyFrom, keyTo, depth - 1)) return -1;
      continue;
    }
    if (position == Infinity) break;
    expected = position + 1;
    last = position;
    if (found != 0) {
      const contentTable = field(found, CONTENT_TABLE);
      const record = tableAt(contentTable);
      const cell = headRow(record) + <usize>field(found, CONTENT_COLUMN);
      const contentBase = address(record, TABLE_BYTES);
      if (!take(record, contentTable)) return -1;
      const from = load<i32>(cell);
      const isMarkup = field(found, CONTENT_IS_MARKUP) != 0;
      if (isMarkup) isClosed = 1;
      if (from < 0) continue;
      const start = contentBase + <usize>from;
      const to = contentBase + <usize>load<u32>(cell, 4);
      if (!(isMarkup ? copy(start, to - start) : text(start, to))) {
        leave();
        return -1;
      }
      continue;
    }
    const tag = address(child, CHILD_TAG);
    if (!rowElement(table, tag, field(child, CHILD_TAG_LENGTH), field(child, CHILD_NODE), depth - 1))
      return -1;
  }
  return isClosed;
}

/**
 * Writes the next row of the table as the element of that name. Returns the end of the output, which begins at OUT, or 0 if the kernel
 * refuses it; see WHY.
 */
export function writeElement(table: i32, tag: usize, length: i32, node: i32): usize {
  out = <usize>load<u32>(OUT);
  limit = <usize>load<u32>(OUT_LIMIT);
  scratch = <usize>load<u32>(SCRATCH);
  scratchLimit = <usize>load<u32>(SCRATCH_LIMIT);
  store<i32>(TOUCHED_COUNT, 0);
  const has = headOf(tableAt(table), table);
  if (has == 0) leave();
  // as for all other tables, the row after it must also be known
  const isWritten =
    has > 0 && rowElement(table, tag, length, node, MOST_DEPTH) && headOf(tableAt(table), table) >= 0;
  if (isWritten) return out;
  const touched = <usize>load<u32>(TOUCHED);
  const count = load<i32>(TOUCHED_COUNT);
  for (let at = 0; at < count; at++) {
    const record = tableAt(load<i32>(touched + (<usize>at << 2)));
    store<i32>(record + TABLE_AT, field(record, TABLE_BEFORE));
    store<i32>(record + TABLE_TAKEN, 0);
  }
  return 0;
}
