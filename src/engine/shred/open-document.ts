/**
 * A partly read document that another worker continues: its open state, as plain data. It can be suspended only between two children of
 * the innermost open element, to which text does not belong.
 */
import type { QName } from '../model/source-model.ts';
import {
  FRAME_INTS,
  FRAME_NAME,
  FRAME_POSITION,
  FRAME_SPACE,
  ROW_INTS,
  type ShredState,
} from './open-elements.ts';
import type { WalkContext } from './walk/context.ts';

export interface OpenDocument {
  /** number of the document */
  readonly document: number;
  /** values of the model's extra columns */
  readonly extra: readonly (string | null)[];
  /** names of the open elements, outermost first; empty: the document has not begun */
  readonly names: readonly QName[];
  /** children and runs of text of the innermost one so far */
  readonly position: number;
  /** laid out as in src/engine/shred/open-elements.ts, except for names and the position */
  readonly frames: readonly number[];
  readonly rows: readonly number[];
  readonly slots: readonly number[];
  readonly arena: readonly number[];
  /** declarations in scope, outermost first */
  readonly namespaces: readonly (readonly [prefix: string, uri: string])[];
}

/** Returns a snapshot of the open document. */
export function suspend({ state, paths, scope, extra, documentNumber }: WalkContext): OpenDocument {
  const { depth, frames, rows, rowTop, slots, slotTop, arena } = state;
  const names = Array.from({ length: depth }, (_, frame) => paths.nameOf(state.frame(frame, FRAME_NAME)));
  return {
    document: documentNumber,
    extra,
    names,
    position: depth === 0 ? 0 : state.frame(depth - 1, FRAME_POSITION),
    frames: [...frames.subarray(0, depth * FRAME_INTS)],
    rows: [...rows.subarray(0, (rowTop + 1) * ROW_INTS)],
    slots: [...slots.subarray(0, slotTop)],
    arena: [...arena.bytes.subarray(0, arena.length)],
    namespaces: scope.all(),
  };
}

/** Restores the open state in `context`, which must have nothing open. */
export function restore(
  { state, names, scope, prefixes }: WalkContext,
  { names: open, position, frames, rows, slots, arena, namespaces }: OpenDocument,
): void {
  for (const [prefix, uri] of namespaces) scope.declare(prefix, uri);
  prefixes.beginDocument();
  for (const _ of open) {
    state.reserveFrame();
    state.depth += 1;
  }
  state.frames.set(frames);
  for (const [frame, { namespaceUri, localName }] of open.entries())
    state.setFrame(frame, FRAME_NAME, names.intern(namespaceUri, localName));
  if (open.length > 0) state.setFrame(open.length - 1, FRAME_POSITION, position);
  restoreRows(state, rows, slots);
  state.arena.push(Uint8Array.from(arena), 0, arena.length);
}

function restoreRows(state: ShredState, rows: readonly number[], slots: readonly number[]): void {
  for (let at = 0; at < rows.length; at += ROW_INTS) {
    state.reserveRow(0);
    state.rowTop += 1;
  }
  state.rows.set(rows);
  state.reserveRow(slots.length >> 1);
  state.slots.set(slots);
  state.slotTop = slots.length;
}

/**
 * Returns the names of the innermost open element's children that contribute more to its row than their presence. All other children have
 * a row of their own, or are kept as they are. Returns null if text or white space belongs to the element, or if none is open.
 */
export function foldedNames(context: WalkContext): readonly QName[] | null {
  const { state, plan, settings } = context;
  if (state.depth === 0) return null;
  const node = context.nodeOf(state.depth - 1);
  if (node.takesText || state.frame(state.depth - 1, FRAME_SPACE) === 1) return null;
  return settings.model.nodes[node.index]!.edges.filter(
    (edge) => edge.childKeyColumn !== undefined || plan.nodes[edge.node]!.seenSlot >= 0,
  ).map(({ name }) => name);
}
