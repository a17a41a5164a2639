// Part of src/engine/unshred/kernel/elements.as: the positions of tables.

function refuse(why: i32, subject: i32): bool {
  store<i32>(WHY, why);
  store<i32>(SUBJECT, subject);
  return false;
}

// @ts-ignore: decorator
@inline
function leave(): bool {
  return refuse(WHY_LEFT, 0);
}

// @ts-ignore: decorator
@inline
function tableAt(table: i32): usize {
  return <usize>load<u32>(TABLES) + <usize>table * TABLE_BYTES_OF_RECORD;
}

/** Returns 1 if the table has a next row, 0 if it has none, and -1 if that is not known and the kernel refuses it. */
// @ts-ignore: decorator
@inline
function headOf(record: usize, table: i32): i32 {
  const at = field(record, TABLE_AT);
  if (at < 0) return 0;
  if (at < field(record, TABLE_END)) return 1;
  if (field(record, TABLE_IS_LAST) != 0) return 0;
  refuse(WHY_ENDED, table);
  return -1;
}

// @ts-ignore: decorator
@inline
function headRow(record: usize): usize {
  return address(record, TABLE_CELLS) + (<usize>field(record, TABLE_AT) << 2);
}

/** Consumes the table's next row. Returns false if it has entries beside it. */
function take(record: usize, table: i32): bool {
  const at = field(record, TABLE_AT);
  if (field(record, TABLE_TAKEN) == 0) {
    store<i32>(record + TABLE_BEFORE, at);
    const count = load<i32>(TOUCHED_COUNT);
    store<i32>(<usize>load<u32>(TOUCHED) + (<usize>count << 2), table);
    store<i32>(TOUCHED_COUNT, count + 1);
  }
  store<i32>(record + TABLE_AT, at + field(record, TABLE_STRIDE));
  store<i32>(record + TABLE_TAKEN, field(record, TABLE_TAKEN) + 1);
  store<i32>(record + TABLE_MOVES, field(record, TABLE_MOVES) + 1);
  if (field(record, TABLE_HAS_BESIDE) == 0) return true;
  const cell = address(record, TABLE_CELLS) + (<usize>at << 2) + <usize>field(record, TABLE_KEY);
  const base = address(record, TABLE_BYTES);
  const key = wholeNumber(base + <usize>load<u32>(cell), base + <usize>load<u32>(cell, 4));
  return key >= 0 && key < load<f64>(record + TABLE_NEXT_BESIDE) ? true : leave();
}
