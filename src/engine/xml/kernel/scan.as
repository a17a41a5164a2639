// AssemblyScript. The common part of content: text, end tags, start tags whose names are known. Rare cases are left to the scanners of
// src/engine/xml/scan, which work on the same memory: this function then returns with the state before the construct. Compiled by `npm run
// wasm` into src/engine/xml/kernel/scan-wasm.ts; layout of the control block and exits: src/engine/xml/kernel/instance.ts.

/**
 * Reads the attributes from `p` on, after an element's name, as records from `e` + 16 on. Returns the `>` or `/` that ends them, or 0 if
 * TypeScript must scan the tag. Sets COUNT to the end of the records, as an address.
 */
function scanAttributes(p: usize, e: usize, element: i32, context: i32, end: usize): usize {
  const base: usize = load<usize>(WINDOW);
  const arena: usize = load<usize>(ARENA);
  const starts: usize = load<usize>(STARTS);
  const ends: usize = load<usize>(ENDS);
  const kinds: usize = load<usize>(KINDS);
  const seenIn: usize = load<usize>(SEEN_IN);
  const attributeNames: usize = load<usize>(ATTRIBUTE_NAMES);
  const nextAttributes: usize = load<usize>(NEXT_ATTRIBUTES);
  const classes: usize = load<usize>(NAME_CLASS);
  const tags: usize = load<usize>(TAGS);
  const maxText: usize = load<usize>(MAX_TEXT);
  const most = min<usize>(
    load<usize>(EVENTS) + ((load<usize>(EVENTS_LENGTH)) << 2) - 32,
    e + (load<usize>(MAX_ATTRIBUTES)) * 16,
  );
  const serial = load<i32>(SERIAL) + 1;
  store<i32>(SERIAL, serial);
  let previous = element;
  e += 16;
  while (true) {
    const gap = p;
    let c: u32 = load<u8>(p);
    while (isSpace(c)) c = load<u8>(++p);
    if (c == GREATER || (c == SLASH && load<u8>(p, 1) == GREATER)) {
      store<u32>(COUNT, <u32>e);
      return p;
    }
    if (p == gap || e > most) return 0;

    const nameAt = p;
    let name = at(nextAttributes, previous);
    const seen = tags + (<usize>name << TAG_SHIFT);
    const mask = load<i32>(seen, PAIR_MASK);
    let quote: u32 = QUOTE;
    if (mask != 0 && (equal(seen + PAIR, nameAt) & mask) == mask) {
      p += load<u32>(seen, PAIR_LENGTH) + 1;
    } else {
      const start = at(starts, name);
      const length = <usize>(at(ends, name) - start);
      p += length;
      if (length == 0 || !same(arena + start, nameAt, length) || load<u8>(classes + load<u8>(p)) != CLASS_NONE) {
        name = findName(nameAt);
        if (name < 0) return 0;
        put(nextAttributes, previous, name);
        p = load<usize>(NAME_END);
      }
      if (load<u16>(p) == EQUALS_QUOTE) remember(tags + (<usize>name << TAG_SHIFT) + PAIR, nameAt, p - nameAt, 2);
      while (isSpace(load<u8>(p))) p++;
      if (load<u8>(p) != EQUALS) return 0;
      quote = load<u8>(++p);
      while (isSpace(quote)) quote = load<u8>(++p);
      if (quote != QUOTE && quote != APOSTROPHE) return 0;
    }
    previous = name;
    const valueAt = ++p;
    while (true) {
      p = skipPlainValue(p, quote);
      c = load<u8>(p);
      if (c < 0x80) break;
      let next = skipMixedValue(p, quote);
      if (next == p) next = skipMultiByte(p, end);
      if (next == p) return 0;
      p = next;
    }
    let flags = KIND_ATTRIBUTE;
    let from = valueAt - base;
    let to = p - base;
    if (c != quote) {
      from = load<u32>(DECODED_END);
      p = decodeValue(valueAt, p, quote, end);
      if (p == 0) return 0;
      to = load<u32>(DECODED_END);
      flags = KIND_ATTRIBUTE | FLAG_DECODED;
      store<i32>(load<usize>(SOURCES) + ((e - load<usize>(EVENTS)) >> 2), <i32>(valueAt - base));
    }
    if (to - from > maxText || at(seenIn, name) == serial) return 0;
    put(seenIn, name, serial);
    let nameId = at(attributeNames, name);
    const kind = at(kinds, name);
    if (kind != NAME_LOCAL) {
      if (kind != NAME_PREFIXED || at(load<usize>(ELEMENT_CONTEXTS), name) != context) return 0;
      nameId = at(load<usize>(ELEMENT_NAMES), name);
      const expandedSeenIn: usize = load<usize>(EXPANDED_SEEN_IN);
      if (nameId >= load<i32>(EXPANDED_LENGTH) || at(expandedSeenIn, nameId) == serial) return 0;
      put(expandedSeenIn, nameId, serial);
    } else if (nameId < 0) {
      return 0;
    }
    store<i32>(e, flags);
    store<i32>(e, nameId, 4);
    store<i32>(e, <i32>from, 8);
    store<i32>(e, <i32>to, 12);
    e += 16;
    p++;
  }
}

