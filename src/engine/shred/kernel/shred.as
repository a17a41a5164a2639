// AssemblyScript. The common part of shredding: elements that the plan knows, and attributes and text that their columns hold unchanged.
// Rare cases are left to src/engine/shred/shredder.ts, which works on the same memory: this function then returns with the state before
// the event. Compiled by `npm run wasm` into src/engine/shred/kernel/shred-wasm.ts; layout of the control block and of the plan:
// src/engine/shred/kernel/layout.ts, of frames, rows and slots: src/engine/shred/open-elements.ts. The forms of values are those of
// src/engine/shred/conversion.ts.

function leave(exit: i32, e: usize, depth: i32, out: usize): i32 {
  store<i32>(NEXT, <i32>((e - load<usize>(EVENTS)) >> RECORD_SHIFT));
  store<i32>(DEPTH, depth);
  store<i32>(ARENA_LENGTH, <i32>(out - load<usize>(ARENA)));
  return exit;
}

/** Sets the FRAME_SPACE of an element with xml:space, whose value begins at `value`. An invalid value changes nothing. */
function setSpace(frame: usize, value: usize, length: usize): void {
  // preserve, and default
  if (length == 8 && load<u64>(value) == 0x6576726573657270) store<i32>(frame, 1, FRAME_SPACE);
  else if (length == 7 && (load<u64>(value) & 0xffffffffffffff) == 0x746c7561666564) store<i32>(frame, 0, FRAME_SPACE);
}

