// Part of src/engine/shred/kernel/shred.as: handles consecutive documents that are parts of a larger one, with their rows of `_documents`.
// A part that differs from the others in any way is left to the TypeScript code before it is begun.

/** Bytes for the digits of a document's number, size and key, and the bytes around them. */
const DOCUMENT_BYTES: usize = 128;

/** `[from, length]` of the piece `index` of a row of `_documents`. */
// @ts-ignore: decorator
@inline
function copyPiece(index: usize, out: usize): usize {
  const piece = load<usize>(DOCUMENT_PIECES) + (index << 3);
  return copy(out, load<usize>(piece), load<usize>(piece, 4));
}

/** The key of the document, from now on: in the columns that have it in every row, too. */
function setDocumentKey(key: u64): void {
  const at = load<usize>(DOCUMENT_KEY);
  const length = <i32>(writeLong(key, at) - at);
  if (length == load<i32>(DOCUMENT_KEY_LENGTH)) return;
  store<i32>(DOCUMENT_KEY_LENGTH, length);
  const columns = load<usize>(COLUMNS);
  let named = load<usize>(DOCUMENT_COLUMNS);
  const end = named + (load<usize>(DOCUMENT_COLUMN_COUNT) << 2);
  for (; named < end; named += 4) store<i32>(columns + (load<usize>(named) << 5), length, COLUMN_DEFAULT_LENGTH);
}

/** Opens the row of the part that begins at the record `e`. Returns false, without changes, if the TypeScript code must handle the part. */
function openPart(e: usize, last: usize): bool {
  const name = load<i32>(e, 4);
  const edge = searchEdge(ROOT_NODE, name);
  if (edge == 0) return false;
  const xsiType = load<i32>(XSI_TYPE);
  for (let at = e + 16; at < last; at += 16) {
    const other = load<i32>(at) & KIND_MASK;
    if (other == KIND_NAMESPACE || (other == KIND_ATTRIBUTE && load<i32>(at, 4) == xsiType)) return false;
    if (other != KIND_ATTRIBUTE) break;
  }
  const target = load<i32>(edge, EDGE_TARGET);
  const node = load<usize>(NODES) + ((<usize>target) << 6);
  const index = load<i32>(node);
  const table = tableAt(index);
  let out = load<usize>(ARENA);
  if ((load<i32>(node, NODE_FLAGS) & (OPENS_ROW | SETS_SPACE)) != OPENS_ROW) return false;
  if (!hasRoomForRow(table, out + load<usize>(edge, EDGE_LABEL_LENGTH))) return false;
  if (load<i32>(HASHED) != 0) {
    memory.fill(load<usize>(LAST_NUMBERS), 0, load<usize>(TABLE_COUNT) << 3);
    store<u64>(KEY_BASE, keyBaseOfPart(load<i32>(PART_NUMBER)));
    setDocumentKey(load<u64>(KEY_BASE));
  } else {
    const number = load<f64>(DOCUMENT_NUMBER) + 1;
    store<f64>(DOCUMENT_NUMBER, number);
    setDocumentKey(<u64>number);
  }
  out = openRow(table, index, out, 0, -1);
  const row = load<usize>(ROWS);
  const label = load<i32>(node, NODE_ELEMENT_NAME_COLUMN);
  if (label >= 0) {
    const end = copy(out, load<usize>(edge, EDGE_LABEL), load<usize>(edge, EDGE_LABEL_LENGTH));
    setSlot(row, label, out, end);
    out = end;
  }
  const frame = load<usize>(FRAMES);
  store<i32>(frame, target, FRAME_NODE);
  store<i32>(frame, 0, FRAME_ROW);
  store<i32>(frame, 0, FRAME_POSITION);
  store<i32>(frame, name, FRAME_NAME);
  store<i32>(frame, 1, FRAME_ROW_COUNT);
  store<i32>(frame, 0, FRAME_NIL);
  store<i32>(frame, 0, FRAME_SHOWN);
  store<i32>(frame, 0, FRAME_ORDINAL);
  store<i32>(frame, -1, FRAME_LAST_FOLDED);
  store<i32>(frame, load<i32>(SCOPE_SIZE), FRAME_SCOPE);
  store<i32>(frame, load<i32>(PART_SPACE), FRAME_SPACE);
  store<i32>(DEPTH, 1);
  store<i32>(ARENA_LENGTH, <i32>(out - load<usize>(ARENA)));
  return true;
}

/** Writes the row of `_documents` for the part whose end tag is the record `e`. */
function closePart(e: usize): void {
  const start = load<usize>(EVENTS) + (load<usize>(PART_FROM) << RECORD_SHIFT);
  const begin = load<usize>(DOCUMENTS);
  let out = copyPiece(0, begin + load<usize>(DOCUMENTS_LENGTH));
  out = copy(out, load<usize>(DOCUMENT_KEY), load<usize>(DOCUMENT_KEY_LENGTH));
  out = writeLong(load<i32>(PART_NUMBER), copyPiece(1, out));
  out = writeLong(load<i32>(e, 12) - load<i32>(start, 8), copyPiece(2, out));
  store<usize>(DOCUMENTS_LENGTH, copyPiece(3, out) - begin);
  store<i32>(DOCUMENTS_PENDING, load<i32>(DOCUMENTS_PENDING) + 1);
  store<i32>(PART_NUMBER, load<i32>(PART_NUMBER) + 1);
}

/**
 * Handles parts from record `from` on, of `count`, with only white space between them. Sets NEXT to the record it stopped at; if DEPTH is
 * not 0, that record is inside the part that begins at PART_FROM.
 */
export function shredParts(from: i32, count: i32): i32 {
  const events: usize = load<usize>(EVENTS);
  const last = events + ((<usize>count) << RECORD_SHIFT);
  const space = KIND_TEXT | FLAG_WHITE_SPACE;
  while (true) {
    if (load<i32>(DEPTH) == 0) {
      let e = events + ((<usize>from) << RECORD_SHIFT);
      while (e < last && (load<i32>(e) & (KIND_MASK | FLAG_WHITE_SPACE)) == space) e += 16;
      from = <i32>((e - events) >> RECORD_SHIFT);
      store<i32>(NEXT, from);
      if (e >= last) return EXIT_DONE;
      if (load<usize>(DOCUMENTS_LENGTH) + load<usize>(DOCUMENTS_ROOM) + DOCUMENT_BYTES > load<usize>(DOCUMENTS_CAPACITY)) {
        store<i32>(FULL_TABLE, DOCUMENTS_TABLE);
        return EXIT_TABLE_FULL;
      }
      if ((load<i32>(e) & KIND_MASK) != KIND_START || !openPart(e, last)) return EXIT_EVENT;
      store<i32>(PART_FROM, from);
      from++;
    }
    const exit = shred(from, count);
    if (load<i32>(DEPTH) != 0) return exit;
    from = load<i32>(NEXT);
    closePart(events + ((<usize>(from - 1)) << RECORD_SHIFT));
  }
}
