/** Elements that the plan knows: their start opens rows or marks folded columns, their end closes both. */
import type { PlanEdge } from '../../model/relational-model.ts';
import { allowsNamespace } from '../../model/wildcard-namespaces.ts';
import {
  KIND_ATTRIBUTE,
  KIND_MASK,
  KIND_NAMESPACE,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
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
} from '../open-elements.ts';
import * as layout from '../kernel/layout.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import type { NamespaceScope } from '../values/namespace-scope.ts';
import { rangeText } from '../xml-capture.ts';
import type { Attributes } from './attributes.ts';
import type { CapturedElements } from './captured-elements.ts';
import type { ContentPrefixes } from './content-prefixes.ts';
import type { WalkContext } from './context.ts';
import type { DocumentPaths } from './document-paths.ts';
import type { ElementRows } from './element-rows.ts';
import type { KernelTurns } from './kernel-turns.ts';
import type { TextRuns } from './text-runs.ts';
import type { UnmappedContent } from './unmapped-content.ts';

/** Steps that the start and the end of an element call on. */
export interface ElementSteps {
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