/** Record `from` and those that follow, of `count`; sets NEXT to the one it stopped at. */
export function shred(from: i32, count: i32): i32 {
  const events: usize = load<usize>(EVENTS);
  const bytes: usize = load<usize>(BYTES);
  const decoded: usize = load<usize>(DECODED);
  const frames: usize = load<usize>(FRAMES);
  const rows: usize = load<usize>(ROWS);
  const nodes: usize = load<usize>(NODES);
  const columns: usize = load<usize>(COLUMNS);
  const slots: usize = load<usize>(SLOTS);
  const arena: usize = load<usize>(ARENA);
  const arenaEnd = arena + load<usize>(ARENA_CAPACITY);
  const scope = load<i32>(SCOPE_SIZE);
  const xsiType = load<i32>(XSI_TYPE);
  const xmlSpace = load<i32>(XML_SPACE);
  const last = events + ((<usize>count) << RECORD_SHIFT);
  let e = events + ((<usize>from) << RECORD_SHIFT);
  let depth = load<i32>(DEPTH);
  let frame = frames + (<usize>(depth - 1)) * FRAME_BYTES;
  let out: usize = arena + load<usize>(ARENA_LENGTH);
  if (depth == 0) return leave(EXIT_EVENT, e, depth, out);
  // any edge will do to begin with
  let previous: usize = load<usize>(EDGES);
  // state of the innermost open element
  let known: usize = 0;
  let nodeIndex: i32 = 0;
  let node: usize = 0;
  let nodeFlags: i32 = 0;
  let row: usize = 0;
  let rowSlots: usize = 0;
  let rowColumns: usize = 0;
  while (e < last) {
    if (frame != known) {
      known = frame;
      nodeIndex = load<i32>(frame);
      node = nodes + ((<usize>nodeIndex) << 6);
      nodeFlags = load<i32>(node, NODE_FLAGS);
      row = rows + ((<usize>load<i32>(frame, FRAME_ROW)) << 5);
      rowSlots = slots + ((<usize>load<i32>(row, ROW_SLOTS)) << 2);
      rowColumns = columns + ((<usize>load<i32>(tableAt(load<i32>(row)), TABLE_FIRST_COLUMN)) << 5);
    }
    const flags = load<i32>(e);
    const kind = flags & KIND_MASK;
    if (kind == KIND_START) {
      if (load<i32>(TEXT_LENGTH) > 0) {
        const textTable = load<i32>(node, NODE_TEXT_TABLE);
        if (load<i32>(node, NODE_TEXT_COLUMN) >= 0 || textTable < 0)
          return leave(EXIT_EVENT, e, depth, out);
        const end = writeTextRow(frame, textTable, out);
        if (end == 0)
          return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, e, depth, out);
        out = end;
      }
      const name = load<i32>(e, 4);
      const edge = findEdge(previous, nodeIndex, name);
      if (edge == 0) return leave(EXIT_EVENT, e, depth, out);
      previous = edge;
      const target = load<i32>(edge, EDGE_TARGET);
      const child = nodes + ((<usize>target) << 6);
      const childFlags = load<i32>(child, NODE_FLAGS);
      const next = load<i32>(e, 16);
      if (
        (childFlags & LEAF) != 0 &&
        (next & KIND_MASK) == KIND_TEXT &&
        e + 32 < last &&
        (load<i32>(e, 32) & KIND_MASK) == KIND_END
      ) {
        // most elements: a start tag, one piece of text, an end tag
        const seen = rowSlots + ((<usize>load<i32>(child, NODE_SEEN_SLOT)) << 3);
        const source = (next & FLAG_DECODED) == 0 ? bytes : decoded;
        const start = source + load<i32>(e, 24);
        const end = source + load<i32>(e, 28);
        if (
          load<i32>(seen) == -1 &&
          target > load<i32>(frame, FRAME_LAST_FOLDED) &&
          out + 2 * (end - start) + 128 <= arenaEnd
        ) {
          const number = <usize>load<i32>(child, NODE_TEXT_COLUMN);
          const written = convert(rowColumns + (number << 5), start, end, out);
          if (written != 0) {
            store<i32>(seen, -2);
            const slot = rowSlots + (number << 3);
            store<i32>(slot, <i32>(out - arena));
            store<i32>(slot, <i32>(written - arena), 4);
            store<i32>(frame, target, FRAME_LAST_FOLDED);
            store<i32>(frame, load<i32>(frame, FRAME_POSITION) + 1, FRAME_POSITION);
            store<i32>(frame, 1, FRAME_SHOWN);
            out = load<i32>(rowColumns + (number << 5)) == CONVERT_TIMESTAMP_OFFSET ? writeOffset(slot, written) : written;
            e += 48;
            continue;
          }
        }
      }
      for (let at = e + 16; at < last; at += 16) {
        const other = load<i32>(at) & KIND_MASK;
        if (other == KIND_NAMESPACE || (other == KIND_ATTRIBUTE && load<i32>(at, 4) == xsiType))
          return leave(EXIT_EVENT, e, depth, out);
        if (other != KIND_ATTRIBUTE) break;
      }
      if (depth >= load<i32>(FRAME_CAPACITY) || (childFlags & SETS_SPACE) != 0) return leave(EXIT_EVENT, e, depth, out);
      const inner = frame + FRAME_BYTES;
      const position = load<i32>(frame, FRAME_POSITION) + 1;
      if ((childFlags & OPENS_ROW) != 0) {
        const index = load<i32>(child);
        const table = tableAt(index);
        const childKey = load<i32>(edge, EDGE_CHILD_KEY);
        const isMember = childKey <= FIRST_HEAD;
        // there is no place for a second one
        if (childKey >= 0 && load<i32>(rowSlots + ((<usize>childKey) << 3)) != -1)
          return leave(EXIT_EVENT, e, depth, out);
        if (!hasRoomForRow(table, out + load<usize>(edge, EDGE_LABEL_LENGTH)))
          return leave(EXIT_EVENT, e, depth, out);
        if (isMember) {
          const end = openHead(edge, table, row, position, out);
          if (end == 0) return leave(EXIT_EVENT, e, depth, out);
          const head = rows + ((<usize>load<i32>(ROW_TOP)) << 5);
          out = openRow(table, index, end, head, -1);
          out = copyKey(head + 32, load<i32>(edge, EDGE_PARENT_KEY), head, out);
        } else {
          out = openRow(table, index, out, row, childKey);
          const opened = rows + ((<usize>load<i32>(ROW_TOP)) << 5);
          out = placeRow(table, opened, load<i32>(edge, EDGE_PARENT_KEY), row, position, out);
        }
        store<i32>(inner, load<i32>(ROW_TOP), FRAME_ROW);
        store<i32>(inner, isMember ? 2 : 1, FRAME_ROW_COUNT);
      } else {
        const seen = rowSlots + ((<usize>load<i32>(child, NODE_SEEN_SLOT)) << 3);
        const positionColumn = load<i32>(child, NODE_FOLDED_POSITION_COLUMN);
        if (
          load<i32>(seen) != -1 ||
          (positionColumn < 0 && target <= load<i32>(frame, FRAME_LAST_FOLDED)) ||
          out + load<usize>(edge, EDGE_LABEL_LENGTH) + 128 > arenaEnd
        )
          return leave(EXIT_EVENT, e, depth, out);
        store<i32>(seen, -2);
        const presence = load<i32>(child, NODE_PRESENCE_COLUMN);
        if (presence >= 0) {
          const end = writeBoolean(true, out);
          setSlot(row, presence, out, end);
          out = end;
        }
        if (positionColumn >= 0) {
          const end = writeInteger(position, out);
          setSlot(row, positionColumn, out, end);
          out = end;
        } else {
          store<i32>(frame, target, FRAME_LAST_FOLDED);
        }
        store<i32>(inner, load<i32>(frame, FRAME_ROW), FRAME_ROW);
        store<i32>(inner, 0, FRAME_ROW_COUNT);
      }
      const label = load<i32>(child, NODE_ELEMENT_NAME_COLUMN);
      if (label >= 0) {
        const end = copy(out, load<usize>(edge, EDGE_LABEL), load<usize>(edge, EDGE_LABEL_LENGTH));
        setSlot(rows + ((<usize>load<i32>(inner, FRAME_ROW)) << 5), label, out, end);
        out = end;
      }
      store<i32>(frame, position, FRAME_POSITION);
      store<i32>(frame, 1, FRAME_SHOWN);
      store<i32>(inner, target, FRAME_NODE);
      store<i32>(inner, 0, FRAME_POSITION);
      store<i32>(inner, name, FRAME_NAME);
      store<i32>(inner, 0, FRAME_NIL);
      store<i32>(inner, 0, FRAME_SHOWN);
      store<i32>(inner, position, FRAME_ORDINAL);
      store<i32>(inner, -1, FRAME_LAST_FOLDED);
      store<i32>(inner, scope, FRAME_SCOPE);
      store<i32>(inner, load<i32>(frame, FRAME_SPACE), FRAME_SPACE);
      frame = inner;
      depth++;
      e += 16;
      continue;
    }

    if (kind == KIND_ATTRIBUTE) {
      const edge = findEdge(previous, nodeIndex + ATTRIBUTE_OF, load<i32>(e, 4));
      if (edge == 0) return leave(EXIT_EVENT, e, depth, out);
      previous = edge;
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const start = source + load<i32>(e, 8);
      const end = source + load<i32>(e, 12);
      if (out + 2 * (end - start) + 128 > arenaEnd) return leave(EXIT_EVENT, e, depth, out);
      const number = <usize>load<i32>(edge, EDGE_TARGET);
      const written = convert(rowColumns + (number << 5), start, end, out);
      if (written == 0) return leave(EXIT_EVENT, e, depth, out);
      if (load<i32>(e, 4) == xmlSpace) setSpace(frame, start, end - start);
      const slot = rowSlots + (number << 3);
      store<i32>(slot, <i32>(out - arena));
      store<i32>(slot, <i32>(written - arena), 4);
      store<i32>(frame, 1, FRAME_SHOWN);
      out = load<i32>(rowColumns + (number << 5)) == CONVERT_TIMESTAMP_OFFSET ? writeOffset(slot, written) : written;
      e += 16;
      continue;
    }

    const event = e;
    let textLength = load<usize>(TEXT_LENGTH);
    if (kind == KIND_TEXT && textLength == 0 && (nodeFlags & TAKES_TEXT) == 0) {
      if ((flags & FLAG_WHITE_SPACE) == 0 || load<i32>(frame, FRAME_SPACE) != 0)
        return leave(EXIT_EVENT, e, depth, out);
      e += 16;
      continue;
    }
    const textColumn = load<i32>(node, NODE_TEXT_COLUMN);
    let start: usize = load<usize>(TEXT);
    let end: usize = start + textLength;
    if (kind == KIND_TEXT) {
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const from = source + load<i32>(e, 8);
      const to = source + load<i32>(e, 12);
      const next = e + 16;
      if (textLength == 0 && textColumn >= 0 && next < last && (load<i32>(next) & KIND_MASK) == KIND_END) {
        // the whole value, as it nearly always is
        start = from;
        end = to;
        textLength = to - from;
        e = next;
      } else {
        if (textLength + (to - from) > load<usize>(TEXT_CAPACITY)) return leave(EXIT_EVENT, e, depth, out);
        copy(end, from, to - from);
        store<i32>(TEXT_LENGTH, <i32>(textLength + (to - from)));
        e += 16;
        continue;
      }
    } else if (kind != KIND_END) {
      return leave(EXIT_EVENT, e, depth, out);
    }

    const rowCount = load<i32>(frame, FRAME_ROW_COUNT);
    if (rowCount > 2 || load<i32>(frame, FRAME_SCOPE) != scope) return leave(EXIT_EVENT, event, depth, out);
    if (textColumn >= 0) {
      if (textLength > 0 && load<i32>(frame, FRAME_POSITION) > 0) return leave(EXIT_EVENT, event, depth, out);
      if (textLength > 0 || load<i32>(frame, FRAME_NIL) == 0) {
        if (out + 2 * textLength + 128 > arenaEnd) return leave(EXIT_EVENT, event, depth, out);
        const written = convert(rowColumns + ((<usize>textColumn) << 5), start, end, out);
        if (written == 0) return leave(EXIT_EVENT, event, depth, out);
        const index = load<i32>(row);
        // includes room for an offset
        if (rowCount > 0 && !fits(tableAt(index), index, arena + load<i32>(row, ROW_MARK), written, written - arena - load<i32>(row, ROW_MARK) + 4))
          return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
        if (rowCount > 1 && !rowBelowFits(row))
          return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
        const slot = rowSlots + ((<usize>textColumn) << 3);
        store<i32>(slot, <i32>(out - arena));
        store<i32>(slot, <i32>(written - arena), 4);
        out = load<i32>(rowColumns + ((<usize>textColumn) << 5)) == CONVERT_TIMESTAMP_OFFSET ? writeOffset(slot, written) : written;
        store<i32>(TEXT_LENGTH, 0);
        if (rowCount > 0) out = closeRow();
        if (rowCount > 1) out = closeRow();
        frame -= FRAME_BYTES;
        depth--;
        e += 16;
        if (depth == 0) return leave(e < last ? EXIT_EVENT : EXIT_DONE, e, depth, out);
        continue;
      }
    } else if (textLength > 0) {
      const textTable = load<i32>(node, NODE_TEXT_TABLE);
      if (textTable < 0) return leave(EXIT_EVENT, event, depth, out);
      const end = writeTextRow(frame, textTable, out);
      if (end == 0)
        return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
      out = end;
    }
    if (load<i32>(frame, FRAME_SHOWN) == 0 && (nodeFlags & SHOWS_NOTHING) != 0)
      return leave(EXIT_EVENT, event, depth, out);
    if (rowCount > 0) {
      const index = load<i32>(row);
      if (!fits(tableAt(index), index, arena + load<i32>(row, ROW_MARK), out, out - arena - load<i32>(row, ROW_MARK)))
        return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
      if (rowCount > 1 && !rowBelowFits(row))
        return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
      out = closeRow();
      if (rowCount > 1) out = closeRow();
    }
    frame -= FRAME_BYTES;
    depth--;
    e += 16;
    if (depth == 0) return leave(e < last ? EXIT_EVENT : EXIT_DONE, e, depth, out);
  }
  return leave(EXIT_DONE, e, depth, out);
}
