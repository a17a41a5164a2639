// AssemblyScript. Finds the starts of row elements, as far as tags alone show them. It checks nothing, because the content between two
// cuts is read with all checks. Compiled by `npm run wasm`; used by src/engine/shred/row-tag/tag-reader.ts.

const VECTOR: usize = 16;

// @ts-ignore: decorator
@inline
function find(p: usize, byte: u8): usize {
  const wanted = i8x16.splat(byte);
  while (true) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(p), wanted));
    if (found != 0) return p + ctz(found);
    p += VECTOR;
  }
}

/** The first `>`, or quote, from p on. */
// @ts-ignore: decorator
@inline
function findTagStop(p: usize): usize {
  while (true) {
    const v = v128.load(p);
    const found = i8x16.bitmask(
      v128.or(
        i8x16.eq(v, i8x16.splat(GREATER)),
        v128.or(i8x16.eq(v, i8x16.splat(QUOTE)), i8x16.eq(v, i8x16.splat(APOSTROPHE))),
      ),
    );
    if (found != 0) return p + ctz(found);
    p += VECTOR;
  }
}

/** Returns the `>` of the start tag whose name begins at p, or `end` or more if it is not in the window. */
function endOfStartTag(p: usize, end: usize): usize {
  while (true) {
    p = findTagStop(p);
    const c = load<u8>(p);
    if (c == GREATER || p >= end) return p;
    p = find(p + 1, c) + 1;
    if (p > end) return end;
  }
}

let nameEnd: usize = 0;

/** True if the local part of the name at p is that of row elements. Sets nameEnd. */
function hasLocalName(p: usize): bool {
  let from = p;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == COLON) from = p + 1;
    else if (c == GREATER || c == SLASH || c <= SPACE) break;
    p++;
  }
  nameEnd = p;
  const length = load<u32>(NAME_BYTES);
  return p - from == length && memory.compare(from, NAME_AT, length) == 0;
}

/** True if the tag is known to be a row's: the name at p is a known name, and the tag up to `stop` declares no namespace. */
function isKnown(p: usize, stop: usize): bool {
  const length: usize = nameEnd - p;
  const end: usize = KNOWN_AT + load<u32>(KNOWN_BYTES);
  let known: usize = KNOWN_AT;
  while (true) {
    if (known >= end) return false;
    const knownLength: usize = load<u16>(known);
    if (knownLength == length && memory.compare(p, known + 2, length) == 0) break;
    known += knownLength + 2;
  }
  for (p = nameEnd; p < stop; p++) {
    if (load<u8>(p) == SMALL_X && load<u32>(p) == XMLN && load<u8>(p, 4) == SMALL_S) return false;
  }
  return true;
}

/** True if `[from, to)` has anything other than white space. */
function hasText(from: usize, to: usize): bool {
  for (; from < to; from++) if (load<u8>(from) > SPACE) return true;
  return false;
}

/** Returns the end of the comment, CDATA section or processing instruction that p is in, or 0 if it is not in the window. */
function behind(inside: i32, p: usize, end: usize): usize {
  const last: i32 = inside == IN_INSTRUCTION ? 1 : 2;
  const before: u8 = inside == IN_COMMENT ? DASH : inside == IN_CDATA ? CLOSE_BRACKET : QUESTION;
  p += last;
  while (true) {
    p = find(p, GREATER);
    if (p >= end) return 0;
    if (load<u8>(p - 1) == before && (last == 1 || load<u8>(p - 2) == before)) return p + 1;
    p++;
  }
}

/**
 * Returns the `<` of the next tag within a row element, from p on, that may have the row's name, or of a comment, CDATA or an
 * instruction. Returns `end` or more if there is none. Elements of other names end before the row does.
 */
// @ts-ignore: decorator
@inline
function findOfRow(p: usize, end: usize): usize {
  const first = i8x16.splat(load<u8>(ROW_NAME_AT));
  for (; p < end; p += VECTOR) {
    const next = v128.load(p, 1);
    const ofName = v128.or(
      i8x16.eq(next, first),
      v128.and(i8x16.eq(next, i8x16.splat(SLASH)), i8x16.eq(v128.load(p, 2), first)),
    );
    const other = v128.or(i8x16.eq(next, i8x16.splat(EXCLAMATION)), i8x16.eq(next, i8x16.splat(QUESTION)));
    const found = i8x16.bitmask(v128.and(i8x16.eq(v128.load(p), i8x16.splat(LESS)), v128.or(ofName, other)));
    if (found != 0) return p + ctz(found);
  }
  return end;
}

/** True if the name at p is the row's. */
// @ts-ignore: decorator
@inline
function isOfRow(p: usize): bool {
  const length = load<u32>(ROW_NAME_BYTES);
  const c: u32 = load<u8>(p + length);
  return (c == GREATER || c == SLASH || c <= SPACE) && memory.compare(p, ROW_NAME_AT, length) == 0;
}

// @ts-ignore: decorator
@inline
function leave(exit: i32, p: usize, depth: i32, number: i32, inside: i32): i32 {
  store<u32>(POS, <u32>p);
  store<i32>(DEPTH, depth);
  store<i32>(NUMBER, number);
  store<i32>(INSIDE, inside);
  return exit;
}

