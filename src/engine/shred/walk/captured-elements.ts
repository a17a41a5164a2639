/** Captures elements as XML: for wildcards if the plan has no element of that name, and for documents of another kind. */
import type { InputError } from '../../diagnostics.ts';
import {
  KIND_END,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../../xml/tokens.ts';
import { FRAME_NAME, FRAME_ROW } from '../open-elements.ts';
import { htmlPage, isHtmlPage, isXsdRoot, unknownRoot } from '../unknown-root.ts';
import { sourceOf, XmlCapture } from '../xml-capture.ts';
import type { WalkContext } from './context.ts';
import type { ElementRows } from './element-rows.ts';
import type { UnmappedContent } from './unmapped-content.ts';

/** The most bytes of a document that is kept whole because its root is not one of the model's. It is in memory until it ends. */
const longestRoot = 32 * 1024 * 1024;
const tooLongToKeep = `, and it is too long to be kept whole: more than ${longestRoot >> 20} MiB`;

/** The element that is being captured. */
interface CaptureTarget {
  /** table of the wildcard that allows the element; -1: it is unmapped */
  readonly wildcardTable: number;
  readonly position: number;
  /** location of the document's root, if the root is captured */
  readonly root: TextLocation | null;
}

export class CapturedElements {
  /** null if nothing is being captured */
  target: CaptureTarget | null = null;
  readonly #context: WalkContext;
  readonly #elementRows: ElementRows;
  readonly #unmapped: UnmappedContent;
  readonly #capture: XmlCapture;

  constructor(context: WalkContext, elementRows: ElementRows, unmapped: UnmappedContent) {
    this.#context = context;
    this.#elementRows = elementRows;
    this.#unmapped = unmapped;
    this.#capture = new XmlCapture(context.names);
  }

  /** Handles a document of another kind than the schema's: refuses it, or keeps it whole beside the data. */
  beginRoot(batch: TokenBatch, at: number, location: TextLocation): number {
    const { paths, settings } = this.#context;
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const name = paths.nameOf(nameId);
    if (isHtmlPage(name, batch, at))
      throw htmlPage(name, { file: this.#context.documentName, ...location }, true);
    const keeps = settings.unmapped === 'capture' && settings.keepsOtherRoots === true;
    if (!keeps || isXsdRoot(name)) throw this.#unknownRoot(nameId, location);
    return this.begin(batch, at, -1, 1, location);
  }

  /** Starts at the START record `at`. Returns the index of the tag's last record. */
  begin(
    batch: TokenBatch,
    at: number,
    wildcardTable: number,
    position: number,
    root: TextLocation | null = null,
  ): number {
    const { scope, state } = this.#context;
    this.target = { wildcardTable, position, root };
    state.reserveFrame();
    state.setFrame(state.depth, FRAME_NAME, batch.events[at * RECORD_INTS + 1]!);
    return this.#capture.begin(batch, at, scope.declared());
  }

  /** Adds the record `at`, of this kind; a START includes the records that belong to it. Returns the index of the last record added. */
  add(batch: TokenBatch, at: number, kind: number): number {
    const { events } = batch;
    const { root } = this.target!;
    if (root !== null && this.#capture.out.length > longestRoot)
      throw this.#unknownRoot(this.#context.state.frame(0, FRAME_NAME), root, tooLongToKeep);
    if (kind === KIND_START) return this.#capture.start(batch, at);
    if (kind === KIND_TEXT)
      this.#capture.text(sourceOf(batch, at), events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
    else if (kind === KIND_END && this.#capture.end()) this.#end();
    return at;
  }

  #end(): void {
    const { paths, state } = this.#context;
    const { wildcardTable, position, root } = this.target!;
    this.target = null;
    const { out, values } = this.#capture;
    const parent = state.depth - 1;
    if (root !== null) {
      this.#unmapped.keepRoot(out.bytes.slice(0, out.length), root);
      return;
    }
    const row = state.frame(parent, FRAME_ROW);
    if (wildcardTable >= 0) {
      this.#elementRows.addContent(wildcardTable, row, position, out.bytes, out.length);
      return;
    }
    const xpath = `${paths.element(parent)}/${paths.label(state.frame(state.depth, FRAME_NAME))}`;
    const content = out.bytes.slice(0, out.length);
    this.#unmapped.add('element', position, xpath, content, row, Math.max(1, values));
  }

  #unknownRoot(nameId: number, location: TextLocation, besides?: string): InputError {
    const { documentName, paths, settings } = this.#context;
    const known = settings.model.roots.map(({ name }) => name);
    return unknownRoot(paths.nameOf(nameId), known, { file: documentName, ...location }, besides);
  }
}
