/** Elements that the plan knows: their start opens rows or marks folded columns, their end closes both. */
import * as layout from '../kernel/layout.ts';
import type { PlanEdge } from '../../model/relational-model.ts';
import { allowsNamespace, clarkName, isSameName, type QName } from '../../model/source-model.ts';
import {
  KIND_ATTRIBUTE,
  KIND_MASK,
  KIND_NAMESPACE,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
  KIND_END,
  KIND_START,
  KIND_TEXT,
} from '../../xml/tokens.ts';
import type { CompiledNode, CompiledPlan } from '../compiled-plan.ts';
import {
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
  FRAME_SPACE,
  type ShredState,
  spaceOf,
} from '../open-elements.ts';
import type { OpenRows } from '../open-rows.ts';
import type { NamespaceScope } from '../namespace-scope.ts';
import { rangeText, sourceOf, XmlCapture } from '../xml-capture.ts';
import type { ContentPrefixes } from './content-prefixes.ts';
import type { WalkContext, XsiNames } from './context.ts';
import type { DocumentPaths } from './document-paths.ts';
import type { ElementRows } from './element-rows.ts';
import type { KernelTurns } from './kernel-turns.ts';
import type { TextRuns, ColumnValues } from './text-runs.ts';
import type { UnmappedContent } from './unmapped-content.ts';
import type { InputError } from '../../diagnostics.ts';
import { htmlPage, isHtmlPage, isXsdRoot, unknownRoot } from '../open-document.ts';

/** Steps that the start and the end of an element call on. */
interface ElementSteps {
  readonly elementRows: ElementRows;
  readonly unmapped: UnmappedContent;
  readonly turns: KernelTurns;
  readonly text: TextRuns;
  readonly attributes: Attributes;
  readonly captured: CapturedElements;
}

export class Elements {
  readonly #context: WalkContext;
  readonly #plan: CompiledPlan;
  readonly #state: ShredState;
  readonly #rows: OpenRows;
  readonly #scope: NamespaceScope;
  readonly #names: NameTable;
  readonly #paths: DocumentPaths;
  readonly #prefixes: ContentPrefixes;
  readonly #elementRows: ElementRows;
  readonly #unmapped: UnmappedContent;
  readonly #turns: KernelTurns;
  readonly #text: TextRuns;
  readonly #attributes: Attributes;
  readonly #captured: CapturedElements;

  constructor(context: WalkContext, steps: ElementSteps) {
    this.#context = context;
    this.#plan = context.plan;
    this.#state = context.state;
    this.#rows = context.rows;
    this.#scope = context.scope;
    this.#names = context.names;
    this.#paths = context.paths;
    this.#prefixes = context.prefixes;
    this.#elementRows = steps.elementRows;
    this.#unmapped = steps.unmapped;
    this.#turns = steps.turns;
    this.#text = steps.text;
    this.#attributes = steps.attributes;
    this.#captured = steps.captured;
  }

  /** Handles a START with its declarations and attributes. Returns the index of its last record. */
  start(batch: TokenBatch, at: number, locate: (recordIndex: number) => TextLocation): number {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const state = this.#state;
    const parentFrame = state.depth - 1;
    if (parentFrame < 0) {
      const root = this.#plan.rootEdge(nameId);
      if (root === null) return this.#captured.beginRoot(batch, at, locate(at));
      this.#learn(layout.ROOT_NODE, nameId, root);
      return this.#open(batch, at, root, parentFrame, 0, locate);
    }
    this.#text.closeRun(parentFrame);
    const position = state.nextPosition(parentFrame);
    state.setFrame(parentFrame, FRAME_SHOWN, 1);
    const parent = this.#context.nodeOf(parentFrame);
    const edge = this.#plan.childEdge(parent.index, nameId);
    if (edge === null) {
      const left = this.#unmapped.isIgnored(parent, 'elements', nameId);
      return this.#captured.begin(batch, at, left ? -1 : this.#wildcardTable(parent, nameId), position);
    }
    const target = this.#plan.nodes[edge.node]!;
    this.#learn(parent.index, nameId, edge);
    // the model has room for one element: the second may match a wildcard, otherwise it is kept whole beside the data
    const row = state.frame(parentFrame, FRAME_ROW);
    const hasOne =
      edge.childKeyColumn === undefined
        ? target.seenSlot >= 0 && !this.#rows.mark(row, target.seenSlot)
        : this.#rows.isSet(row, edge.childKeyColumn);
    if (hasOne) return this.#captured.begin(batch, at, this.#wildcardTable(parent, nameId), position);
    return this.#open(batch, at, edge, parentFrame, position, locate);
  }

