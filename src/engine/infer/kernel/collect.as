// AssemblyScript. The common part of collecting statistics: known elements and attributes, and their values. At anything else this
// function returns with the state before the record; src/engine/infer/collector.ts adds it or answers the question, and the record
// is handled again. Compiled by `npm run wasm` into src/engine/infer/kernel/collect-wasm.ts; layout of the control block, of nodes, values
// and frames: src/engine/infer/kernel/layout.ts. Definition of the statistics: src/engine/infer/collector.ts,
// src/engine/infer/value-collector.ts.

/** Adds to the text of the innermost element. The text's start is kept; the rest is only counted. */
function addText(from: usize, to: usize): void {
  const length = load<usize>(TEXT_LENGTH);
  const capacity = load<usize>(TEXT_CAPACITY);
  if (length == 0) {
    store<i32>(TEXT_CHARACTERS, 0);
    store<u32>(TEXT_HASH, 0x811c9dc5);
  }
  if (from == to) return;
  if (length < capacity) memory.copy(load<usize>(TEXT) + length, from, min<usize>(to - from, capacity - length));
  store<usize>(TEXT_LENGTH, length + (to - from));
  store<i32>(TEXT_CHARACTERS, load<i32>(TEXT_CHARACTERS) + characters(from, to));
  store<u32>(TEXT_HASH, hashOf(load<u32>(TEXT_HASH), from, to));
}

/** Returns the ordinal of a node's child of this name, or -1 if there is none, or if there are so many that TypeScript is faster. */
function findChild(node: usize, name: i32, last: i32): i32 {
  const names: usize = load<usize>(node, NODE_CHILD_NAMES);
  const count = load<i32>(node, NODE_CHILD_COUNT);
  // children mostly repeat, or come in the order of their first occurrence
  if (last >= 0 && load<i32>(names + (<usize>last << 2)) == name) return last;
  const next = last + 1;
  if (next < count && load<i32>(names + (<usize>next << 2)) == name) return next;
  if (count > 256) return -1;
  for (let i = 0; i < count; i++) if (load<i32>(names + (<usize>i << 2)) == name) return i;
  return -1;
}

/** Makes room for the counts of all possible children of the innermost open element. Returns false if there is none. */
function makeRoom(frame: usize, node: usize): bool {
  const capacity = load<i32>(node, NODE_CHILD_CAPACITY);
  const counted = load<i32>(frame, FRAME_COUNTED);
  const counts: usize = load<usize>(frame, FRAME_COUNTS);
  const words = load<i32>(node, NODE_WORDS);
  const seenWords = load<i32>(frame, FRAME_WORDS);
  const seen: usize = load<usize>(frame, FRAME_SEEN);
  const countsTop = counts + (<usize>capacity << 2);
  const seenTop = seen + (<usize>words << 2);
  if (countsTop > load<usize>(COUNTS_END) || seenTop > load<usize>(SEEN_END)) return false;
  for (let at = counts + (<usize>counted << 2); at < countsTop; at += 16) v128.store(at, i32x4.splat(0));
  for (let at = seen + (<usize>seenWords << 2); at < seenTop; at += 4) store<i32>(at, 0);
  store<i32>(frame, capacity, FRAME_COUNTED);
  store<i32>(frame, words, FRAME_WORDS);
  store<usize>(COUNTS_TOP, countsTop);
  store<usize>(SEEN_TOP, seenTop);
  return true;
}

function endElement(frame: usize, node: usize): void {
  increment(node + NODE_ENDED);
  const counted = load<i32>(frame, FRAME_COUNTED);
  const capacity = load<i32>(node, NODE_CHILD_CAPACITY);
  let least: usize = load<usize>(node, NODE_LEAST);
  let counts: usize = load<usize>(frame, FRAME_COUNTS);
  const behind = least + (<usize>counted << 2);
  for (; least < behind; least += 16) {
    v128.store(least, i32x4.min_s(v128.load(least), v128.load(counts)));
    counts += 16;
  }
  // children that only occurred in other elements
  const end = least + (<usize>(capacity - counted) << 2);
  for (; least < end; least += 16) v128.store(least, i32x4.splat(0));
  const hasText = (load<u16>(frame, FRAME_HAS_TEXT) & HAS_TEXT) != 0;
  if (hasText) increment(node + NODE_WITH_TEXT);
  if (load<u16>(frame, FRAME_HAS_CHILDREN) != 0) {
    increment(node + NODE_WITH_CHILDREN);
    if (hasText) increment(node + NODE_MIXED);
  }
  store<usize>(COUNTS_TOP, load<usize>(frame, FRAME_COUNTS));
  store<usize>(SEEN_TOP, load<usize>(frame, FRAME_SEEN));
}

