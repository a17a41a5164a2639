/**
 * Handles attributes: writes them to their columns, interprets those that XSD allows on every element (XSD Part 1 §2.6), or keeps them
 * beside the data.
 */
import { clarkName, isSameName, type QName } from '../../model/source-model.ts';
import { allowsNamespace } from '../../model/wildcard-namespaces.ts';
import { RECORD_INTS, type TextLocation, type TokenBatch } from '../../xml/tokens.ts';
import type { CompiledNode, CompiledPlan } from '../compiled-plan.ts';
import {
  FRAME_NIL,
  FRAME_NODE,
  FRAME_ROW,
  FRAME_ROW_COUNT,
  FRAME_SHOWN,
  FRAME_SPACE,
  spaceOf,
  type ShredState,
} from '../open-elements.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import { rangeText, sourceOf } from '../xml-capture.ts';
import type { ColumnValues } from './column-values.ts';
import type { WalkContext, XsiNames } from './context.ts';
import type { ElementRows } from './element-rows.ts';
import type { KernelTurns } from './kernel-turns.ts';
import type { UnmappedContent } from './unmapped-content.ts';

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