  #learn(parent: number, nameId: number, edge: PlanEdge): void {
    const { kernel } = this.#turns;
    if (kernel === null) return;
    const isNamed = edge.head !== undefined || this.#plan.nodes[edge.node]!.plan.elementNameColumn >= 0;
    kernel.learnElement(parent, nameId, edge, isNamed ? this.#labelOf(edge, nameId) : null);
  }

  /** -1: none that lets in an element of that name. */
  #wildcardTable({ plan }: CompiledNode, nameId: number): number {
    const { wildcardTable, anyElementNamespaces: namespaces } = plan;
    if (wildcardTable < 0 || namespaces === undefined) return wildcardTable;
    return allowsNamespace(namespaces, this.#names.namespaceUri(nameId)) ? wildcardTable : -1;
  }

  /** Handles the END of the innermost open element. */
  end(): void {
    const state = this.#state;
    const frame = state.depth - 1;
    const node = this.#context.nodeOf(frame);
    const { textColumn } = node.plan;
    if (textColumn >= 0) this.#text.endValue(frame, state.frame(frame, FRAME_ROW), textColumn);
    else this.#text.closeRun(frame);
    if (state.frame(frame, FRAME_SHOWN) === 0 && node.showsNothing) this.#unmapped.keepPosition(frame);
    this.#leaveScope(state.frame(frame, FRAME_SCOPE));
    state.depth = frame;
    for (let open = state.frame(frame, FRAME_ROW_COUNT); open > 0; open -= 1) this.#elementRows.close();
  }

  #leaveScope(size: number): void {
    if (this.#scope.size === size) return;
    this.#scope.leave(size);
    this.#prefixes.left();
  }

  #open(
    batch: TokenBatch,
    at: number,
    edge: PlanEdge,
    parentFrame: number,
    position: number,
    locate: (recordIndex: number) => TextLocation,
  ): number {
    const { events, count } = batch;
    const nameId = events[at * RECORD_INTS + 1]!;
    const state = this.#state;
    const frame = state.depth;
    let last = at;
    state.reserveFrame();
    state.setFrame(frame, FRAME_SCOPE, this.#scope.size);
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) {
      last += 1;
      this.#scope.declare(this.#names.localName(events[last * RECORD_INTS + 1]!), rangeText(batch, last));
    }
    if (last > at) this.#prefixes.declared();
    const firstAttribute = last + 1;
    while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE) last += 1;

    let node = this.#plan.nodes[edge.node]!;
    let row: number;
    let rowCount = 0;
    let misplaced = false;
    if (edge.head !== undefined) {
      row = this.#openMember(node, edge, edge.head, parentFrame, position, nameId);
      rowCount = 2;
    } else if (node.plan.opensRow) {
      row = this.#elementRows.open(node, edge, parentFrame, position);
      rowCount = 1;
    } else {
      row = state.frame(parentFrame, FRAME_ROW);
      if (node.plan.presenceColumn >= 0) this.#rows.setBoolean(row, node.plan.presenceColumn, true);
      if (node.plan.foldedPositionColumn >= 0)
        this.#rows.setInteger(row, node.plan.foldedPositionColumn, position);
      else if (node.index > state.frame(parentFrame, FRAME_LAST_FOLDED))
        state.setFrame(parentFrame, FRAME_LAST_FOLDED, node.index);
      else misplaced = true;
    }
    if (node.plan.elementNameColumn >= 0)
      this.#rows.setAscii(row, node.plan.elementNameColumn, this.#labelOf(edge, nameId));
    state.setFrame(frame, FRAME_NAME, nameId);
    state.setFrame(frame, FRAME_POSITION, 0);
    state.setFrame(frame, FRAME_NIL, 0);
    state.setFrame(frame, FRAME_SHOWN, 0);
    state.setFrame(frame, FRAME_ORDINAL, position);
    state.setFrame(frame, FRAME_LAST_FOLDED, -1);
    state.setFrame(frame, FRAME_NODE, node.index);
    state.setFrame(frame, FRAME_SPACE, this.#spaceOf(node, parentFrame));
    state.setFrame(frame, FRAME_ROW, row);
    state.setFrame(frame, FRAME_ROW_COUNT, rowCount);
    state.depth += 1;
    if (misplaced) this.#unmapped.keepPosition(frame);
    const typed = this.#attributes.findType(batch, firstAttribute, last, node);
    if (typed >= 0) {
      this.#attributes.applyType(batch, typed, node, frame, locate);
      node = this.#context.nodeOf(frame);
      row = state.frame(frame, FRAME_ROW);
    }
    for (let i = firstAttribute; i <= last; i += 1)
      if (i !== typed) this.#attributes.add(batch, i, node, row);
    this.#text.start();
    this.#turns.learnOpened(frame);
    return last;
  }

  /** Before the attributes of the element are known. */
  #spaceOf({ space }: CompiledNode, parentFrame: number): number {
    if (space >= 0) return space;
    if (parentFrame >= 0) return this.#state.frame(parentFrame, FRAME_SPACE);
    return this.#context.preservesSpace ? 1 : 0;
  }

  /** The rows of a member of a substitution group that has no table in common: its head's, and its own. */
  #openMember(
    node: CompiledNode,
    edge: PlanEdge,
    { node: headNode, parentKeyColumn }: NonNullable<PlanEdge['head']>,
    parentFrame: number,
    position: number,
    nameId: number,
  ): number {
    const head = this.#plan.nodes[headNode]!;
    const headRow = this.#elementRows.open(head, { parentKeyColumn }, parentFrame, position);
    this.#rows.setAscii(headRow, head.plan.elementNameColumn, this.#labelOf(edge, nameId));
    return this.#elementRows.openSubtype(node, edge.parentKeyColumn, headRow);
  }

  /** Returns the value of the column that names the element. */
  #labelOf({ role }: PlanEdge, nameId: number): string {
    return role ?? this.#paths.label(nameId);
  }
}