export function findRows(): i32 {
  const end: usize = load<u32>(END);
  const wanted: usize = load<u32>(WANTED);
  let p: usize = load<u32>(POS);
  let depth = load<i32>(DEPTH);
  let number = load<i32>(NUMBER);
  let inside = load<i32>(INSIDE);
  const atLevel = load<i32>(AT_LEVEL) != 0;
  while (true) {
    if (inside != IN_CONTENT) {
      const next = behind(inside, p, end);
      // do not scan the same bytes again, except for the beginning of an end marker
      if (next == 0) return leave(EXIT_MORE, end - p < 2 ? p : end - 2, depth, number, inside);
      p = next;
      inside = IN_CONTENT;
    }
    const from = p;
    if (depth > 0) {
      p = findOfRow(p, end);
      // a tag may begin with the last two bytes
      if (p >= end) return leave(EXIT_MORE, max(from, end - 2), depth, number, inside);
    } else {
      p = find(p, LESS);
      if (atLevel && hasText(from, min(p, end))) {
        return leave(EXIT_TEXT, min(p, end), depth, number, inside);
      }
    }
    if (p + 1 >= end) return leave(EXIT_MORE, min(p, end), depth, number, inside);
    const c: u8 = load<u8>(p, 1);
    if (c == QUESTION) {
      p += 2;
      inside = IN_INSTRUCTION;
    } else if (c == EXCLAMATION) {
      // <![CDATA[ is the longest
      if (p + 9 > end) return leave(EXIT_MORE, p, depth, number, inside);
      if (load<u16>(p, 2) == DASHES) {
        p += 4;
        inside = IN_COMMENT;
      } else if (load<u8>(p, 2) == OPEN_BRACKET) {
        p += 9;
        inside = IN_CDATA;
        if (atLevel && depth == 0) return leave(EXIT_TEXT, p, depth, number, inside);
      } else {
        return leave(EXIT_DECLARATION, p, depth, number, inside);
      }
    } else if (depth > 0) {
      const name = c == SLASH ? p + 2 : p + 1;
      if (name + load<u32>(ROW_NAME_BYTES) >= end) return leave(EXIT_MORE, p, depth, number, inside);
      if (!isOfRow(name)) {
        p = name;
        continue;
      }
      const stop = c == SLASH ? find(name, GREATER) : endOfStartTag(name, end);
      if (stop >= end) return leave(EXIT_MORE, p, depth, number, inside);
      p = stop + 1;
      if (c == SLASH) depth--;
      else if (load<u8>(stop - 1) != SLASH) depth++;
    } else if (c == SLASH) {
      const stop = find(p + 2, GREATER);
      if (stop >= end) return leave(EXIT_MORE, p, depth, number, inside);
      store<u32>(TAG, <u32>p);
      p = stop + 1;
      return leave(EXIT_CLOSE, p, depth, number, inside);
    } else {
      const stop = endOfStartTag(p + 1, end);
      if (stop >= end) return leave(EXIT_MORE, p, depth, number, inside);
      const isEmpty = load<u8>(stop - 1) == SLASH;
      const tag = p;
      p = stop + 1;
      let isRow = hasLocalName(tag + 1);
      if ((atLevel || (isRow && load<i32>(NAMESPACED) != 0)) && !isKnown(tag + 1, stop)) {
        const verdict = load<i32>(VERDICT);
        store<i32>(VERDICT, ASK);
        if (verdict == ASK) {
          store<u32>(TAG, <u32>tag);
          store<u32>(TAG_END, <u32>p);
          return leave(EXIT_ASK, tag, depth, number, inside);
        }
        isRow = verdict == IS_ROW;
      } else if (atLevel) isRow = true;
      if (isRow) {
        if (!isEmpty) {
          const length = <i32>(nameEnd - tag - 1);
          if (length > MAX_NAME_BYTES) return leave(EXIT_DECLARATION, tag, depth, number, inside);
          store<i32>(ROW_NAME_BYTES, length);
          memory.copy(ROW_NAME_AT, tag + 1, length);
          depth = 1;
        }
        number++;
        store<u32>(TAG, <u32>tag);
        if (tag >= wanted) return leave(EXIT_ROW, p, depth, number, inside);
      } else if (!isEmpty) {
        store<u32>(TAG, <u32>tag);
        store<u32>(TAG_END, <u32>p);
        return leave(EXIT_OPEN, p, depth, number, inside);
      } else if (load<i32>(NAME_BYTES) == NAMELESS) {
        store<u32>(TAG, <u32>tag);
        store<u32>(TAG_END, <u32>p);
        return leave(EXIT_EMPTY, p, depth, number, inside);
      }
    }
  }
}

/** Counts the LFs of `[from, to)`. Returns -1 if there is a CR. */
export function countLineFeeds(from: usize, to: usize): i32 {
  let count: i32 = 0;
  let returns = i8x16.splat(0);
  while (from + VECTOR <= to) {
    // a lane is a byte: it is added up before it can overflow
    const stop = min<usize>(to, from + VECTOR * 255);
    let lanes = i8x16.splat(0);
    for (; from + VECTOR <= stop; from += VECTOR) {
      const v = v128.load(from);
      lanes = i8x16.sub(lanes, i8x16.eq(v, i8x16.splat(LF)));
      returns = v128.or(returns, i8x16.eq(v, i8x16.splat(CR)));
    }
    const words = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(lanes));
    count +=
      i32x4.extract_lane(words, 0) +
      i32x4.extract_lane(words, 1) +
      i32x4.extract_lane(words, 2) +
      i32x4.extract_lane(words, 3);
  }
  let found = v128.any_true(returns);
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (c == LF) count++;
    else if (c == CR) found = true;
  }
  return found ? -1 : count;
}
