/**
 * Tokens to rows (engine.md §3, §4): walks the mapping plan with the document, fills rows, hands encoded bytes on.
 * Memory: the open elements, their rows' values, and the output buffers; nothing grows with the document.
 */
import { InputError } from '../diagnostics.ts';
import type { PlanEdge, RelationalModel } from '../model/relational-model.ts';
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
import { ByteBuffer } from './byte-buffer.ts';
import { compilePlan, type CompiledNode, type CompiledPlan } from './compiled-plan.ts';
import { createDrift, type Drift } from './drift.ts';
import { OpenRows } from './open-rows.ts';
import { rowEncoderFor } from './row-encoding.ts';
import { RowOutput } from './row-output.ts';
import { EMPTY, FITS, MISFIT } from './value-conversion.ts';
import { rangeText, XmlCapture } from './xml-capture.ts';

export const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

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
  /** values of the model's extra columns for a document, in column order */
  readonly extraValues: (documentKey: number) => readonly (string | null)[];
}

export interface Misfit {
  readonly table: number;
  readonly column: number;
  readonly rowKey: number;
  readonly text: string;
}

export interface Shredder {
  readonly output: RowOutput;
  readonly drift: Drift;
  /** values their columns cannot hold; the consumer empties it */
  readonly misfits: Misfit[];
  /** NOT NULL columns left empty, as `table/column` indexes; the consumer empties it */
  readonly relaxed: { readonly table: number; readonly column: number }[];
  /** root element names the model knows */
  readonly rootNames: readonly string[];
  beginDocument(name: string): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  endDocument(facts: { readonly sha256: string; readonly bytes: number; readonly loadedAt: string }): void;
  /** highest keys given out, by table name, `_documents` among them */
  lastKeys(): ReadonlyMap<string, number>;
}

export function createShredder(options: ShredderOptions): Shredder {
  return new DocumentShredder(options);
}

class DocumentShredder implements Shredder {
  readonly output: RowOutput;
  readonly drift: Drift;
  readonly misfits: Misfit[] = [];
  readonly relaxed: { table: number; column: number }[] = [];
  readonly rootNames: readonly string[];
  readonly #options: ShredderOptions;
  readonly #plan: CompiledPlan;
  readonly #names: NameTable;
  readonly #rows: OpenRows;
  readonly #capture: XmlCapture;
  readonly #text = new ByteBuffer(1024);
  readonly #lastKeys: Float64Array;
  #lastDocumentKey: number;
  #documentKey = 0;
  #documentName = '';
  #extra: readonly (string | null)[] = [];
  // the open elements, outermost first
  #depth = 0;
  #frameNode: (CompiledNode | null)[] = [];
  #frameRow = new Int32Array(64);
  #framePosition = new Int32Array(64);
  #frameName = new Int32Array(64);
  /** rows that close with the element: 0 for folded ones, 2 where a subtype has a table of its own */
  #frameRowCount = new Int32Array(64);
  #frameNil = new Uint8Array(64);
  #scope: [prefix: string, uri: string][] = [];
  #scopeMarks = new Int32Array(64);
  #capturing: { readonly wildcardTable: number; readonly position: number } | null = null;
  readonly #relaxedSeen = new Set<number>();
  readonly #typeLabels = new Map<number, string>();
  readonly #xsi: { readonly type: number; readonly nil: number; readonly locations: ReadonlySet<number> };