// Handles attributes: writes them to their columns, interprets those that XSD allows on every element (XSD Part 1 §2.6), or keeps them
// beside the data.

const utf8 = new TextEncoder();
const xmlSpace = ' \t\r\n';

export class Attributes {
  readonly #context: WalkContext;
  readonly #plan: CompiledPlan;
  readonly #state: ShredState;
  readonly #rows: OpenRows;
  readonly #xsi: XsiNames;
  readonly #values: ColumnValues;
  readonly #elementRows: ElementRows;
  readonly #unmapped: UnmappedContent;
  readonly #turns: KernelTurns;

  constructor(
    context: WalkContext,
    values: ColumnValues,
    elementRows: ElementRows,
    unmapped: UnmappedContent,
    turns: KernelTurns,
  ) {
    this.#context = context;
    this.#plan = context.plan;
    this.#state = context.state;
    this.#rows = context.rows;
    this.#xsi = context.xsi;
    this.#values = values;
    this.#elementRows = elementRows;
    this.#unmapped = unmapped;
    this.#turns = turns;
  }

  /** Handles the attribute at `at` of the innermost open element. */
  add(batch: TokenBatch, at: number, node: CompiledNode, row: number): void {
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    if (this.#xsi.locations.has(nameId)) return;
    this.#state.setFrame(this.#state.depth - 1, FRAME_SHOWN, 1);
    if (nameId === this.#context.xmlSpace) this.#setSpace(rangeText(batch, at));
    const column = this.#plan.attributeColumn(node.index, nameId);
    if (column < 0) {
      this.#addOther(batch, at, node, row);
      return;
    }
    if (nameId === this.#xsi.type) {
      this.#addTypeAsValue(batch, at, row, column);
      return;
    }
    this.#turns.kernel?.learnAttribute(node.index, nameId, column);
    const { events } = batch;
    this.#values.set(
      row,
      column,
      sourceOf(batch, at),
      events[at * RECORD_INTS + 2]!,
      events[at * RECORD_INTS + 3]!,
    );
  }

  #setSpace(value: string): void {
    const space = spaceOf(value);
    if (space >= 0) this.#state.setFrame(this.#state.depth - 1, FRAME_SPACE, space);
  }

