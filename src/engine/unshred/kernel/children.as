// Part of src/engine/unshred/kernel/elements.as: which rows and values make children of an element.

const NO_POSITION: f64 = 9007199254740991;

/** The child that the head of a table is by one use; 0: none. */
function childOf(use: usize, base: usize, row: usize): usize {
  const empty = address(use, USE_EMPTY);
  const emptyCount = field(use, USE_EMPTY_COUNT);
  for (let at = 0; at < emptyCount; at++)
    if (!isEmpty(row, load<i32>(empty + (<usize>at << 2)))) return 0;
  const children = address(use, USE_CHILDREN);
  const count = field(use, USE_CHILD_COUNT);
  const name = field(use, USE_ELEMENT_NAME);
  const byRole = field(use, USE_BY_ROLE) != 0;
  if (name < 0 || (count == 1 && !byRole)) return children;
  let child = children;
  for (let at = 0; at < count; at++, child += CHILD_INTS << 2) {
    const label = address(child, CHILD_LABEL);
    if (cellIs(base, row, name, label, label + <usize>field(child, CHILD_LABEL_LENGTH))) return child;
  }
  return byRole ? 0 : children;
}

/** Returns the position of a row, NO_POSITION if it has none, or -1 if the kernel refuses it. */
function positionOf(base: usize, row: usize, column: i32): f64 {
  if (column < 0) return NO_POSITION;
  const from = load<i32>(row + <usize>column);
  if (from < 0) return NO_POSITION;
  const position = wholeNumber(base + <usize>from, base + <usize>load<u32>(row + <usize>column, 4));
  if (position < 0) leave();
  return position;
}

/** Writes into `next` the relation of the group's next table row to the parent row. */
function look(group: usize, next: usize, base: usize, row: usize, keyFrom: usize, keyTo: usize): bool {
  const table = field(group, GROUP_TABLE);
  const record = tableAt(table);
  const has = headOf(record, table);
  if (has < 0) return false;
  store<i32>(next, field(record, TABLE_MOVES));
  store<u32>(next, 0, 4);
  if (has == 0) return true;
  const head = headRow(record);
  const headBase = address(record, TABLE_BYTES);
  let use = address(group, GROUP_USES);
  const count = field(group, GROUP_USE_COUNT);
  for (let at = 0; at < count; at++, use += USE_INTS << 2) {
    const childKey = field(use, USE_CHILD_KEY);
    if (childKey < 0) {
      if (!cellIs(headBase, head, field(use, USE_PARENT_KEY), keyFrom, keyTo)) continue;
    } else {
      const from = load<i32>(row + <usize>childKey);
      if (from < 0) continue;
      const to = base + <usize>load<u32>(row + <usize>childKey, 4);
      if (!cellIs(headBase, head, field(group, GROUP_KEY), base + <usize>from, to)) continue;
    }
    const child = childOf(use, headBase, head);
    if (child == 0) continue;
    const position = positionOf(headBase, head, field(group, GROUP_POSITION));
    if (position < 0) return false;
    store<u32>(next, <u32>child, 4);
    store<f64>(next, position, 8);
    return true;
  }
  return true;
}

/** Returns 1 if a child that is folded into the row is present, 0 if not, and -1 if the kernel refuses it. */
function isThere(folded: usize, base: usize, row: usize, keyFrom: usize, keyTo: usize): i32 {
  if (field(folded, FOLDED_ELEMENT_NAME) >= 0) return 1;
  const presence = field(folded, FOLDED_PRESENCE);
  if (presence >= 0) {
    const from = load<i32>(row + <usize>presence);
    // true
    if (
      from >= 0 &&
      load<i32>(row + <usize>presence, 4) - from == 4 &&
      load<u32>(base + <usize>from) == 0x65757274
    )
      return 1;
  }
  const columns = address(folded, FOLDED_COLUMNS);
  const columnCount = field(folded, FOLDED_COLUMN_COUNT);
  for (let at = 0; at < columnCount; at++)
    if (!isEmpty(row, load<i32>(columns + (<usize>at << 2)))) return 1;
  let evident = address(folded, FOLDED_ROWS);
  const rowCount = field(folded, FOLDED_ROW_COUNT);
  for (let at = 0; at < rowCount; at++, evident += EVIDENT_INTS << 2) {
    const parentKey = field(evident, EVIDENT_PARENT_KEY);
    if (parentKey < 0) continue;
    const table = field(evident, EVIDENT_TABLE);
    const record = tableAt(table);
    const has = headOf(record, table);
    if (has < 0) return -1;
    if (has == 0) continue;
    const head = headRow(record);
    const headBase = address(record, TABLE_BYTES);
    if (!cellIs(headBase, head, parentKey, keyFrom, keyTo)) continue;
    const role = field(evident, EVIDENT_ROLE);
    if (role < 0) return 1;
    const label = address(evident, EVIDENT_LABEL);
    if (cellIs(headBase, head, role, label, label + <usize>field(evident, EVIDENT_LABEL_LENGTH))) return 1;
  }
  return 0;
}

/**
 * Writes the children whose position is in the row at `placed`, by position, and the others at `free`. Returns the number of the former,
 * or -1 if the kernel refuses the row.
 */
function placeFolded(node: usize, placed: usize, free: usize, base: usize, row: usize): i32 {
  const folded = address(node, NODE_FOLDED);
  const count = field(node, NODE_FOLDED_COUNT);
  let placedCount = 0;
  let freeCount = 0;
  for (let index = 0; index < count; index++) {
    const child = <usize>load<u32>(folded + (<usize>index << 2));
    const name = field(child, FOLDED_ELEMENT_NAME);
    const label = address(child, FOLDED_LABEL);
    if (name >= 0 && !cellIs(base, row, name, label, label + <usize>field(child, FOLDED_LABEL_LENGTH)))
      continue;
    const column = field(child, FOLDED_POSITION);
    if (column < 0 || isEmpty(row, column)) {
      store<u32>(free + (<usize>freeCount << 2), <u32>child);
      freeCount++;
      continue;
    }
    const position = positionOf(base, row, column);
    if (position < 0) return -1;
    let at = placed + <usize>placedCount * PLACED_BYTES;
    for (; at > placed && load<f64>(at - PLACED_BYTES) > position; at -= PLACED_BYTES)
      v128.store(at, v128.load(at - PLACED_BYTES));
    store<f64>(at, position);
    store<u32>(at, <u32>child, 8);
    placedCount++;
  }
  store<u32>(free + (<usize>freeCount << 2), 0);
  return placedCount;
}
