/**
 * Splits records of CSV, TSV or JSON Lines into the cells of rows: the start and end of each value in the piece. Values with escapes or
 * doubled quotes are resolved in place. Memory: src/engine/records/kernel/layout.ts.
 */

/** Resolves escapes of PostgreSQL's COPY text. Returns the new end of the value. */
function unescape(from: usize, to: usize): usize {
  let out = from;
  for (let at = from; at < to; at++) {
    let byte = load<u8>(at);
    if (byte == BACKSLASH && at + 1 < to) {
      byte = load<u8>(++at);
      if (byte == SMALL_T) byte = TAB;
      else if (byte == SMALL_N) byte = LF;
      else if (byte == SMALL_R) byte = CR;
    }
    store<u8>(out++, byte);
  }
  return out;
}

/** The same of quotes that are doubled. */
function undouble(from: usize, to: usize): usize {
  let out = from;
  for (let at = from; at < to; at++) {
    const byte = load<u8>(at);
    if (byte == QUOTE) at++;
    store<u8>(out++, byte);
  }
  return out;
}

/** A value from `from` to `to`, which is none of XSD's. */
// @ts-ignore: decorator
@inline
function formed(field: usize, form: i32, cell: usize, from: usize, to: usize, base: usize): void {
  if (form == FORM_BOOLEAN) {
    if (to - from != 1) return;
    const byte = load<u8>(from);
    const yes = load<i32>(YES);
    if (byte == SMALL_T) {
      store<i32>(cell, yes);
      store<i32>(cell, yes + 4, 4);
    } else if (byte == SMALL_F) {
      store<i32>(cell, yes + 4);
      store<i32>(cell, yes + 9, 4);
    }
  } else if (form == FORM_LIST) {
    if (load<u8>(from) == OPEN_BRACE) store<i32>(field + FIELD_IS_OTHER, 1);
  } else if (load<u8>(from) == LARGE_I || load<u8>(from, 1) == LARGE_I) {
    store<i32>(field + FIELD_IS_OTHER, 1);
  }
}

// @ts-ignore: decorator
@inline
function leave(exit: i32, record: usize, row: usize, records: i32): i32 {
  store<u32>(NEXT, <u32>record);
  store<u32>(ROW, <u32>row);
  store<i32>(RECORDS, records);
  return exit;
}

export function splitRecords(): i32 {
  const base = <usize>load<u32>(BYTES);
  const end = <usize>load<u32>(END);
  const limit = <usize>load<u32>(ROW_LIMIT);
  const stride = <usize>load<u32>(STRIDE);
  const isSparse = load<i32>(IS_SPARSE) != 0;
  const isQuoted = load<i32>(IS_QUOTED) != 0;
  const delimiterByte = load<u8>(DELIMITER);
  const delimiter = i8x16.splat(delimiterByte);
  const lineBreak = i8x16.splat(LF);
  const escape = isQuoted ? lineBreak : i8x16.splat(BACKSLASH);
  const quote = i8x16.splat(QUOTE);
  const lastField = FIELDS_AT + <usize>(load<i32>(FIELD_COUNT) - 1) * (FIELD_INTS << 2);
  let record = <usize>load<u32>(NEXT);
  let row = <usize>load<u32>(ROW);
  let records = load<i32>(RECORDS);
  while (record < end) {
    if (row + stride > limit) return leave(EXIT_FULL, record, row, records);
    if (isSparse) for (let cell = row; cell < row + stride; cell += 8) store<i64>(cell, -1);
    let at = record;
    for (let field: usize = FIELDS_AT; ; field += FIELD_INTS << 2) {
      const column = load<i32>(field + FIELD_CELL);
      const cell = column < 0 ? UNREAD_AT : row + <usize>column;
      let from = at;
      let to: usize;
      if (isQuoted && load<u8>(at) == QUOTE) {
        from++;
        let isDoubled = false;
        for (at = from; ; at += 2) {
          at = find(at, end, quote, quote, quote);
          if (at + 1 >= end) return leave(EXIT_DONE, record, row, records);
          if (load<u8>(at, 1) != QUOTE) break;
          isDoubled = true;
        }
        to = at++;
        if (isDoubled) {
          to = undouble(from, to);
          store<i32>(IS_CHANGED, 1);
        }
        store<i32>(cell, <i32>(from - base));
      } else {
        let isEscaped = false;
        for (;;) {
          at = find(at, end, delimiter, lineBreak, escape);
          if (at >= end) return leave(EXIT_DONE, record, row, records);
          if (load<u8>(at) != BACKSLASH) break;
          isEscaped = true;
          at++;
        }
        to = at;
        let isNull = isQuoted && to == from;
        if (isEscaped) {
          isNull = to - from == 2 && load<u8>(from, 1) == LARGE_N;
          if (!isNull && column >= 0) {
            to = unescape(from, to);
            store<i32>(IS_CHANGED, 1);
          }
        }
        store<i32>(cell, isNull ? -1 : <i32>(from - base));
      }
      store<i32>(cell, <i32>(to - base), 4);
      const form = load<i32>(field + FIELD_FORM);
      if (form != FORM_PLAIN && load<i32>(cell) >= 0) formed(field, form, cell, from, to, base);
      const byte = load<u8>(at++);
      if (byte == LF) {
        if (field != lastField) return leave(EXIT_FAULT, record, row, records);
        break;
      }
      if (byte != delimiterByte || field == lastField) return leave(EXIT_FAULT, record, row, records);
    }
    record = at;
    records++;
    if (load<i32>(HAS_HEADER) != 0) store<i32>(HAS_HEADER, 0);
    else row += stride;
  }
  return leave(EXIT_DONE, record, row, records);
}