  constructor(options: ShredderOptions) {
    const { model, names } = options;
    const encoder = rowEncoderFor(options.encoding);
    this.#options = options;
    this.#names = names;
    this.#plan = compilePlan(model, names, encoder);
    this.output = new RowOutput(model.tables.length, encoder);
    this.drift = createDrift(options.unmapped);
    this.#rows = new OpenRows(this.output, encoder);
    this.#capture = new XmlCapture(names);
    this.#lastKeys = Float64Array.from(model.tables, (table) => options.keyOffsets.get(table.name) ?? 0);
    this.#lastDocumentKey = options.keyOffsets.get('_documents') ?? 0;
    this.rootNames = model.roots.map((root) => root.name.localName);
    this.#xsi = {
      type: names.intern(xsiNamespace, 'type'),
      nil: names.intern(xsiNamespace, 'nil'),
      locations: new Set([
        names.intern(xsiNamespace, 'schemaLocation'),
        names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
      ]),
    };
  }

  beginDocument(name: string): void {
    this.#documentKey = ++this.#lastDocumentKey;
    this.#documentName = name;
    this.#extra = this.#options.extraValues(this.#documentKey);
    this.#depth = 0;
    this.#scope = [];
    this.#text.length = 0;
    this.#capturing = null;
    this.#rows.reset();
  }

  endDocument(facts: { readonly sha256: string; readonly bytes: number; readonly loadedAt: string }): void {
    this.output.side('documents', [
      this.#documentKey,
      this.#documentName,
      facts.sha256,
      facts.bytes,
      facts.loadedAt,
      this.#options.idJob,
    ]);
  }

  lastKeys(): ReadonlyMap<string, number> {
    const keys = new Map<string, number>([['_documents', this.#lastDocumentKey]]);
    for (const table of this.#plan.tables) keys.set(table.name, this.#lastKeys[table.index]!);
    return keys;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const { events, count } = batch;
    for (let i = 0; i < count; i += 1) {
      const flags = events[i * RECORD_INTS]!;
      const kind = flags & KIND_MASK;
      if (this.#capturing !== null) {
        i = this.#capturePart(batch, i, kind);
      } else if (kind === KIND_START) {
        i = this.#start(batch, i, locate);
      } else if (kind === KIND_END) {
        this.#end();
      } else if (kind === KIND_TEXT) {
        const node = this.#frameNode[this.#depth - 1];
        if ((flags & FLAG_WHITE_SPACE) !== 0 && node !== undefined && !node!.takesText) continue;
        const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
        this.#text.push(source, events[i * RECORD_INTS + 2]!, events[i * RECORD_INTS + 3]!);
      }
    }
  }

  /** Handles a START with its declarations and attributes; answers the index of its last record. */
  #start(batch: TokenBatch, at: number, locate: (recordIndex: number) => TextLocation): number {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const parentFrame = this.#depth - 1;
    let edge: PlanEdge | null;
    let position = 0;
    if (parentFrame < 0) {
      edge = this.#plan.rootEdge(nameId);
      if (edge === null) throw this.#unknownRoot(nameId, locate(at));
    } else {
      this.#closeTextRun(parentFrame);
      position = ++this.#framePosition[parentFrame]!;
      const parent = this.#frameNode[parentFrame]!;
      edge = this.#plan.childEdge(parent!.index, nameId);
      if (edge === null) {
        const left = this.#isIgnored(parent!, 'elements', nameId);
        return this.#captureElement(batch, at, left ? -1 : parent!.plan.wildcardTable, position);
      }
      const target = this.#plan.nodes[edge.node]!;
      if (target.seenSlot >= 0 && !this.#rows.mark(this.#frameRow[parentFrame]!, target.seenSlot)) {
        // the model has room for one; the second is kept whole beside the data
        return this.#captureElement(batch, at, -1, position);
      }
    }
    return this.#open(batch, at, edge, parentFrame, position);
  }

  #open(batch: TokenBatch, at: number, edge: PlanEdge, parentFrame: number, position: number): number {
    const { events, count } = batch;
    let last = at;
    this.#growFrames();
    this.#scopeMarks[this.#depth] = this.#scope.length;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) {
      last += 1;
      this.#scope.push([this.#names.localName(events[last * RECORD_INTS + 1]!), rangeText(batch, last)]);
    }
    const firstAttribute = last + 1;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE) last += 1;

    let node = this.#plan.nodes[edge.node]!;
    let row: number;
    let rowCount = 0;
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
      row = this.#frameRow[parentFrame]!;
      if (node.plan.presenceColumn >= 0) this.#rows.setTrue(row, node.plan.presenceColumn);
      if (node.plan.foldedPositionColumn >= 0)
        this.#rows.setInteger(row, node.plan.foldedPositionColumn, position);
    }
    if (node.plan.elementNameColumn >= 0) {
      this.#rows.setAscii(row, node.plan.elementNameColumn, this.#label(events[at * RECORD_INTS + 1]!));
    }
    const frame = this.#depth;
    this.#frameName[frame] = events[at * RECORD_INTS + 1]!;
    this.#framePosition[frame] = 0;
    this.#frameNil[frame] = 0;
    this.#frameNode[frame] = node;
    this.#frameRow[frame] = row;
    this.#depth += 1;
    let typed = -1;
    for (let i = firstAttribute; i <= last; i += 1)
      if (events[i * RECORD_INTS + 1] === this.#xsi.type) typed = i;
    // a model inferred without an XSD knows xsi:type as an attribute like any other
    if (typed >= 0 && this.#plan.attributeColumn(node.index, this.#xsi.type) >= 0) typed = -1;
    if (typed >= 0) {
      const typeEdge = this.#typeEdge(node, rangeText(batch, typed));
      if (node.plan.typeNameColumn >= 0)
        this.#rows.setAscii(row, node.plan.typeNameColumn, this.#typeLabel(batch, typed));
      else this.#unmappedAttribute(batch, typed, row);
      if (typeEdge !== undefined) {
        node = this.#plan.nodes[typeEdge.node]!;
        if (typeEdge.parentKeyColumn >= 0) {
          this.#frameRow[frame] = row;
          row = this.#openSubtypeRow(node, typeEdge.parentKeyColumn, row);
          rowCount += 1;
        }
        this.#frameNode[frame] = node;
        this.#frameRow[frame] = row;
      }
    }
    this.#frameRowCount[frame] = rowCount;
    for (let i = firstAttribute; i <= last; i += 1) if (i !== typed) this.#attribute(batch, i, node, row);
    this.#text.length = 0;
    return last;
  }

  #openRow(node: CompiledNode, parentKeyColumn: number, parentFrame: number, position: number): number {
    const { table } = node;
    const key = ++this.#lastKeys[table.index]!;
    const row = this.#rows.open(table, key);
    if (parentFrame < 0) {
      if (table.documentColumn >= 0) this.#rows.setInteger(row, table.documentColumn, this.#documentKey);
    } else {
      if (parentKeyColumn >= 0)
        this.#rows.setInteger(row, parentKeyColumn, this.#rows.key(this.#frameRow[parentFrame]!));
      if (table.positionColumn >= 0) this.#rows.setInteger(row, table.positionColumn, position);
    }
    return row;
  }

  #openSubtypeRow(node: CompiledNode, parentKeyColumn: number, headRow: number): number {
    const key = ++this.#lastKeys[node.table.index]!;
    const row = this.#rows.open(node.table, key);
    this.#rows.setInteger(row, parentKeyColumn, this.#rows.key(headRow));
    return row;
  }

  #attribute(batch: TokenBatch, at: number, node: CompiledNode, row: number): void {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const column = this.#plan.attributeColumn(node.index, nameId);
    if (column >= 0) {
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
      const nil = rangeText(batch, at).trim();
      if (node.plan.nilColumn >= 0) {
        if (nil === 'true' || nil === '1') {
          this.#rows.setTrue(row, node.plan.nilColumn);
          this.#frameNil[this.#depth - 1] = 1;
        }
      } else this.#unmappedAttribute(batch, at, row);
      return;
    }
    if (this.#xsi.locations.has(nameId)) return;
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
    if (result === FITS) return;
    const table = this.#rows.table(row);
    if (result === MISFIT) {
      const text = new TextDecoder().decode(source.subarray(start, end));
      this.misfits.push({ table: table.index, column, rowKey: this.#rows.key(row), text });
      if (this.#options.widensInPlace) this.#rows.mark(row, column);
      else this.#rows.setRaw(row, column, source, start, end);
      this.drift.misfit(`${table.name}.${table.columns[column]!.name}`, text);
      return;
    }
    const text = source.subarray(start, end);
    this.output.side('lexical', [
      this.#documentKey,
      table.name,
      this.#rows.key(row),
      table.columns[column]!.name,
      result === EMPTY ? new Uint8Array(0) : text,
    ]);
  }

  #end(): void {
    const frame = this.#depth - 1;
    const node = this.#frameNode[frame]!;
    const row = this.#frameRow[frame]!;
    const { textColumn } = node.plan;
    if (textColumn >= 0) {
      if (this.#frameNil[frame] === 0 || this.#text.length > 0) {
        this.#value(row, textColumn, this.#text.bytes, 0, this.#text.length);
      }
      this.#text.length = 0;
    } else this.#closeTextRun(frame);
    this.#scope.length = this.#scopeMarks[frame]!;
    this.#depth = frame;
    for (let open = this.#frameRowCount[frame]!; open > 0; open -= 1) this.#closeRow();
  }

  #closeRow(): void {
    const row = this.#rows.top();
    const table = this.#rows.table(row);
    for (let i = 0; i < table.required.length; i += 1) {
      const column = table.required[i]!;
      if (this.#rows.isSet(row, column)) continue;
      const identity = table.index * 4096 + column;
      if (this.#relaxedSeen.has(identity)) continue;
      this.#relaxedSeen.add(identity);
      this.relaxed.push({ table: table.index, column });
    }
    this.#rows.close(this.#extra);
  }

  /** A run of text ends where a child starts or the element ends. */
  #closeTextRun(frame: number): void {
    const { length } = this.#text;
    if (length === 0) return;
    const node = this.#frameNode[frame]!;
    // a value's text goes on over a child that has no place in it
    if (node.plan.textColumn >= 0) return;
    const row = this.#frameRow[frame]!;
    if (node.plan.textTable >= 0) {
      this.#contentRow(node.plan.textTable, row, ++this.#framePosition[frame]!, this.#text.bytes, length);
    } else if (!isWhiteSpace(this.#text.bytes, length)) {
      this.#unmapped(
        'text',
        ++this.#framePosition[frame]!,
        this.#path(frame),
        this.#text.bytes.slice(0, length),
        row,
      );
    }
    this.#text.length = 0;
  }

  #contentRow(table: number, parentRow: number, position: number, content: Uint8Array, length: number): void {
    const compiled = this.#plan.tables[table]!;
    const parentKey = this.#rows.key(parentRow);
    const row = this.#rows.open(compiled, ++this.#lastKeys[table]!);
    this.#rows.setInteger(row, compiled.parentKeyColumn, parentKey);
    this.#rows.setInteger(row, compiled.positionColumn, position);
    this.#rows.setRaw(row, compiled.contentColumn, content, 0, length);
    this.#rows.close(this.#extra);
  }

  #captureElement(batch: TokenBatch, at: number, wildcardTable: number, position: number): number {
    this.#capturing = { wildcardTable, position };
    const scope = new Map(this.#scope.filter(([prefix]) => prefix !== ''));
    this.#growFrames();
    this.#frameName[this.#depth] = batch.events[at * RECORD_INTS + 1]!;
    return this.#capture.begin(batch, at, [...scope]);
  }

  #capturePart(batch: TokenBatch, at: number, kind: number): number {
    const { events } = batch;
    if (kind === KIND_START) return this.#capture.start(batch, at);
    if (kind === KIND_TEXT) {
      const source = (events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
      this.#capture.text(source, events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
      return at;
    }
    if (kind !== KIND_END || !this.#capture.end()) return at;
    const { wildcardTable, position } = this.#capturing!;
    this.#capturing = null;
    const { out } = this.#capture;
    const parent = this.#depth - 1;
    if (wildcardTable >= 0)
      this.#contentRow(wildcardTable, this.#frameRow[parent]!, position, out.bytes, out.length);
    else {
      const xpath = `${this.#path(parent)}/${this.#label(this.#frameName[this.#depth]!)}`;
      this.#unmapped('element', position, xpath, out.bytes.slice(0, out.length), this.#frameRow[parent]!);
    }
    return at;
  }

  #unmappedAttribute(batch: TokenBatch, at: number, row: number): void {
    const xpath = `${this.#path(this.#depth - 1)}/@${this.#label(batch.events[at * RECORD_INTS + 1]!)}`;
    this.#unmapped('attribute', 0, xpath, new TextEncoder().encode(rangeText(batch, at)), row);
  }

  /** Whether the plan leaves out the child or attribute of that name on purpose. */
  #isIgnored(node: CompiledNode, kind: 'elements' | 'attributes', nameId: number): boolean {
    const names = node.plan.ignored?.[kind] ?? [];
    return names.some((name) => this.#names.intern(name.namespaceUri, name.localName) === nameId);
  }

  /** The same for content of the innermost open element that found no place; its path ends with its name. */
  #isLeftOut(kind: 'element' | 'attribute' | 'text', xpath: string): boolean {
    const ignored = this.#frameNode[this.#depth - 1]?.plan.ignored;
    if (ignored === undefined) return false;
    if (kind === 'text') return ignored.text;
    if (kind === 'element' ? ignored.anyElement : ignored.anyAttribute) return true;
    const step = xpath.slice(xpath.lastIndexOf('/') + 1);
    return (kind === 'element' ? ignored.elements : ignored.attributes).some((name) => {
      const label = this.#label(this.#names.intern(name.namespaceUri, name.localName));
      return step === (kind === 'element' ? label : `@${label}`);
    });
  }

  #unmapped(
    kind: 'element' | 'attribute' | 'text',
    position: number,
    xpath: string,
    content: Uint8Array,
    row: number,
  ): void {
    if (this.#isLeftOut(kind, xpath)) {
      this.drift.ignore(xpath);
      return;
    }
    this.drift.unmapped(xpath, kind, content);
    if (this.#options.unmapped !== 'capture') return;
    const values = [
      this.#documentKey,
      this.#rows.table(row).name,
      this.#rows.key(row),
      position,
      xpath,
      kind,
      content,
    ];
    this.output.side('unmapped', values);
  }

  #typeEdge(node: CompiledNode, typeName: string): CompiledNode['plan']['typeEdges'][number] | undefined {
    const [prefix, local] = splitQName(typeName.trim());
    const uri = this.#scope.findLast(([known]) => known === prefix)?.[1] ?? '';
    return node.plan.typeEdges.find(
      (edge) => edge.name.localName === local && edge.name.namespaceUri === uri,
    );
  }

  /** The xsi:type as a clark name or local name: independent of the prefixes of one document. */
  #typeLabel(batch: TokenBatch, at: number): string {
    const [prefix, local] = splitQName(rangeText(batch, at).trim());
    const uri = this.#scope.findLast(([known]) => known === prefix)?.[1] ?? '';
    return this.#label(this.#names.intern(uri, local));
  }

  /** A name as paths show it: prefixed where its namespace is not the root's. */
  #label(nameId: number): string {
    let label = this.#typeLabels.get(nameId);
    if (label === undefined) {
      const uri = this.#names.namespaceUri(nameId);
      const local = this.#names.localName(nameId);
      const rootUri = this.#options.model.roots[0]?.name.namespaceUri ?? '';
      const prefix = Object.entries(this.#options.model.namespaces).find(([, bound]) => bound === uri)?.[0];
      label =
        uri === '' || uri === rootUri
          ? local
          : prefix === undefined
            ? `{${uri}}${local}`
            : `${prefix}:${local}`;
      this.#typeLabels.set(nameId, label);
    }
    return label;
  }

  #path(frame: number): string {
    let path = '';
    for (let i = 0; i <= frame; i += 1) path += `/${this.#label(this.#frameName[i]!)}`;
    return path;
  }

  #unknownRoot(nameId: number, place: TextLocation): InputError {
    const expected = this.rootNames.slice(0, 10).join(', ');
    return new InputError({
      code: 'unknown_root_element',
      severity: 'error',
      message: `the root element <${this.#label(nameId)}> is not in the schema, which knows ${expected}; give the schema it belongs to with -x, or --root`,
      file: this.#documentName,
      line: place.line,
      column: place.column,
    });
  }

  #growFrames(): void {
    if (this.#depth < this.#frameRow.length) return;
    const size = this.#frameRow.length * 2;
    const grow = (old: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(size);
      grown.set(old);
      return grown;
    };
    this.#frameRow = grow(this.#frameRow);
    this.#framePosition = grow(this.#framePosition);
    this.#frameName = grow(this.#frameName);
    this.#frameRowCount = grow(this.#frameRowCount);
    this.#scopeMarks = grow(this.#scopeMarks);
    const nil = new Uint8Array(size);
    nil.set(this.#frameNil);
    this.#frameNil = nil;
  }
}

function splitQName(name: string): [prefix: string, local: string] {
  const colon = name.indexOf(':');
  return colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)];
}

function isWhiteSpace(bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i += 1) {
    const byte = bytes[i]!;
    if (byte !== 32 && byte !== 9 && byte !== 10 && byte !== 13) return false;
  }
  return true;
}
