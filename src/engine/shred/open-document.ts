/**
 * Documents that another worker continues, and documents with an unknown root. A partly read document is passed on as plain data. It can be
 * suspended only between two children of the innermost open element, to which text does not belong.
 */
import { type QName, clarkName } from '../model/source-model.ts';
import {
  FRAME_INTS,
  FRAME_NAME,
  FRAME_POSITION,
  FRAME_SPACE,
  ROW_INTS,
  type ShredState,
} from './open-elements.ts';
import type { WalkContext } from './walk/context.ts';
import { InputError } from '../diagnostics.ts';
import { xsdNamespace } from '../model/name-labels.ts';
import {
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../xml/tokens.ts';
import { xhtmlNamespace } from '../xml/tokenizer/html-page.ts';
import type { RowElementName } from './row-tag/elements.ts';
import { rangeText } from './xml-capture.ts';

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

// Documents that start with an element which the schema does not have.

/** The root elements that documents may have; plain data. */
export interface RootRule {
  /** null: any root except that of an XSD */
  readonly known: readonly RowElementName[] | null;
  /** other roots are accepted, too, except that of an XSD */
  readonly keepsOthers: boolean;
}

interface RootCheck {
  begin(document: string): void;
  /** InputError `unknown_root`, `xsd_as_document` or `html_page` at the first element of a document that may not have it. */
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
}

/** root elements of a schema that a message names */
const maxNamed = 10;

export const xsdRoot: QName = { namespaceUri: xsdNamespace, localName: 'schema' };

export function isXsdRoot({ namespaceUri, localName }: QName): boolean {
  return namespaceUri === xsdRoot.namespaceUri && localName === xsdRoot.localName;
}

/**
 * True if the root element at the record `at` is that of an HTML page. Documents that declare further namespaces, as inline XBRL does,
 * contain data in addition to the page.
 */
export function isHtmlPage(name: QName, batch: TokenBatch, at: number): boolean {
  if (!isHtmlRoot(name)) return false;
  for (let next = at + 1; next < batch.count; next += 1) {
    if ((batch.events[next * RECORD_INTS]! & KIND_MASK) !== KIND_NAMESPACE) return true;
    const declared = rangeText(batch, next);
    if (declared !== '' && declared !== xhtmlNamespace) return false;
  }
  return true;
}

export function isHtmlRoot({ namespaceUri, localName }: QName): boolean {
  return localName.toLowerCase() === 'html' && (namespaceUri === '' || namespaceUri === xhtmlNamespace);
}

/** `hasSchema`: the documents' schema is known, and declares no such root element. */
export function htmlPage(
  name: QName,
  where: TextLocation & { readonly file: string },
  hasSchema: boolean,
): InputError {
  const { file, line, column } = where;
  const advice = hasSchema
    ? 'which the schema does not declare'
    : `if such pages are the documents, name it by --root ${name.localName}`;
  return new InputError({
    code: 'html_page',
    severity: 'error',
    message: `this is an HTML page, with the root element <${clarkName(name)}>: ${advice}`,
    file,
    line,
    column,
    name,
  });
}

/** `besides`: more that speaks against the document. */
export function unknownRoot(
  name: QName,
  known: readonly RowElementName[],
  where: TextLocation & { readonly file: string },
  besides = '',
): InputError {
  const common = {
    severity: 'error',
    file: where.file,
    line: where.line,
    column: where.column,
    name,
  } as const;
  if (isXsdRoot(name))
    return new InputError({
      ...common,
      code: 'xsd_as_document',
      message: 'this is an XSD, not a document',
    });
  const more = known.length > maxNamed ? ` and ${known.length - maxNamed} more` : '';
  const namesakes = known.filter(({ localName }) => localName === name.localName);
  const roots = [...new Set([...namesakes, ...known])].slice(0, maxNamed).map(nameOf).join(', ');
  const knows = roots === '' ? '' : `, which knows ${roots}${more}`;
  const [namesake] = namesakes;
  const elsewhere = namesake === undefined ? '' : ` (its ${name.localName} is of ${namespaceText(namesake)})`;
  return new InputError({
    ...common,
    code: 'unknown_root',
    message: `the root element <${clarkName(name)}> is not in the schema${elsewhere}${knows}${besides}`,
  });
}

/** A document of another version, or one without the `xmlns` that its schema asks for. */
function namespaceText({ namespaceUri }: RowElementName): string {
  return namespaceUri === null || namespaceUri === '' ? 'no namespace' : `the namespace ${namespaceUri}`;
}

function nameOf({ namespaceUri, localName }: RowElementName): string {
  return clarkName({ namespaceUri: namespaceUri ?? '', localName });
}

export function createRootCheck({ known, keepsOthers }: RootRule, names: NameTable): RootCheck {
  let document: string | null = null;
  return {
    begin: (name) => void (document = name),
    consume(batch, locate) {
      if (document === null) return;
      for (let at = 0; at < batch.count; at += 1) {
        if ((batch.events[at * RECORD_INTS]! & KIND_MASK) !== KIND_START) continue;
        const id = batch.events[at * RECORD_INTS + 1]!;
        const file = document;
        document = null;
        const name = { namespaceUri: names.namespaceUri(id), localName: names.localName(id) };
        const isKnown = known?.some(
          ({ namespaceUri, localName }) =>
            localName === name.localName && (namespaceUri ?? name.namespaceUri) === name.namespaceUri,
        );
        if (isKnown === true) return;
        if (isHtmlPage(name, batch, at)) throw htmlPage(name, { file, ...locate(at) }, known !== null);
        if (!isXsdRoot(name) && (known === null || keepsOthers)) return;
        throw unknownRoot(name, known ?? [], { file, ...locate(at) });
      }
    },
  };
}