/**
 * Splits records of JSON Lines that have all members in the order of the fields and no space between them, as the tools write them. Stops
 * at any other record: EXIT_FAULT.
 */
export function splitJsonLines(): i32 {
  const base = <usize>load<u32>(BYTES);
  const end = <usize>load<u32>(END);
  const limit = <usize>load<u32>(ROW_LIMIT);
  const stride = <usize>load<u32>(STRIDE);
  const isSparse = load<i32>(IS_SPARSE) != 0;
  const lineBreak = i8x16.splat(LF);
  const lastField = FIELDS_AT + <usize>(load<i32>(FIELD_COUNT) - 1) * (FIELD_INTS << 2);
  let record = <usize>load<u32>(NEXT);
  let row = <usize>load<u32>(ROW);
  let records = load<i32>(RECORDS);
  while (record < end) {
    const recordEnd = find(record, end, lineBreak, lineBreak, lineBreak);
    if (recordEnd >= end) break;
    if (row + stride > limit) return leave(EXIT_FULL, record, row, records);
    if (isSparse) for (let cell = row; cell < row + stride; cell += 8) store<i64>(cell, -1);
    let at = record;
    if (load<u8>(at++) != OPEN_BRACE) return leave(EXIT_FAULT, record, row, records);
    for (let field: usize = FIELDS_AT; ; field += FIELD_INTS << 2) {
      const nameBytes = <usize>load<i32>(field + FIELD_NAME_BYTES);
      if (at + nameBytes >= recordEnd || !isSame(at, <usize>load<u32>(field + FIELD_NAME), nameBytes))
        return leave(EXIT_FAULT, record, row, records);
      const column = load<i32>(field + FIELD_CELL);
      const cell = column < 0 ? UNREAD_AT : row + <usize>column;
      at = jsonValue(at + nameBytes, recordEnd, field, cell, base);
      if (at == 0) return leave(EXIT_FAULT, record, row, records);
      const byte = load<u8>(at++);
      if (field == lastField) {
        if (byte != CLOSE_BRACE || at != recordEnd) return leave(EXIT_FAULT, record, row, records);
        break;
      }
      if (byte != COMMA) return leave(EXIT_FAULT, record, row, records);
    }
    record = recordEnd + 1;
    records++;
    row += stride;
  }
  return leave(EXIT_DONE, record, row, records);
}

/** Reads the key of the record that begins at `start`. `to` is the record's end, or after its key. */
function surveyKey(start: usize, to: usize): void {
  const records = load<i32>(RECORDS) + 1;
  store<i32>(RECORDS, records);
  // the first record is the header, if there is one
  if ((records == 1 && load<i32>(HAS_HEADER) != 0) || load<i32>(SURVEY_ASCENDS) == 0) return;
  const prefix = <usize>load<i32>(SURVEY_PREFIX);
  if (start + prefix > to || !isSame(start, FIELDS_AT, prefix)) {
    store<i32>(SURVEY_ASCENDS, 0);
    return;
  }
  const from = start + prefix;
  const most = min<usize>(to, from + MOST_KEY_BYTES);
  let key: u64 = 0;
  let at = from;
  for (; at < most; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) break;
    key = key * 10 + digit;
  }
  const digits = at - from;
  const byte = load<u8>(at);
  const isWhole = at == to || byte == TAB || byte == COMMA || byte == CLOSE_BRACE;
  const isNumber = digits > 0 && digits < MOST_KEY_BYTES && isWhole && load<u8>(from) != 0x30;
  if (!isNumber || key <= load<u64>(SURVEY_LAST_AT)) {
    store<i32>(SURVEY_ASCENDS, 0);
    return;
  }
  if (load<u64>(SURVEY_FIRST_AT) == 0) store<u64>(SURVEY_FIRST_AT, key);
  store<u64>(SURVEY_LAST_AT, key);
}

/** Surveys the records of a piece. Sets NEXT to the place to continue at: the beginning of a record whose key is incomplete, or the end. */
export function surveyRecords(isLast: i32): void {
  const end = <usize>load<u32>(END);
  const lineBreak = i8x16.splat(LF);
  const quote = load<i32>(IS_QUOTED) != 0 ? i8x16.splat(QUOTE) : lineBreak;
  let record = <usize>load<u32>(NEXT);
  let carried = load<i32>(SURVEY_CARRIED);
  let hasKey = load<i32>(SURVEY_HAS_KEY) != 0;
  let isInQuotes = load<i32>(SURVEY_IN_QUOTES) != 0;
  let longest = load<i32>(SURVEY_LONGEST);
  const keyBytes = <usize>load<i32>(SURVEY_PREFIX) + MOST_KEY_BYTES;
  for (let at = record; ; at++) {
    at = find(at, end, lineBreak, quote, quote);
    if (at >= end) break;
    if (load<u8>(at) == QUOTE) {
      isInQuotes = !isInQuotes;
      continue;
    }
    if (isInQuotes) continue;
    if (!hasKey) surveyKey(record, at);
    longest = max(longest, carried + <i32>(at + 1 - record));
    carried = 0;
    hasKey = false;
    record = at + 1;
  }
  const left = end - record;
  if (!hasKey && (left >= keyBytes || (isLast != 0 && left > 0))) {
    surveyKey(record, end);
    hasKey = true;
  }
  if (hasKey) {
    carried += <i32>left;
    record = end;
  } else isInQuotes = false;
  if (isLast != 0) longest = max(longest, carried);
  store<u32>(NEXT, <u32>record);
  store<i32>(SURVEY_CARRIED, carried);
  store<i32>(SURVEY_HAS_KEY, hasKey ? 1 : 0);
  store<i32>(SURVEY_IN_QUOTES, isInQuotes ? 1 : 0);
  store<i32>(SURVEY_LONGEST, longest);
}
