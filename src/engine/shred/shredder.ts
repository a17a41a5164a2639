/**
 * Tokens to rows (docs/decisions/loading/nothing-lost.md): walks the mapping plan with the document, fills rows, hands encoded bytes on.
 * Memory: the open elements, their rows' values, and the output buffers; nothing grows with the document.
 */
import { xsiNamespace } from '../model/name-labels.ts';
import { memberOf, membersOf } from '../model/packed/reader.ts';
import type { QName } from '../model/source-model.ts';
import type { TokenizerKernels } from '../xml/tokenizer/fast.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../xml/tokens.ts';
import type { Deviations } from './deviations.ts';
import { foldedNames, restore, suspend, type OpenDocument } from './open-document.ts';
import { FRAME_ROW, type ShredState } from './open-elements.ts';
import { partText, type PartsOfFile, type PartProgress, type Surroundings } from './row-tag/parts.ts';
import type { DocumentFacts, JobIdentity, RowOutput } from './row-output.ts';
import { Attributes, CapturedElements, Elements } from './walk/elements.ts';
import { ColumnValues, type UnconvertedText, TextRuns } from './walk/text-runs.ts';
import { WalkContext, type WalkSettings } from './walk/context.ts';
import { ElementRows } from './walk/element-rows.ts';
import { KernelTurns } from './walk/kernel-turns.ts';
import { UnmappedContent } from './walk/unmapped-content.ts';

export { xsiNamespace };

export interface ShredderOptions extends WalkSettings, JobIdentity {
  /** values of the model's extra columns for a document, in column order; parts of one that follow one another may share them */
  readonly extraValues: (documentKey: number) => readonly (string | null)[];
  /**
   * The number of records of a batch from which on WebAssembly handles the common cases (default 1024: creating the kernel costs more
   * than it saves below that). Infinity: only TypeScript is used. The rows are the same.
   */
  readonly kernelFrom?: number;
}

export interface Shredder {
  readonly output: RowOutput;
  readonly deviations: Deviations;
  /** values their columns cannot hold; the consumer empties it */
  readonly unconvertedValues: UnconvertedText[];
  /** NOT NULL columns left empty, as `table/column` indexes; the consumer empties it */
  readonly nullAllowed: { readonly table: number; readonly column: number }[];
  /** Kernels for the tokeniser whose batches are passed in, if there is a choice. Their output need not be copied. */
  tokenizerKernels(): TokenizerKernels;
  /**
   * Begins a document. With `sha256` (hex), the rows' keys follow from it (`--keys hash`); otherwise they are numbers in sequence over all
   * documents. `inherited`: namespaces declared around a document that is a part of a larger one.
   */
  beginDocument(name: string, sha256?: string, inherited?: Surroundings): void;
  /** Continues a document that was suspended (keys in sequence). */
  resumeDocument(name: string, open: OpenDocument): void;
  /** The document as it is open now, between two batches. */
  openDocument(): OpenDocument;
  /** See src/engine/shred/open-document.ts. */
  foldedNames(): readonly QName[] | null;
  /** `first`: index of the first record that has not been handled; 0 by default */
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation, first?: number): void;
  /**
   * Handles documents that are parts of a larger one, from record `from` of a batch on, with white space between them: as many as
   * possible at once. If the last one has not ended, `consume` continues it. Returns null if the caller must begin the part there.
   */
  takeParts(batch: TokenBatch, from: number, parts: PartsOfFile): PartProgress | null;
  endDocument(facts: DocumentFacts): void;
  /** last keys given out, by table name, `_documents` among them; empty for keys that follow from the documents */
  lastKeys(): ReadonlyMap<string, number>;
  /** Rows that follow get keys above `key`, documents keys above `document`. */
  numberFrom(key: number, document: number): void;
}

const usualKernelFrom = 1024;

export function createShredder(options: ShredderOptions): Shredder {
  return new DocumentShredder(options);
}

class DocumentShredder implements Shredder {
  readonly output: RowOutput;
  readonly deviations: Deviations;
  readonly unconvertedValues: UnconvertedText[];
  readonly nullAllowed: { readonly table: number; readonly column: number }[];
  readonly #options: ShredderOptions;
  readonly #context: WalkContext;
  readonly #state: ShredState;
  readonly #turns: KernelTurns;
  readonly #text: TextRuns;
  readonly #attributes: Attributes;
  readonly #captured: CapturedElements;
  readonly #elements: Elements;
  /** the rows' keys follow from the documents */
  #hashed = false;
  #lastDocument: number;

  constructor(options: ShredderOptions) {
    const context = new WalkContext(options);
    const elementRows = new ElementRows(context);
    const unmapped = new UnmappedContent(context);
    const values = new ColumnValues(context, unmapped);
    const turns = new KernelTurns(context, elementRows, options, options.kernelFrom ?? usualKernelFrom);
    const text = new TextRuns(context, values, elementRows, unmapped);
    const attributes = new Attributes(context, values, elementRows, unmapped, turns);
    const captured = new CapturedElements(context, elementRows, unmapped);
    this.#options = options;
    this.#context = context;
    this.#state = context.state;
    this.#turns = turns;
    this.#text = text;
    this.#attributes = attributes;
    this.#captured = captured;
    this.#elements = new Elements(context, { elementRows, unmapped, turns, text, attributes, captured });
    this.#lastDocument = options.keyOffsets.get('_documents') ?? 0;
    this.output = context.output;
    this.deviations = context.deviations;
    this.unconvertedValues = values.unconvertedValues;
    this.nullAllowed = elementRows.nullAllowed;
  }