function leave(exit: i32, e: usize, depth: i32): i32 {
  store<i32>(NEXT, <i32>((e - load<usize>(EVENTS)) >> 4));
  store<i32>(DEPTH, depth);
  return exit;
}

/** Record `from` and those that follow, of `count`; sets NEXT to the one it stopped at. */
export function collect(from: i32, count: i32): i32 {
  const events: usize = load<usize>(EVENTS);
  const bytes: usize = load<usize>(BYTES);
  const decoded: usize = load<usize>(DECODED);
  const frames: usize = load<usize>(FRAMES);
  const last = events + ((<usize>count) << 4);
  const document = load<i32>(DOCUMENT);
  let e = events + ((<usize>from) << 4);
  let depth = load<i32>(DEPTH);
  let frame = frames + (<usize>depth << FRAME_SHIFT);
  let node: usize = load<usize>(frame, FRAME_NODE);
  // the text of the innermost element, while it is one range of this batch
  let textFrom: usize = 0;
  let textTo: usize = 0;
  for (; e < last; e += RECORD_BYTES) {
    const flags = load<i32>(e);
    const kind = flags & KIND_MASK;
    if (kind == KIND_TEXT) {
      if (depth == 0) continue;
      const met = load<u16>(frame, FRAME_HAS_TEXT);
      if ((met & IN_RUN) == 0 && load<u32>(e, 12) > load<u32>(e, 8)) {
        increment(node + NODE_TEXT_RUNS);
        store<u16>(frame, met | IN_RUN | ((flags & FLAG_WHITE_SPACE) == 0 ? HAS_TEXT : 0), FRAME_HAS_TEXT);
      } else if ((flags & FLAG_WHITE_SPACE) == 0) store<u16>(frame, met | HAS_TEXT, FRAME_HAS_TEXT);
      if (load<u16>(frame, FRAME_HAS_CHILDREN) != 0) continue;
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const pieceFrom = source + load<u32>(e, 8);
      const pieceTo = source + load<u32>(e, 12);
      if (textFrom == 0 && load<usize>(TEXT_LENGTH) == 0) {
        textFrom = pieceFrom;
        textTo = pieceTo;
        continue;
      }
      if (textFrom != 0) addText(textFrom, textTo);
      textFrom = textTo = 0;
      addText(pieceFrom, pieceTo);
      continue;
    }

    if (kind == KIND_START) {
      const name = load<i32>(e, 4);
      let ordinal = findChild(node, name, load<i32>(frame, FRAME_LAST));
      if (ordinal < 0) {
        if (load<usize>(ANSWERED) != e) {
          if (textFrom != 0) addText(textFrom, textTo);
          return leave(EXIT_ELEMENT, e, depth);
        }
        ordinal = load<i32>(ANSWER);
      }
      if (depth + 1 >= load<i32>(FRAME_CAPACITY) || (ordinal >= load<i32>(frame, FRAME_COUNTED) && !makeRoom(frame, node))) {
        if (textFrom != 0) addText(textFrom, textTo);
        return leave(EXIT_FULL, e, depth);
      }
      store<i32>(frame, ordinal, FRAME_LAST);
      store<u16>(frame, 1, FRAME_HAS_CHILDREN);
      store<u16>(frame, load<u16>(frame, FRAME_HAS_TEXT) & HAS_TEXT, FRAME_HAS_TEXT);
      const offset = <usize>ordinal << 2;
      const counter = load<usize>(frame, FRAME_COUNTS) + offset;
      const seen = load<i32>(counter) + 1;
      store<i32>(counter, seen);
      const most = load<usize>(node, NODE_MOST) + offset;
      if (seen > load<i32>(most)) store<i32>(most, seen);
      if (seen == 1) {
        const words = <usize>load<i32>(node, NODE_WORDS);
        const preceded = load<usize>(node, NODE_PRECEDED) + ((<usize>ordinal * words) << 2);
        const bits: usize = load<usize>(frame, FRAME_SEEN);
        for (let word: usize = 0; word < words << 2; word += 4)
          store<i32>(preceded + word, load<i32>(preceded + word) | load<i32>(bits + word));
        const own = bits + ((<usize>ordinal >> 5) << 2);
        store<i32>(own, load<i32>(own) | (1 << (ordinal & 31)));
      }
      node = load<usize>(load<usize>(node, NODE_CHILD_TARGETS) + offset);
      increment(node + NODE_COUNT);
      if (load<i32>(node, NODE_LAST_DOCUMENT) != document) {
        store<i32>(node, document, NODE_LAST_DOCUMENT);
        store<i32>(node, load<i32>(node, NODE_DOCUMENTS) + 1, NODE_DOCUMENTS);
      }
      depth++;
      frame += 1 << FRAME_SHIFT;
      store<usize>(frame, node, FRAME_NODE);
      store<usize>(frame, load<usize>(COUNTS_TOP), FRAME_COUNTS);
      store<i32>(frame, 0, FRAME_COUNTED);
      store<usize>(frame, load<usize>(SEEN_TOP), FRAME_SEEN);
      store<i32>(frame, 0, FRAME_WORDS);
      store<i32>(frame, -1, FRAME_LAST);
      store<i32>(frame, 0, FRAME_ATTRIBUTES);
      store<i32>(frame, 0, FRAME_HAS_TEXT);
      textFrom = textTo = 0;
      store<usize>(TEXT_LENGTH, 0);
      continue;
    }

    if (kind == KIND_END) {
      if (load<u16>(frame, FRAME_HAS_CHILDREN) == 0) {
        const value: usize = load<usize>(node, NODE_VALUE);
        const kept = load<usize>(TEXT_LENGTH);
        const begin: usize = kept == 0 ? textFrom : load<usize>(TEXT);
        const length = kept == 0 ? textTo - textFrom : kept;
        const isOne = kept == 0;
        const count = isOne ? (length == 0 ? 0 : characters(textFrom, textTo)) : load<i32>(TEXT_CHARACTERS);
        const hash = isOne ? hashOf(0x811c9dc5, textFrom, textTo) : load<u32>(TEXT_HASH);
        if (value == 0 || !addValue(value, begin, length, count, hash, e)) {
          if (textFrom != 0) addText(textFrom, textTo);
          ask(value == 0 ? node : value, load<usize>(TEXT), load<usize>(TEXT) + min<usize>(length, load<usize>(TEXT_CAPACITY)));
          return leave(value == 0 ? EXIT_VALUE : EXIT_EXTREMES, e, depth);
        }
      }
      endElement(frame, node);
      depth--;
      frame -= 1 << FRAME_SHIFT;
      node = load<usize>(frame, FRAME_NODE);
      textFrom = textTo = 0;
      store<usize>(TEXT_LENGTH, 0);
      continue;
    }

    if (kind == KIND_ATTRIBUTE) {
      const name = load<i32>(e, 4);
      const attributes: usize = load<usize>(node, NODE_ATTRIBUTES);
      const known = load<i32>(node, NODE_ATTRIBUTE_COUNT);
      let index = load<i32>(frame, FRAME_ATTRIBUTES);
      if (index >= known || load<i32>(attributes + (<usize>index << ATTRIBUTE_SHIFT), ATTRIBUTE_NAME) != name) {
        index = known > 256 ? known : 0;
        while (index < known && load<i32>(attributes + (<usize>index << ATTRIBUTE_SHIFT), ATTRIBUTE_NAME) != name) index++;
        if (index >= known) {
          if (load<usize>(ANSWERED) != e) return leave(EXIT_ATTRIBUTE, e, depth);
          index = load<i32>(ANSWER);
          // no content
          if (index < 0) continue;
        }
      }
      const attribute = attributes + (<usize>index << ATTRIBUTE_SHIFT);
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const valueFrom = source + load<u32>(e, 8);
      const valueTo = source + load<u32>(e, 12);
      const value: usize = load<usize>(attribute, ATTRIBUTE_VALUE);
      const length = valueTo - valueFrom;
      const count = length == 0 ? 0 : characters(valueFrom, valueTo);
      if (!addValue(value, valueFrom, length, count, hashOf(0x811c9dc5, valueFrom, valueTo), e)) {
        ask(value, valueFrom, valueTo);
        return leave(EXIT_EXTREMES, e, depth);
      }
      store<i32>(frame, index + 1, FRAME_ATTRIBUTES);
      increment(attribute + ATTRIBUTE_COUNT);
      if (load<i32>(attribute, ATTRIBUTE_IS_OTHER) != 0) {
        const met = load<u16>(frame, FRAME_HAS_TEXT);
        if ((met & HAS_OTHER) == 0) increment(node + NODE_WITH_OTHERS);
        store<u16>(frame, met | HAS_OTHER, FRAME_HAS_TEXT);
      }
      if (load<i32>(attribute, ATTRIBUTE_LAST_DOCUMENT) != document) {
        store<i32>(attribute, document, ATTRIBUTE_LAST_DOCUMENT);
        store<i32>(attribute, load<i32>(attribute, ATTRIBUTE_DOCUMENTS) + 1, ATTRIBUTE_DOCUMENTS);
      }
      continue;
    }
    if (kind == KIND_NAMESPACE) return leave(EXIT_NAMESPACE, e, depth);
  }
  // the batch's buffers are the tokeniser's again
  if (textFrom != 0) addText(textFrom, textTo);
  return leave(EXIT_DONE, e, depth);
}