  /** The xsi:type among the records from `first` to `last` that may lead to another type's columns; -1 for none. */
  findType(batch: TokenBatch, first: number, last: number, node: CompiledNode): number {
    let typed = -1;
    for (let i = first; i <= last; i += 1)
      if (batch.events[i * RECORD_INTS + 1] === this.#xsi.type) typed = i;
    // in a model inferred without an XSD, xsi:type is an ordinary attribute
    return typed >= 0 && this.#plan.attributeColumn(node.index, this.#xsi.type) >= 0 ? -1 : typed;
  }

  /** The element at `frame` is of the type that the xsi:type at `at` names: its node and row become those of that type. */
  applyType(
    batch: TokenBatch,
    at: number,
    node: CompiledNode,
    frame: number,
    locate: (recordIndex: number) => TextLocation,
  ): void {
    const state = this.#state;
    const row = state.frame(frame, FRAME_ROW);
    const typeName = this.#context.scope.resolve(trimmed(rangeText(batch, at)));
    const typeEdge = typeName === null ? undefined : typeEdgeOf(node, typeName);
    if (node.plan.typeNameColumn >= 0 && typeName !== null)
      this.#rows.setAscii(row, node.plan.typeNameColumn, this.#context.labels.type(typeName));
    else if (typeName === null) this.#unmapped.addAttribute(batch, at, row);
    else this.#keepType(typeName, row);
    state.setFrame(frame, FRAME_SHOWN, 1);
    if (typeEdge === undefined) {
      if (typeName !== null) this.#noteType(typeName, frame, () => locate(at));
      return;
    }
    const target = this.#plan.nodes[typeEdge.node]!;
    state.setFrame(frame, FRAME_NODE, target.index);
    if (typeEdge.parentKeyColumn < 0) return;
    state.setFrame(frame, FRAME_ROW, this.#elementRows.openSubtype(target, typeEdge.parentKeyColumn, row));
    state.setFrame(frame, FRAME_ROW_COUNT, state.frame(frame, FRAME_ROW_COUNT) + 1);
  }

  #noteType(typeName: QName, frame: number, locate: () => TextLocation): void {
    const { deviations, documentName, paths } = this.#context;
    deviations.namedType(paths.element(frame), typeName, () => {
      const { line, column } = locate();
      return `${documentName}: line ${line}, column ${column}`;
    });
  }

  /**
   * Keeps an xsi:type that changes nothing because no type has columns of its own. It is kept with its namespace, `{uri}local`, and is
   * not a deviation. Content that only a wrong type allows is itself a deviation.
   */
  #keepType(typeName: QName, row: number): void {
    this.#unmapped.keep(
      'attribute',
      0,
      this.#context.paths.attribute(this.#xsi.type),
      clarkName(typeName),
      row,
    );
  }

  /** Writes xsi:type to a column like any other attribute: the label of the type, regardless of the document's prefix for it. */
  #addTypeAsValue(batch: TokenBatch, at: number, row: number, column: number): void {
    const { labels, scope } = this.#context;
    const written = rangeText(batch, at);
    const typeName = scope.resolve(trimmed(written));
    // an invalid type name may look like the label of a valid one
    if (typeName === null && labels.typeOf(written) !== null) {
      this.#unmapped.addAttribute(batch, at, row);
      return;
    }
    const label = utf8.encode(typeName === null ? written : labels.type(typeName));
    this.#values.set(row, column, label, 0, label.length);
  }

  #meetPrefixes(batch: TokenBatch, at: number): void {
    const { prefixes } = this.#context;
    const [start, end] = [batch.events[at * RECORD_INTS + 2]!, batch.events[at * RECORD_INTS + 3]!];
    if (prefixes.wanted.length > 0) prefixes.meet(this.#unmapped, sourceOf(batch, at), start, end);
  }

  /** Handles an attribute without a column. */
  #addOther(batch: TokenBatch, at: number, node: CompiledNode, row: number): void {
    const { names } = this.#context;
    const nameId = batch.events[at * RECORD_INTS + 1]!;
    const { nilColumn, anyAttributeColumn, anyAttributeNamespaces = '##any' } = node.plan;
    if (nameId === this.#xsi.nil) {
      const nil = { true: true, 1: true, false: false, 0: false }[trimmed(rangeText(batch, at))];
      if (nilColumn < 0 || nil === undefined) this.#unmapped.addAttribute(batch, at, row);
      else this.#rows.setBoolean(row, nilColumn, nil);
      if (nil === true) this.#state.setFrame(this.#state.depth - 1, FRAME_NIL, 1);
      return;
    }
    this.#meetPrefixes(batch, at);
    const uri = names.namespaceUri(nameId);
    const isLetIn = anyAttributeColumn >= 0 && allowsNamespace(anyAttributeNamespaces, uri);
    if (isLetIn && !this.#unmapped.isIgnored(node, 'attributes', nameId)) {
      const name = uri === '' ? names.localName(nameId) : `{${uri}}${names.localName(nameId)}`;
      this.#rows.appendAnyAttribute(row, anyAttributeColumn, name, rangeText(batch, at));
    } else this.#unmapped.addAttribute(batch, at, row);
  }
}

/** Returns the text without white space around it, as defined by XSD. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && xmlSpace.includes(text[start]!)) start += 1;
  while (start < end && xmlSpace.includes(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

function typeEdgeOf(node: CompiledNode, name: QName): CompiledNode['plan']['typeEdges'][number] | undefined {
  return node.plan.typeEdges.find((edge) => isSameName(edge.name, name));
}

// Captures elements as XML: for wildcards if the plan has no element of that name, and for documents of another kind.

/** The most bytes of a document that is kept whole because its root is not one of the model's. It is in memory until it ends. */
const longestRoot = 32 * 1024 * 1024;
const tooLongToKeep = `, and it is too long to be stored as a whole: more than ${longestRoot >> 20} MiB`;

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