  tokenizerKernels(): TokenizerKernels {
    return this.#turns.tokenizerKernels;
  }

  beginDocument(name: string, sha256?: string, inherited?: Surroundings): void {
    this.#hashed = sha256 !== undefined;
    this.#context.rowKeys.begin(sha256 ?? null);
    if (this.#hashed) this.#state.lastNumbers.fill(0);
    const number = this.#hashed ? 0 : ++this.#lastDocument;
    this.#begin(name, number, this.#options.extraValues(number));
    this.#inherit(inherited);
  }

  #inherit(inherited: Surroundings | undefined): void {
    const context = this.#context;
    for (const [prefix, uri] of inherited ?? []) context.scope.declare(prefix, uri);
    context.preservesSpace = inherited?.preservesSpace === true;
    context.prefixes.beginDocument();
  }

  takeParts(batch: TokenBatch, from: number, parts: PartsOfFile): PartProgress | null {
    const { rowKeys } = this.#context;
    const { name, number, sha256, inherited } = parts;
    const isHashed = sha256 !== null;
    rowKeys.begin(null);
    this.#begin(name, this.#lastDocument, this.#options.extraValues(this.#lastDocument + 1));
    this.#inherit(inherited);
    const taken = this.#turns.takeParts(batch, from, parts, this.#lastDocument);
    if (taken === null) return null;
    this.#hashed = isHashed;
    const { document, keyBase } = this.#turns.kernel!.lastPart;
    if (!isHashed) this.#lastDocument = document;
    if (taken.openFrom < 0) return taken;
    this.#context.documentName = partText(name, number + taken.ended);
    this.#context.documentNumber = isHashed ? 0 : document;
    if (isHashed) rowKeys.resume(keyBase);
    return taken;
  }

  resumeDocument(name: string, open: OpenDocument): void {
    this.#hashed = false;
    this.#context.rowKeys.begin(null);
    this.#lastDocument = Math.max(this.#lastDocument, open.document);
    this.#begin(name, open.document, open.extra);
    restore(this.#context, open);
    for (let frame = 0; frame < this.#state.depth; frame += 1) this.#turns.learnOpened(frame);
  }

  openDocument(): OpenDocument {
    return suspend(this.#context);
  }

  foldedNames(): readonly QName[] | null {
    return foldedNames(this.#context);
  }

  #begin(name: string, number: number, extra: readonly (string | null)[]): void {
    const context = this.#context;
    context.documentNumber = number;
    context.documentName = name;
    context.extra = extra;
    this.#turns.beginDocument();
    this.#state.reset();
    context.scope.leave(0);
    context.preservesSpace = false;
    this.#text.beginDocument();
    this.#captured.target = null;
  }

  endDocument(facts: DocumentFacts): void {
    const { documentName } = this.#context;
    this.output.document(this.#context.documentKey(), documentName, facts, this.#options);
  }

  numberFrom(key: number, document: number): void {
    this.#state.lastNumbers.fill(key);
    this.#lastDocument = document;
  }

  lastKeys(): ReadonlyMap<string, number> {
    if (this.#hashed) return new Map();
    const keys = new Map<string, number>([['_documents', this.#lastDocument]]);
    // a table that continues another's rows has the keys of that table
    const { tables } = this.#options.model;
    for (const [index, name] of membersOf(tables, 'name').entries())
      keys.set(name, this.#state.lastNumbers[memberOf(tables, index, 'continues') ?? index]!);
    return keys;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation, first = 0): void {
    const { count } = batch;
    const kernel = this.#turns.kernelFor(batch);
    for (let i = first; i < count; i += 1) {
      if (kernel !== null && this.#captured.target === null) {
        i = this.#turns.take(kernel, i, count);
        if (i >= count) break;
      }
      i = this.#record(batch, i, locate);
    }
    if (this.#captured.target === null) this.#text.holdSpace(batch);
  }

  /** Handles the record `at`; a START includes the records that belong to it. Returns the index of the last record handled. */
  #record(batch: TokenBatch, at: number, locate: (recordIndex: number) => TextLocation): number {
    const flags = batch.events[at * RECORD_INTS]!;
    const kind = flags & KIND_MASK;
    if (this.#captured.target !== null) return this.#captured.add(batch, at, kind);
    if (kind === KIND_START) return this.#elements.start(batch, at, locate);
    if (kind === KIND_END) this.#elements.end();
    else if (kind === KIND_TEXT) this.#text.add(batch, at, flags);
    else if (kind === KIND_ATTRIBUTE) {
      // the kernel has handled the attributes before this one
      const frame = this.#state.depth - 1;
      this.#attributes.add(batch, at, this.#context.nodeOf(frame), this.#state.frame(frame, FRAME_ROW));
    }
    return at;
  }
}
