/**
 * Tokens to rows (docs/decisions/loading/nothing-lost.md): walks the mapping plan with the document, fills rows, hands encoded bytes on.
 * Memory: the open elements, their rows' values, and the output buffers; nothing grows with the document.
 */
import type { InputError } from '../diagnostics.ts';
import { createNameLabels, pathSteps, xsiNamespace, type NameLabels } from '../model/name-labels.ts';
import type { PlanEdge, RelationalModel } from '../model/relational-model.ts';
import { sideTableNames } from '../model/side-tables.ts';
import { clarkName, type QName } from '../model/source-model.ts';
import {
  createKernelThreshold,
  createTokenizerKernels,
  type TokenizerKernels,
} from '../xml/tokenizer/fast.ts';
import {
  FLAG_DECODED,
  FLAG_WHITE_SPACE,
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../xml/tokens.ts';
import { ByteBuffer } from './rows/byte-buffer.ts';
import {
  compilePlan,
  partOf,
  type CompiledNode,
  type CompiledPlan,
  type CompiledTable,
} from './compiled-plan.ts';
import { createDeviations, type Deviations } from './deviations.ts';
import { NamespaceScope } from './values/namespace-scope.ts';
import { OpenRows } from './rows/open-rows.ts';
import { rowEncoderFor, type RowEncoder } from './rows/encoding.ts';
import { RowKeys } from './rows/keys.ts';
import { RowOutput } from './rows/output.ts';
import {
  FRAME_INTS,
  FRAME_LAST_FOLDED,
  FRAME_NAME,
  FRAME_NIL,
  FRAME_NODE,
  FRAME_ORDINAL,
  FRAME_POSITION,
  FRAME_ROW,
  FRAME_ROW_COUNT,
  FRAME_SCOPE,
  FRAME_SHOWN,
  ShredState,
} from './open-elements.ts';
import { EMPTY, FITS, UNCONVERTED } from './values/conversion.ts';
import { isXsdRoot, unknownRoot } from './unknown-root.ts';
import { createShredKernel, type ShredKernel } from './kernel/instance.ts';
import { isWhiteSpace, rangeText, XmlCapture } from './xml-capture.ts';
import { utf8Text } from '../xml/utf8.ts';

export { xsiNamespace };

export interface ShredderOptions {
  readonly model: RelationalModel;
  readonly names: NameTable;
  readonly encoding: 'copy-text' | 'csv' | 'tsv';
  readonly idJob: number;
  /** last key in use per table name, `_documents` among them; rows are numbered from there */
  readonly keyOffsets: ReadonlyMap<string, number>;
  /** the sink can widen a column afterwards; else a value that does not fit is written as it is */
  readonly widensInPlace: boolean;
  readonly unmapped: 'capture' | 'report' | 'fail';
  /** documents that start with another element than the model's roots are kept whole as unmapped content; else they are refused */
  readonly keepsOtherRoots?: boolean;
  /** values of the model's extra columns for a document, in column order */
  readonly extraValues: (documentKey: number) => readonly (string | null)[];
  /**
   * Records of a batch from which on WebAssembly handles what is common (1024: below, it does not pay for being made). Infinity: by
   * TypeScript alone; the rows are the same.
   */
  readonly kernelFrom?: number;
}

export interface UnconvertedText {
  readonly table: number;
  readonly column: number;
  /** as it is written: decimal digits beyond 2^53 */
  readonly rowKey: number | string;
  readonly text: string;
}

export interface Shredder {
  readonly output: RowOutput;
  readonly deviations: Deviations;
  /** values their columns cannot hold; the consumer empties it */
  readonly unconvertedValues: UnconvertedText[];
  /** NOT NULL columns left empty, as `table/column` indexes; the consumer empties it */
  readonly nullAllowed: { readonly table: number; readonly column: number }[];
  /** For the tokeniser whose batches are handed in, where there is a choice: what it writes need not be copied. */
  tokenizerKernels(): TokenizerKernels;
  /** With its SHA-256 (hex) the rows' keys follow from it (`--keys hash`); without, they are numbers that go on from document to document. */
  /** `inherited`: namespaces declared around a document that is a part of a larger one. */
  beginDocument(name: string, sha256?: string, inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  endDocument(facts: { readonly sha256: string; readonly bytes: number; readonly loadedAt: string }): void;
  /** highest keys given out, by table name, `_documents` among them; empty for keys that follow from the documents */
  lastKeys(): ReadonlyMap<string, number>;
  /** Rows that follow get keys above `key`, documents keys above `document`, unless higher ones were given out already. */
  numberFrom(key: number, document: number): void;
}

const usualKernelFrom = 1024;
const xmlSpace = ' \t\r\n';
/** Bytes of a document that is kept whole, its root being none of the model's: it is held in memory until it ends. */
const longestRoot = 32 * 1024 * 1024;
const tooLongToKeep = `, and it is too long to be kept whole: more than ${longestRoot >> 20} MiB`;
/** Records that TypeScript handles at most before it asks the kernel again. */
const longestPause = 63;

export function createShredder(options: ShredderOptions): Shredder {
  return new DocumentShredder(options);
}

class DocumentShredder implements Shredder {
  readonly output: RowOutput;
  readonly deviations: Deviations;
  readonly unconvertedValues: UnconvertedText[] = [];
  readonly nullAllowed: { table: number; column: number }[] = [];
  readonly #roots: readonly QName[];
  readonly #options: ShredderOptions;
  readonly #plan: CompiledPlan;
  readonly #names: NameTable;
  readonly #rows: OpenRows;
  readonly #rowKeys = new RowKeys();
  #hashed = false;
  readonly #capture: XmlCapture;
  readonly #encoder: RowEncoder;
  readonly #state: ShredState;
  /** null: not needed yet, or not to be had */
  #kernel: ShredKernel | null = null;
  /** records of a batch that it is made for; Infinity once it was tried */
  #kernelFrom: number;
  readonly #kernelPays = createKernelThreshold();
  readonly #otherKernels = createTokenizerKernels(0);
  /** records that are left to TypeScript before the kernel is asked again, where it does not get far */
  #pause = 0;
  #pauseLength = 0;
  #lastDocumentKey: number;
  #documentKey = 0;
  #documentName = '';
  #extra: readonly (string | null)[] = [];
  /** where the present text run starts in the state's text, for values that children interrupt */
  #runStart = 0;
  /** white space that a batch ended with, where only other text would make it matter */
  readonly #heldSpace = new ByteBuffer(64);
  readonly #scope = new NamespaceScope();
  /** `root`: where the document's root stands, when that is what is captured */
  #capturing: {
    readonly wildcardTable: number;
    readonly position: number;
    readonly root: TextLocation | null;
  } | null = null;
  readonly #nullAllowedSeen = new Set<number>();
  readonly #labels: NameLabels;
  readonly #elementLabels: string[] = [];
  readonly #xsi: { readonly type: number; readonly nil: number; readonly locations: ReadonlySet<number> };

  constructor(options: ShredderOptions) {
    const { model, names } = options;
    const encoder = rowEncoderFor(options.encoding);
    this.#options = options;
    this.#names = names;
    this.#encoder = encoder;
    this.#plan = compilePlan(model, names, encoder);
    this.#state = new ShredState(
      Float64Array.from(model.tables, (table) => options.keyOffsets.get(table.name) ?? 0),
    );
    this.#kernelFrom = options.kernelFrom ?? usualKernelFrom;
    this.output = new RowOutput(model.tables.length, encoder);
    this.deviations = createDeviations(options.unmapped);
    this.#rows = new OpenRows(this.#state, this.#plan, this.output, encoder, this.#rowKeys);
    this.#capture = new XmlCapture(names);
    this.#lastDocumentKey = options.keyOffsets.get('_documents') ?? 0;
    this.#labels = createNameLabels(model);
    this.#roots = model.roots.map((root) => root.name);
    this.#xsi = {
      type: names.intern(xsiNamespace, 'type'),
      nil: names.intern(xsiNamespace, 'nil'),
      locations: new Set([
        names.intern(xsiNamespace, 'schemaLocation'),
        names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
      ]),
    };
  }

  tokenizerKernels(): TokenizerKernels {
    return {
      take: (firstBytes) => {
        if (!this.#kernelPays(firstBytes)) return null;
        if (this.#kernel === null) this.#makeKernel();
        return (this.#kernel?.tokenizerKernels ?? this.#otherKernels).take(firstBytes);
      },
      giveBack: (kernel) => (this.#kernel?.tokenizerKernels ?? this.#otherKernels).giveBack(kernel),
    };
  }

  beginDocument(name: string, sha256?: string, inherited?: ReadonlyMap<string, string>): void {
    this.#pause = 0;
    this.#pauseLength = 0;
    this.#hashed = sha256 !== undefined;
    this.#rowKeys.begin(sha256 ?? null);
    if (this.#hashed) this.#state.lastNumbers.fill(0);
    this.#documentKey = this.#hashed ? 0 : ++this.#lastDocumentKey;
    this.#documentName = name;
    this.#extra = this.#options.extraValues(this.#documentKey);
    this.#kernel?.beginDocument(this.#rowKeys.base, this.#extra);
    this.#state.reset();
    this.#scope.leave(0);
    for (const [prefix, uri] of inherited ?? []) this.#scope.declare(prefix, uri);
    this.#heldSpace.length = 0;
    this.#runStart = 0;
    this.#capturing = null;
  }

  endDocument(facts: { readonly sha256: string; readonly bytes: number; readonly loadedAt: string }): void {
    this.output.side('documents', [
      this.#rowKeys.key(this.#documentKey),
      this.#documentName,
      facts.sha256,
      facts.bytes,
      facts.loadedAt,
      this.#options.idJob,
    ]);
  }

  numberFrom(key: number, document: number): void {
    const { lastNumbers } = this.#state;
    for (let table = 0; table < lastNumbers.length; table += 1)
      lastNumbers[table] = Math.max(lastNumbers[table]!, key);
    this.#lastDocumentKey = Math.max(this.#lastDocumentKey, document);
  }

  lastKeys(): ReadonlyMap<string, number> {
    if (this.#hashed) return new Map();
    const keys = new Map<string, number>([['_documents', this.#lastDocumentKey]]);
    // a table that continues another's rows has the keys of that
    for (const [index, { name, continues }] of this.#options.model.tables.entries())
      keys.set(name, this.#state.lastNumbers[continues ?? index]!);
    return keys;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const { count } = batch;
    const kernel = this.#kernelFor(batch);
    for (let i = 0; i < count; i += 1) {
      if (kernel !== null && this.#capturing === null) {
        if (this.#pause > 0) this.#pause -= 1;
        else if (kernel.serves()) i = this.#runKernel(kernel, i, count);
        if (i >= count) break;
      }
      i = this.#record(batch, i, locate);
    }
    if (this.#capturing === null) this.#holdSpace(batch);
  }

  /** Handles the record `at`, a START with what belongs to it; answers the index of the last record handled. */
  #record(batch: TokenBatch, at: number, locate: (recordIndex: number) => TextLocation): number {
    const flags = batch.events[at * RECORD_INTS]!;
    const kind = flags & KIND_MASK;
    const { frames, depth } = this.#state;
    if (this.#capturing !== null) return this.#capturePart(batch, at, kind);
    if (kind === KIND_START) return this.#start(batch, at, locate);
    if (kind === KIND_END) this.#end();
    else if (kind === KIND_TEXT) {
      const node = depth === 0 ? null : this.#nodeOf(depth - 1);
      if (node !== null && !node.takesText && this.#state.text.length === 0) {
        if ((flags & FLAG_WHITE_SPACE) !== 0) return at;
        this.#pushSpaceBefore(batch, at);
      }
      this.#pushText(batch, at);
    } else if (kind === KIND_ATTRIBUTE) {
      // those before it were the kernel's
      this.#attribute(batch, at, this.#nodeOf(depth - 1), frames[(depth - 1) * FRAME_INTS + FRAME_ROW]!);
    }
    return at;
  }

  /** The kernel where it can read this batch; it is made for the first that is worth it. */
  #kernelFor(batch: TokenBatch): ShredKernel | null {
    if (this.#kernel === null && batch.count >= this.#kernelFrom) this.#makeKernel();
    return this.#kernel?.reaches(batch) === true ? this.#kernel : null;
  }

  #makeKernel(): void {
    if (this.#kernelFrom === Infinity) return;
    this.#kernelFrom = Infinity;
    this.#kernel = createShredKernel({
      plan: this.#plan,
      state: this.#state,
      output: this.output,
      encoder: this.#encoder,
      isCsv: this.#options.encoding === 'csv',
      xsiType: this.#xsi.type,
    });
    this.#kernel?.beginDocument(this.#rowKeys.base, this.#extra);
    for (let frame = 0; frame < this.#state.depth; frame += 1) this.#learnOpened(frame);
  }

  /** Lets the kernel handle records from `from` on; answers the index of the first that it leaves. */
  #runKernel(kernel: ShredKernel, from: number, count: number): number {
    const next = kernel.run(from, count, this.#scope.size);
    for (const [table, column] of kernel.takeNullAllowed())
      this.#allowNull(this.#plan.tables[table]!, column);
    // where it stops again and again it only costs
    if (next - from > 8 || next >= count) this.#pauseLength = 0;
    else {
      this.#pauseLength = Math.min(longestPause, this.#pauseLength * 2 + 1);
      this.#pause = this.#pauseLength;
    }
    return next;
  }

  #learnOpened(frame: number): void {
    const { frames } = this.#state;
    const row = frames[frame * FRAME_INTS + FRAME_ROW]!;
    this.#kernel?.learnOpened(frames[frame * FRAME_INTS + FRAME_NODE]!, this.#rows.table(row).index);
  }

  #nodeOf(frame: number): CompiledNode {
    return this.#plan.nodes[this.#state.frames[frame * FRAME_INTS + FRAME_NODE]!]!;
  }

  #pushText(batch: TokenBatch, at: number): void {
    const { events } = batch;
    const source = (events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
    this.#state.text.push(source, events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
  }

  /** White space was passed over before text that now turns out to stand where no text is expected: it belongs to it. */
  #pushSpaceBefore(batch: TokenBatch, at: number): void {
    const first = firstOfSpace(batch, at);
    if (first === 0) this.#state.text.push(this.#heldSpace.bytes, 0, this.#heldSpace.length);
    for (let i = first; i < at; i += 1) this.#pushText(batch, i);
  }

  /** Keeps the white space a batch ends with, for `#pushSpaceBefore` in the next. */
  #holdSpace(batch: TokenBatch): void {
    const first = firstOfSpace(batch, batch.count);
    if (first > 0) this.#heldSpace.length = 0;
    if (first === batch.count || this.#state.text.length > 0) return;
    for (let i = first; i < batch.count; i += 1) {
      const source = (batch.events[i * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
      this.#heldSpace.push(source, batch.events[i * RECORD_INTS + 2]!, batch.events[i * RECORD_INTS + 3]!);
    }
  }

  /** Handles a START with its declarations and attributes; answers the index of its last record. */
  #start(batch: TokenBatch, at: number, locate: (recordIndex: number) => TextLocation): number {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const parentFrame = this.#state.depth - 1;
    let edge: PlanEdge | null;
    let position = 0;
    if (parentFrame < 0) {
      edge = this.#plan.rootEdge(nameId);
      if (edge === null) return this.#captureRoot(batch, at, locate(at));
    } else {
      this.#closeTextRun(parentFrame);
      position = this.#state.nextPosition(parentFrame);
      this.#state.setFrame(parentFrame, FRAME_SHOWN, 1);
      const parent = this.#nodeOf(parentFrame);
      edge = this.#plan.childEdge(parent.index, nameId);
      if (edge === null) {
        const left = this.#isIgnored(parent, 'elements', nameId);
        return this.#captureElement(batch, at, left ? -1 : parent.plan.wildcardTable, position);
      }
      const target = this.#plan.nodes[edge.node]!;
      if (this.#kernel !== null) {
        const isNamed = target.plan.elementNameColumn >= 0;
        this.#kernel.learnElement(parent.index, nameId, edge, isNamed ? this.#label(nameId) : null);
      }
      if (
        target.seenSlot >= 0 &&
        !this.#rows.mark(this.#state.frame(parentFrame, FRAME_ROW), target.seenSlot)
      ) {
        // the model has room for one: the second may match a wildcard, else it is kept whole beside the data
        return this.#captureElement(batch, at, parent.plan.wildcardTable, position);
      }
    }
    return this.#open(batch, at, edge, parentFrame, position);
  }

  #open(batch: TokenBatch, at: number, edge: PlanEdge, parentFrame: number, position: number): number {
    const { events, count } = batch;
    let last = at;
    this.#state.reserveFrame();
    this.#state.setFrame(this.#state.depth, FRAME_SCOPE, this.#scope.size);
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) {
      last += 1;
      this.#scope.declare(this.#names.localName(events[last * RECORD_INTS + 1]!), rangeText(batch, last));
    }
    const firstAttribute = last + 1;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE) last += 1;

    let node = this.#plan.nodes[edge.node]!;
    let row: number;
    let rowCount = 0;
    let misplaced = false;
    if (edge.head !== undefined) {
      const head = this.#plan.nodes[edge.head.node]!;
      const headRow = this.#openRow(head, edge.head.parentKeyColumn, parentFrame, position);
      this.#rows.setAscii(headRow, head.plan.elementNameColumn, this.#label(events[at * RECORD_INTS + 1]!));
      row = this.#openSubtypeRow(node, edge.parentKeyColumn, headRow);
      rowCount = 2;
    } else if (node.plan.opensRow) {
      row = this.#openRow(node, edge.parentKeyColumn, parentFrame, position);
      rowCount = 1;
    } else {
      row = this.#state.frame(parentFrame, FRAME_ROW);
      if (node.plan.presenceColumn >= 0) this.#rows.setBoolean(row, node.plan.presenceColumn, true);
      if (node.plan.foldedPositionColumn >= 0)
        this.#rows.setInteger(row, node.plan.foldedPositionColumn, position);
      else if (node.index > this.#state.frame(parentFrame, FRAME_LAST_FOLDED))
        this.#state.setFrame(parentFrame, FRAME_LAST_FOLDED, node.index);
      else misplaced = true;
    }
    if (node.plan.elementNameColumn >= 0) {
      this.#rows.setAscii(row, node.plan.elementNameColumn, this.#label(events[at * RECORD_INTS + 1]!));
    }
    const frame = this.#state.depth;
    this.#state.setFrame(frame, FRAME_NAME, events[at * RECORD_INTS + 1]!);
    this.#state.setFrame(frame, FRAME_POSITION, 0);
    this.#state.setFrame(frame, FRAME_NIL, 0);
    this.#state.setFrame(frame, FRAME_SHOWN, 0);
    this.#state.setFrame(frame, FRAME_ORDINAL, position);
    this.#state.setFrame(frame, FRAME_LAST_FOLDED, -1);
    this.#state.setFrame(frame, FRAME_NODE, node.index);
    this.#state.setFrame(frame, FRAME_ROW, row);
    this.#state.depth += 1;
    if (misplaced) this.#keepPlace(frame);
    let typed = -1;
    for (let i = firstAttribute; i <= last; i += 1)
      if (events[i * RECORD_INTS + 1] === this.#xsi.type) typed = i;
    // a model inferred without an XSD knows xsi:type as an attribute like any other
    if (typed >= 0 && this.#plan.attributeColumn(node.index, this.#xsi.type) >= 0) typed = -1;
    if (typed >= 0) {
      const typeName = this.#scope.resolve(trimmed(rangeText(batch, typed)));
      const typeEdge = typeName === null ? undefined : typeEdgeOf(node, typeName);
      if (node.plan.typeNameColumn >= 0 && typeName !== null)
        this.#rows.setAscii(row, node.plan.typeNameColumn, this.#labels.type(typeName));
      else if (typeName === null) this.#unmappedAttribute(batch, typed, row);
      else this.#keepType(batch, typed, row, typeName);
      this.#state.setFrame(frame, FRAME_SHOWN, 1);
      if (typeEdge !== undefined) {
        node = this.#plan.nodes[typeEdge.node]!;
        if (typeEdge.parentKeyColumn >= 0) {
          this.#state.setFrame(frame, FRAME_ROW, row);
          row = this.#openSubtypeRow(node, typeEdge.parentKeyColumn, row);
          rowCount += 1;
        }
        this.#state.setFrame(frame, FRAME_NODE, node.index);
        this.#state.setFrame(frame, FRAME_ROW, row);
      }
    }
    this.#state.setFrame(frame, FRAME_ROW_COUNT, rowCount);
    for (let i = firstAttribute; i <= last; i += 1) if (i !== typed) this.#attribute(batch, i, node, row);
    this.#state.text.length = 0;
    this.#runStart = 0;
    this.#learnOpened(frame);
    return last;
  }

  #openRow(node: CompiledNode, parentKeyColumn: number, parentFrame: number, position: number): number {
    const { table } = node;
    const row = this.#rows.open(table);
    if (parentFrame < 0) {
      if (table.documentColumn >= 0) this.#rows.setKey(row, table.documentColumn, this.#documentKey);
    } else {
      if (parentKeyColumn >= 0)
        this.#rows.setKey(row, parentKeyColumn, this.#rows.number(this.#state.frame(parentFrame, FRAME_ROW)));
      if (table.positionColumn >= 0) this.#rows.setInteger(row, table.positionColumn, position);
    }
    return row;
  }

  #openSubtypeRow(node: CompiledNode, parentKeyColumn: number, headRow: number): number {
    const row = this.#rows.open(node.table);
    this.#rows.setKey(row, parentKeyColumn, this.#rows.number(headRow));
    return row;
  }

  #attribute(batch: TokenBatch, at: number, node: CompiledNode, row: number): void {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const frame = this.#state.depth - 1;
    if (this.#xsi.locations.has(nameId)) return;
    this.#state.setFrame(frame, FRAME_SHOWN, 1);
    const column = this.#plan.attributeColumn(node.index, nameId);
    if (column >= 0 && nameId === this.#xsi.type) {
      const written = rangeText(batch, at);
      const typeName = this.#scope.resolve(trimmed(written));
      // what is no name here may read as the label of one
      if (typeName === null && this.#labels.typeOf(written) !== null) {
        this.#unmappedAttribute(batch, at, row);
        return;
      }
      const label = new TextEncoder().encode(typeName === null ? written : this.#labels.type(typeName));
      this.#value(row, column, label, 0, label.length);
      return;
    }
    if (column >= 0) {
      this.#kernel?.learnAttribute(node.index, nameId, column);
      const source = (batch.events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
      this.#value(
        row,
        column,
        source,
        batch.events[at * RECORD_INTS + 2]!,
        batch.events[at * RECORD_INTS + 3]!,
      );
      return;
    }
    if (nameId === this.#xsi.nil) {
      const nil = { true: true, 1: true, false: false, 0: false }[trimmed(rangeText(batch, at))];
      if (node.plan.nilColumn < 0 || nil === undefined) this.#unmappedAttribute(batch, at, row);
      else this.#rows.setBoolean(row, node.plan.nilColumn, nil);
      if (nil === true) this.#state.setFrame(frame, FRAME_NIL, 1);
      return;
    }
    if (node.plan.anyAttributeColumn >= 0 && !this.#isIgnored(node, 'attributes', nameId)) {
      const uri = this.#names.namespaceUri(nameId);
      const name = uri === '' ? this.#names.localName(nameId) : `{${uri}}${this.#names.localName(nameId)}`;
      this.#rows.appendAnyAttribute(row, node.plan.anyAttributeColumn, name, rangeText(batch, at));
      return;
    }
    this.#unmappedAttribute(batch, at, row);
  }

  /** Sets a value column; what its type cannot hold exactly goes beside it. */
  #value(row: number, column: number, source: Uint8Array, start: number, end: number): void {
    const result = this.#rows.setValue(row, column, source, start, end);
    const table = this.#rows.table(row);
    if (result === FITS) {
      if (table.holdsNames[column] === 1) this.#nameValue(row, column, source.subarray(start, end));
      return;
    }
    if (result === UNCONVERTED) {
      const text = utf8Text(source.subarray(start, end));
      const part = partOf(table, column);
      this.unconvertedValues.push({
        table: part.index,
        column: column - part.start,
        rowKey: this.#rows.key(row),
        text,
      });
      if (this.#options.widensInPlace) this.#rows.mark(row, column);
      else this.#rows.setRaw(row, column, source, start, end);
      this.deviations.unconverted(`${part.name}.${table.columns[column]!.name}`, text);
      return;
    }
    const text = source.subarray(start, end);
    this.output.side('lexical', [
      this.#rowKeys.key(this.#documentKey),
      partOf(table, column).name,
      this.#rows.key(row),
      table.columns[column]!.name,
      result === EMPTY && table.columns[column]!.keepsForm !== true ? new Uint8Array(0) : text,
    ]);
  }

  /** A QName whose prefix means something else in the model, or nothing, is kept with its namespace. */
  #nameValue(row: number, column: number, value: Uint8Array): void {
    const table = this.#rows.table(row);
    const { name: columnName, type } = table.columns[column]!;
    const { namespaces } = this.#options.model;
    const expanded = this.#scope.expand(utf8Text(value), type.list === true, namespaces);
    if (expanded === null) return;
    const document = this.#rowKeys.key(this.#documentKey);
    const { name } = partOf(table, column);
    this.output.side('lexical', [document, name, this.#rows.key(row), columnName, expanded]);
  }

  #end(): void {
    const frame = this.#state.depth - 1;
    const node = this.#nodeOf(frame);
    const row = this.#state.frame(frame, FRAME_ROW);
    const { textColumn } = node.plan;
    if (textColumn >= 0) {
      if (this.#state.frame(frame, FRAME_POSITION) > 0) this.#closeTextRun(frame);
      if (this.#state.frame(frame, FRAME_NIL) === 0 || this.#state.text.length > 0) {
        this.#value(row, textColumn, this.#state.text.bytes, 0, this.#state.text.length);
        this.#state.setFrame(frame, FRAME_SHOWN, 1);
      }
      this.#state.text.clear();
      this.#runStart = 0;
    } else this.#closeTextRun(frame);
    if (this.#state.frame(frame, FRAME_SHOWN) === 0 && node.showsNothing) this.#keepPlace(frame);
    this.#scope.leave(this.#state.frame(frame, FRAME_SCOPE));
    this.#state.depth = frame;
    for (let open = this.#state.frame(frame, FRAME_ROW_COUNT); open > 0; open -= 1) this.#closeRow();
  }

  #closeRow(): void {
    const row = this.#rows.top();
    const table = this.#rows.table(row);
    for (let i = 0; i < table.required.length; i += 1) {
      const column = table.required[i]!;
      if (!this.#rows.isSet(row, column)) this.#allowNull(table, column);
    }
    this.#rows.close(this.#extra);
  }

  /** Notes that a NOT NULL column was left empty, the first time. */
  #allowNull(table: CompiledTable, column: number): void {
    const identity = table.index * 65_536 + column;
    if (this.#nullAllowedSeen.has(identity)) return;
    this.#nullAllowedSeen.add(identity);
    const part = partOf(table, column);
    this.nullAllowed.push({ table: part.index, column: column - part.start });
  }

  /** A run of text ends where a child starts or the element ends. */
  #closeTextRun(frame: number): void {
    const { length } = this.#state.text;
    if (length === 0) return;
    const node = this.#nodeOf(frame);
    const row = this.#state.frame(frame, FRAME_ROW);
    if (node.plan.textColumn >= 0) {
      // a value's text goes on over a child that has no place in it; its parts are kept beside
      const run = this.#state.text.bytes.slice(this.#runStart, length);
      this.#runStart = length;
      if (!isWhiteSpace(run, run.length))
        this.#unmapped('text', this.#state.nextPosition(frame), this.#path(frame), run, row);
      // no deviation in itself, but text that is written back around the child
      else if (node.keepsSpace && node.plan.ignored?.text !== true)
        this.#keep('text', this.#state.nextPosition(frame), this.#path(frame), run, row);
      return;
    }
    if (node.plan.textTable >= 0) {
      this.#state.setFrame(frame, FRAME_SHOWN, 1);
      this.#contentRow(
        node.plan.textTable,
        row,
        this.#state.nextPosition(frame),
        this.#state.text.bytes,
        length,
      );
    } else if (!isWhiteSpace(this.#state.text.bytes, length)) {
      this.#state.setFrame(frame, FRAME_SHOWN, 1);
      this.#unmapped(
        'text',
        this.#state.nextPosition(frame),
        this.#path(frame),
        this.#state.text.bytes.slice(0, length),
        row,
      );
    }
    this.#state.text.length = 0;
  }

  #contentRow(table: number, parentRow: number, position: number, content: Uint8Array, length: number): void {
    const compiled = this.#plan.tables[table]!;
    const parent = this.#rows.number(parentRow);
    const row = this.#rows.open(compiled);
    this.#rows.setKey(row, compiled.parentKeyColumn, parent);
    this.#rows.setInteger(row, compiled.positionColumn, position);
    this.#rows.setRaw(row, compiled.contentColumn, content, 0, length);
    this.#rows.close(this.#extra);
  }

  /** A document of another kind than the schema's: refused, or kept whole beside the data. */
  #captureRoot(batch: TokenBatch, at: number, place: TextLocation): number {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const keeps = this.#options.unmapped === 'capture' && this.#options.keepsOtherRoots === true;
    if (!keeps || isXsdRoot(this.#nameOf(nameId))) throw this.#unknownRoot(nameId, place);
    return this.#captureElement(batch, at, -1, 1, place);
  }

  #captureElement(
    batch: TokenBatch,
    at: number,
    wildcardTable: number,
    position: number,
    root: TextLocation | null = null,
  ): number {
    this.#capturing = { wildcardTable, position, root };
    this.#state.reserveFrame();
    this.#state.setFrame(this.#state.depth, FRAME_NAME, batch.events[at * RECORD_INTS + 1]!);
    return this.#capture.begin(batch, at, this.#scope.declared());
  }

  #capturePart(batch: TokenBatch, at: number, kind: number): number {
    const { events } = batch;
    const { wildcardTable, position, root } = this.#capturing!;
    if (root !== null && this.#capture.out.length > longestRoot)
      throw this.#unknownRoot(this.#state.frame(0, FRAME_NAME), root, tooLongToKeep);
    if (kind === KIND_START) return this.#capture.start(batch, at);
    if (kind === KIND_TEXT) {
      const source = (events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
      this.#capture.text(source, events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
      return at;
    }
    if (kind !== KIND_END || !this.#capture.end()) return at;
    this.#capturing = null;
    const { out } = this.#capture;
    const parent = this.#state.depth - 1;
    if (root !== null) this.#keepRoot(out.bytes.slice(0, out.length), root);
    else if (wildcardTable >= 0)
      this.#contentRow(wildcardTable, this.#state.frame(parent, FRAME_ROW), position, out.bytes, out.length);
    else {
      const xpath = `${this.#path(parent)}/${this.#label(this.#state.frame(this.#state.depth, FRAME_NAME))}`;
      this.#unmapped(
        'element',
        position,
        xpath,
        out.bytes.slice(0, out.length),
        this.#state.frame(parent, FRAME_ROW),
      );
    }
    return at;
  }

  /** Hangs from the document itself, as there is no row it could hang from. */
  #keepRoot(content: Uint8Array, place: TextLocation): void {
    const xpath = `/${this.#label(this.#state.frame(0, FRAME_NAME))}`;
    const where = `${this.#documentName}: line ${place.line}, column ${place.column}`;
    this.deviations.unmapped(xpath, 'element', content, where);
    this.deviations.documents += 1;
    const document = this.#rowKeys.key(this.#documentKey);
    const values = [document, sideTableNames.documents, document, 1, xpath, 'element', content];
    this.output.side('unmapped', values);
  }

  #unmappedAttribute(batch: TokenBatch, at: number, row: number): void {
    const content = new TextEncoder().encode(rangeText(batch, at));
    this.#unmapped('attribute', 0, this.#attributePath(batch, at), content, row);
  }

  /**
   * xsi:type where no type has columns of its own, so that it changes nothing: it is kept with its namespace, `{uri}local`, and is
   * no deviation. What a wrong one allows deviates by itself.
   */
  #keepType(batch: TokenBatch, at: number, row: number, typeName: QName): void {
    this.#keep('attribute', 0, this.#attributePath(batch, at), clarkName(typeName), row);
  }

  #attributePath(batch: TokenBatch, at: number): string {
    const label = this.#labels.attribute(this.#nameOf(batch.events[at * RECORD_INTS + 1]!));
    return `${this.#path(this.#state.depth - 1)}/@${label}`;
  }

  /** Whether the plan leaves out the child or attribute of that name on purpose. */
  #isIgnored(node: CompiledNode, kind: 'elements' | 'attributes', nameId: number): boolean {
    const names = node.plan.ignored?.[kind] ?? [];
    return names.some((name) => this.#names.intern(name.namespaceUri, name.localName) === nameId);
  }

  /** The same for content of the innermost open element that found no place; its path ends with its name. */
  #isLeftOut(kind: 'element' | 'attribute' | 'text', xpath: string): boolean {
    const ignored = this.#state.depth === 0 ? undefined : this.#nodeOf(this.#state.depth - 1).plan.ignored;
    if (ignored === undefined) return false;
    if (kind === 'text') return ignored.text;
    if (kind === 'element' ? ignored.anyElement : ignored.anyAttribute) return true;
    const step = pathSteps(xpath).at(-1);
    return kind === 'element'
      ? ignored.elements.some((name) => step === this.#labels.element(name))
      : ignored.attributes.some((name) => step === `@${this.#labels.attribute(name)}`);
  }

  /** Where a folded element stood, when neither its columns nor its order will tell. */
  #keepPlace(frame: number): void {
    if (this.#options.unmapped !== 'capture') return;
    this.#keep(
      'place',
      this.#state.frame(frame, FRAME_ORDINAL),
      this.#path(frame),
      null,
      this.#state.frame(frame, FRAME_ROW),
    );
    this.#state.setFrame(frame, FRAME_SHOWN, 1);
  }

  #unmapped(
    kind: 'element' | 'attribute' | 'text',
    position: number,
    xpath: string,
    content: Uint8Array,
    row: number,
  ): void {
    if (this.#isLeftOut(kind, xpath)) {
      this.deviations.ignore(xpath, kind === 'element' ? Math.max(1, this.#capture.values) : 1);
      return;
    }
    this.deviations.unmapped(xpath, kind, content);
    this.#keep(kind, position, xpath, content, row);
  }

  /** A row of `_unmapped`. */
  #keep(
    kind: 'element' | 'attribute' | 'text' | 'place',
    position: number,
    xpath: string,
    content: string | Uint8Array | null,
    row: number,
  ): void {
    if (this.#options.unmapped !== 'capture') return;
    const { name } = this.#rows.table(row);
    const document = this.#rowKeys.key(this.#documentKey);
    const values = [document, name, this.#rows.key(row), position, xpath, kind, content];
    this.output.side('unmapped', values);
  }

  #nameOf(nameId: number): QName {
    return { namespaceUri: this.#names.namespaceUri(nameId), localName: this.#names.localName(nameId) };
  }

  #label(nameId: number): string {
    return (this.#elementLabels[nameId] ??= this.#labels.element(this.#nameOf(nameId)));
  }

  #path(frame: number): string {
    let path = '';
    for (let i = 0; i <= frame; i += 1) path += `/${this.#label(this.#state.frame(i, FRAME_NAME))}`;
    return path;
  }

  #unknownRoot(nameId: number, place: TextLocation, besides?: string): InputError {
    const where = { file: this.#documentName, ...place };
    return unknownRoot(this.#nameOf(nameId), this.#roots, where, besides);
  }
}

/** Without white space around it, as XSD has it. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && xmlSpace.includes(text[start]!)) start += 1;
  while (start < end && xmlSpace.includes(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

function typeEdgeOf(node: CompiledNode, name: QName): CompiledNode['plan']['typeEdges'][number] | undefined {
  return node.plan.typeEdges.find(
    (edge) => edge.name.localName === name.localName && edge.name.namespaceUri === name.namespaceUri,
  );
}

/** First of the white space TEXT records that lead up to record `end`; `end` where there is none. */
function firstOfSpace(batch: TokenBatch, end: number): number {
  let first = end;
  while (first > 0) {
    const flags = batch.events[(first - 1) * RECORD_INTS]!;
    if ((flags & KIND_MASK) !== KIND_TEXT || (flags & FLAG_WHITE_SPACE) === 0) break;
    first -= 1;
  }
  return first;
}