function leave(exit: i32, p: usize, e: usize, depth: i32, context: i32, predictor: i32): i32 {
  store<i32>(POS, <i32>(p - load<usize>(WINDOW)));
  store<i32>(COUNT, <i32>((e - load<usize>(EVENTS)) >> 2));
  store<i32>(DEPTH, depth);
  store<i32>(CONTEXT, context);
  store<i32>(PREDICTOR, predictor);
  return exit;
}

export function scanContent(): i32 {
  const base: usize = load<usize>(WINDOW);
  const end: usize = base + load<usize>(END);
  const events: usize = load<usize>(EVENTS);
  const flushAt: usize = events + ((load<usize>(FLUSH_AT)) << 2);
  const decodedFull = load<i32>(DECODED_FULL);
  const maxText: usize = load<usize>(MAX_TEXT);
  const arena: usize = load<usize>(ARENA);
  const starts: usize = load<usize>(STARTS);
  const ends: usize = load<usize>(ENDS);
  const classes: usize = load<usize>(NAME_CLASS);
  const stackRaw: usize = load<usize>(STACK_RAW);
  const stackName: usize = load<usize>(STACK_NAME);
  const stackContext: usize = load<usize>(STACK_CONTEXT);
  const stackCapacity = load<i32>(STACK_CAPACITY);
  const nextElements: usize = load<usize>(NEXT_ELEMENTS);
  const elementContexts: usize = load<usize>(ELEMENT_CONTEXTS);
  const elementNames: usize = load<usize>(ELEMENT_NAMES);
  const tags: usize = load<usize>(TAGS);
  const gaps: usize = load<usize>(GAPS);
  let p: usize = base + load<usize>(POS);
  let e: usize = events + ((load<usize>(COUNT)) << 2);
  let depth = load<i32>(DEPTH);
  let context = load<i32>(CONTEXT);
  let predictor = load<i32>(PREDICTOR);
  while (true) {
    if (e >= flushAt || load<i32>(DECODED_END) >= decodedFull)
      return leave(EXIT_FULL, p, e, depth, context, predictor);

    let c: u32 = load<u8>(p);
    if (c != LESS) {
      // the usual line end of a Windows file needs no decoding: the text begins at its LF
      if (c == CR && load<u8>(p, 1) == LF) p++;
      const start = p;
      let kind = KIND_TEXT | FLAG_WHITE_SPACE;
      c = load<u8>(p);
      if (c <= SPACE) {
        // if lines have equal indents, the gap is as long as it was here last time, and the following code need not wait for its end
        const gap = at(gaps, predictor);
        const others = plainSpaces(p) ^ 0xffff;
        if (others != 0) {
          if ((others & -others) == 1 << gap) {
            p += gap;
          } else {
            p += ctz(others);
            put(gaps, predictor, <i32>(p - start));
          }
        } else {
          const others = plainSpaces(p + 16) ^ 0xffff;
          if (others != 0 && (others & -others) << 16 == 1 << gap) {
            p += gap;
          } else {
            p = skipPlainSpace(p + 16);
            if (p - start < 32) put(gaps, predictor, <i32>(p - start));
          }
        }
        c = load<u8>(p);
      }
      if (c != LESS) {
        kind = KIND_TEXT;
        while (true) {
          p = skipPlainText(p);
          c = load<u8>(p);
          if (c == LESS) break;
          if (c >= 0x80) {
            let next = skipMixedText(p);
            if (next == p) next = skipMultiByte(p, end);
            if (next == p) break;
            p = next;
          } else if (c == CLOSE_BRACKET && p + 1 < end && load<u8>(p, 1) != CLOSE_BRACKET) {
            p++;
          } else {
            break;
          }
        }
      }
      if (p - start > maxText) {
        store<i32>(TEXT_START, <i32>(start - base));
        store<i32>(TEXT_AT, <i32>(p - base));
        return leave(EXIT_TEXT, p, e, depth, context, predictor);
      }
      if (c != LESS) {
        const stopped = decodeText(start, p, end, e);
        if (stopped == p) {
          store<i32>(TEXT_START, <i32>(start - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        if (load<i32>(e, 12) - load<i32>(e, 8) > <i32>maxText) {
          store<i32>(DECODED_END, load<i32>(e, 8));
          store<i32>(TEXT_START, <i32>(start - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        p = stopped;
        e += 16;
        if (load<u8>(p) != LESS) {
          store<i32>(TEXT_START, <i32>(p - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        // the batch may have become too full for another record
        continue;
      }
      store<i32>(e, kind);
      store<i32>(e, 0, 4);
      store<i32>(e, <i32>(start - base), 8);
      store<i32>(e, <i32>(p - base), 12);
      e += 16;
    }

    c = load<u8>(p, 1);
    if (c == SLASH) {
      const name = at(stackRaw, depth);
      const seen = tags + (<usize>name << TAG_SHIFT);
      const mask = load<i32>(seen, TAG_MASK);
      let behind = p + load<u32>(seen, TAG_LENGTH) + 3;
      if (mask == 0 || (equal(seen, p + 2) & mask) != mask) {
        const start = at(starts, name);
        const length = <usize>(at(ends, name) - start);
        behind = p + length + 3;
        if (depth == 0 || load<u8>(behind - 1) != GREATER || !same(arena + start, p + 2, length))
          return leave(EXIT_END_TAG, p, e, depth, context, predictor);
        remember(seen, p + 2, length, 1);
      }
      store<i32>(e, KIND_END);
      store<i32>(e, at(stackName, depth), 4);
      store<i32>(e, <i32>(p - base), 8);
      store<i32>(e, <i32>(behind - base), 12);
      e += 16;
      p = behind;
      context = at(stackContext, --depth);
      predictor = name * 2 + 1;
      if (depth == 0) return leave(EXIT_ROOT_CLOSED, p, e, depth, context, predictor);
      continue;
    }
    if (c == EXCLAMATION || c == QUESTION) return leave(EXIT_MARKUP, p, e, depth, context, predictor);

    if (depth + 2 >= stackCapacity) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
    let name = at(nextElements, predictor);
    const seen = tags + (<usize>name << TAG_SHIFT);
    const mask = load<i32>(seen, TAG_MASK);
    let i = p + 1 + load<u32>(seen, TAG_LENGTH);
    if (mask == 0 || (equal(seen, p + 1) & mask) != mask) {
      const start = at(starts, name);
      const length = <usize>(at(ends, name) - start);
      i = p + 1 + length;
      if (length == 0 || !same(arena + start, p + 1, length) || load<u8>(classes + load<u8>(i)) != CLASS_NONE) {
        name = findName(p + 1);
        if (name < 0) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
        put(nextElements, predictor, name);
        i = load<usize>(NAME_END);
      }
    }
    if (at(elementContexts, name) != context) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
    const nameId = at(elementNames, name);
    const record = e;
    if (load<u8>(i) == GREATER) {
      e += 16;
    } else {
      const decodedEnd = load<i32>(DECODED_END);
      i = scanAttributes(i, e, name, context, end);
      if (i == 0) {
        store<i32>(DECODED_END, decodedEnd);
        return leave(EXIT_START_TAG, p, e, depth, context, predictor);
      }
      e = load<usize>(COUNT);
    }
    const isEmpty = load<u8>(i) == SLASH;
    i += isEmpty ? 2 : 1;
    store<i32>(record, KIND_START);
    store<i32>(record, nameId, 4);
    store<i32>(record, <i32>(p - base), 8);
    store<i32>(record, <i32>(i - base), 12);
    if (isEmpty) {
      store<i32>(e, KIND_END);
      store<i32>(e, nameId, 4);
      store<i32>(e, <i32>(p - base), 8);
      store<i32>(e, <i32>(i - base), 12);
      e += 16;
      p = i;
      predictor = name * 2 + 1;
      if (depth == 0) return leave(EXIT_ROOT_CLOSED, p, e, depth, context, predictor);
      continue;
    }
    depth++;
    put(stackRaw, depth, name);
    put(stackName, depth, nameId);
    put(stackContext, depth, context);
    predictor = name * 2;
    p = i;
  }
}

/** Counts the line feeds in `[from, to)`. Returns -1 if there is a CR. */
export function countLineFeeds(from: usize, to: usize): i32 {
  let count: i32 = 0;
  let returns = i8x16.splat(0);
  while (from + 32 <= to) {
    // a lane is a byte: it is added up before it can overflow
    const stop = min<usize>(to, from + 32 * 255);
    let odd = i8x16.splat(0);
    let even = i8x16.splat(0);
    for (; from + 32 <= stop; from += 32) {
      const a = v128.load(from);
      const b = v128.load(from, 16);
      odd = i8x16.sub(odd, i8x16.eq(a, v128.load(ALL_LF)));
      even = i8x16.sub(even, i8x16.eq(b, v128.load(ALL_LF)));
      returns = v128.or(returns, v128.or(i8x16.eq(a, v128.load(ALL_CR)), i8x16.eq(b, v128.load(ALL_CR))));
    }
    count += sumOfBytes(odd) + sumOfBytes(even);
  }
  let found = v128.any_true(returns);
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (c == LF) count++;
    else if (c == CR) found = true;
  }
  return found ? -1 : count;
}

// @ts-ignore: decorator
@inline
function sumOfBytes(v: v128): i32 {
  const words = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(v));
  return (
    i32x4.extract_lane(words, 0) +
    i32x4.extract_lane(words, 1) +
    i32x4.extract_lane(words, 2) +
    i32x4.extract_lane(words, 3)
  );
}
