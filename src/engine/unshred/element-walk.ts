/**
 * Writes the elements of a document from their rows. The open elements are in frames instead of the call stack, so that the walk can wait
 * for rows anywhere, and elements may nest deeper than calls.
 */
import { InputError } from '../diagnostics.ts';
import {
  hangsFrom,
  positionOf,
  type ChildAtHead,
  childAtHead,
  type RowKey,
  type TableHeads,
} from './rows/children.ts';
import type { KeptElement, KeptItem, RowReader, CurrentRow } from './rows/reader.ts';
import { type OwnDeclarations, type XmlOutput, escapeAttribute } from './xml-output.ts';
import { cellIs, cellNumber, cellText, isNull, textOf, utf8Of, type RowBytes } from './rows/values.ts';
import type {
  ContentTable,
  FoldedChild,
  RowChild,
  RowGroup,
  WritingNode,
  WritingPlan,
} from './writing-plan.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { holdsNames } from '../model/source-model.ts';

interface PlacedChild {
  readonly position: number;
  readonly child: FoldedChild;
}

const noTag: Uint8Array = new Uint8Array(0);
const noItems: readonly KeptItem[] = [];
const nonePlaced: readonly PlacedChild[] = [];

/** An element whose start tag is written and whose content follows. Frames are reused. */
class Frame {
  tag = noTag;
  node: WritingNode;
  row: CurrentRow;
  /** labels of folded elements below the row's own, as in KeptContent */
  path = '';
  depth = 0;
  kept: KeptElement | undefined = undefined;
  items = noItems;
  /** folded children with a known position, by position, and those that may be at any free position */
  placed = nonePlaced;
  free: readonly FoldedChild[] = [];
  nextItem = 0;
  nextPlaced = 0;
  nextFree = 0;
  /** the next position */
  expected = 1;
  /** position of the last row */
  last = 0;
  readonly next = new NextChild();

  constructor(node: WritingNode, row: CurrentRow) {
    this.node = node;
    this.row = row;
  }
}

type Wait = Promise<void> | undefined;

/** value of a presence column */
const yes = utf8Of('true');

export class ElementWalk {
  readonly #plan: WritingPlan;
  readonly #reader: RowReader;
  readonly #out: XmlOutput;
  readonly #frames: Frame[] = [];
  #open = 0;
  /** namespaces that the present start tag has to declare */
  readonly #own: OwnDeclarations = new Map();

  constructor(plan: WritingPlan, reader: RowReader, out: XmlOutput) {
    this.#plan = plan;
    this.#reader = reader;
    this.#out = out;
  }

  /** True if a row of a block with these cells belongs to an open element. */
  isOpen(cells: Int32Array): boolean {
    for (let at = 0; at < this.#open; at += 1) if (this.#frames[at]!.row.cells === cells) return true;
    return false;
  }

  /** Writes the root element, whose row is the next one, and all its content. */
  async root({ group, child }: ChildAtHead): Promise<void> {
    this.#open = 0;
    await this.#rowElement(group, child, 1);
    while (this.#open > 0) {
      const wait = this.#goOn(this.#frames[this.#open - 1]!);
      if (wait !== undefined) await wait;
      // needed even if each row must be awaited, as is the case for long rows
      const taken = this.#out.drain();
      if (taken !== undefined) await taken;
    }
  }

  /** Reads the next row of the group's table. `depth`: depth of the element; the root's is 1. */
  #rowElement(group: RowGroup, child: RowChild, depth: number): Wait {
    const isPlain = depth > 1 && !this.#plan.namespaces.content.renames;
    if (isPlain && this.#reader.writePlain(group.table, child, this.#out)) return undefined;
    return this.#rowOf(child, this.#reader.take(group.table, depth), depth);
  }

  #rowOf(child: RowChild, row: CurrentRow | Promise<CurrentRow>, depth: number): Wait {
    if (child.ownParentKeyColumn >= 0 || row instanceof Promise)
      return this.#awaitedElement(child, row, depth);
    return this.#element(child.tag, child.node, row, '', depth);
  }

  async #awaitedElement(
    child: RowChild,
    taken: CurrentRow | Promise<CurrentRow>,
    depth: number,
  ): Promise<void> {
    let row = await taken;
    if (child.ownParentKeyColumn >= 0) {
      const { table } = this.#plan.node(child.node).plan;
      row = await this.#takeHanging(table, child.ownParentKeyColumn, row, depth);
    }
    await this.#element(child.tag, child.node, row, '', depth);
  }

  /** The row that belongs to `head` one to one. */
  async #takeHanging(table: number, column: number, head: CurrentRow, depth: number): Promise<CurrentRow> {
    await this.#reader.open([table]);
    const next = this.#reader.head(table);
    if (next === null || !hangsFrom(next, column, head)) {
      const [stray] = this.#reader.strays?.hanging(table, column, keyText(head)) ?? [];
      if (stray !== undefined) return this.#reader.takeStray(stray, depth);
      const { name } = this.#plan.model.tables[table]!;
      const { name: columnName } = this.#plan.columns(table)[column]!.column;
      const key = keyText(head);
      throw new InputError({
        code: 'missing_rows',
        severity: 'error',
        message: `${name} has no row with ${columnName} ${key}, which other rows refer to`,
      });
    }
    return this.#reader.take(table, depth);
  }

  /** Begins an element whose values are in `row`, and ends it if its only content is in columns. */
  #element(tag: Uint8Array, nodeIndex: number, row: CurrentRow, path: string, depth: number): Wait {
    const node = this.#plan.node(nodeIndex);
    const typeLabel = cellText(row, node.plan.typeNameColumn);
    const kept = row.kept?.get(path);
    if (typeLabel === null) {
      this.#start(tag, depth, kept?.namespaces);
      return this.#content(tag, node, row, path, depth);
    }
    const edge = node.types.get(typeLabel);
    if (edge === undefined || edge.parentKeyColumn < 0) {
      this.#start(tag, depth, kept?.namespaces);
      this.#typeAttribute(typeLabel);
      return this.#content(tag, edge === undefined ? node : this.#plan.node(edge.node), row, path, depth);
    }
    const derived = this.#plan.node(edge.node);
    return this.#takeHanging(derived.plan.table, edge.parentKeyColumn, row, depth).then((hanging) => {
      const others = hanging.kept?.get(path)?.namespaces;
      const both = kept === undefined ? others : new Map([...kept.namespaces, ...(others ?? [])]);
      this.#start(tag, depth, both);
      this.#typeAttribute(typeLabel);
      if (kept !== undefined) this.#out.attributes(keptAttributesOf(this.#plan, kept, this.#own));
      return this.#content(tag, derived, hanging, path, depth);
    });
  }

  /** Begins the start tag, with the namespaces that the root and the element's content declare. */
  #start(tag: Uint8Array, depth: number, namespaces: ReadonlyMap<string, string> | undefined): void {
    if (this.#own.size > 0) this.#own.clear();
    const { content, declarations } = this.#plan.namespaces;
    const declared =
      namespaces === undefined || namespaces.size === 0
        ? depth === 1
          ? declarations
          : ''
        : content.bind(namespaces, depth === 1);
    this.#out.start(tag);
    this.#out.attributes(declared);
  }

  #typeAttribute(typeLabel: string): void {
    const { namespaces, typeAttribute } = this.#plan;
    const name = namespaces.content.name(typeAttribute);
    this.#out.attributes(attribute(name, typeNameOf(this.#plan, typeLabel, this.#own)));
  }

  /** Writes the rest of an element whose start tag is begun. */
  #content(tag: Uint8Array, node: WritingNode, row: CurrentRow, path: string, depth: number): Wait {
    const out = this.#out;
    const own = this.#own;
    const kept = row.kept?.get(path);
    writeAttributes(out, this.#plan, node, row, own);
    if (kept !== undefined) out.attributes(keptAttributesOf(this.#plan, kept, own));
    const { textColumn } = node.plan;
    const isValue = textColumn >= 0 && (kept === undefined || kept.items.length === 0);
    // before the start tag ends, because it declares the namespaces that the value uses
    const text =
      isValue && isKept(this.#plan, node, row, textColumn)
        ? valueOf(this.#plan, node, row, textColumn, own)
        : null;
    if (own.size > 0) for (const [uri, prefix] of own) out.attributes(attribute(`xmlns:${prefix}`, uri));
    if (text !== null) out.text(text);
    else if (isValue) writeCell(out, row, textColumn, 'text');
    else if (node.isFlat && row.kept === null) {
      // nothing is awaited, because no other rows are needed
      for (const child of node.folded)
        if (this.#isPresent(child, row, undefined, path))
          void this.#element(child.tag, child.node, row, '', 0);
    } else {
      const wait = this.#reader.open(node.tables);
      if (wait !== undefined) return wait.then(() => this.#push(tag, node, row, path, depth, kept));
      this.#push(tag, node, row, path, depth, kept);
      return undefined;
    }
    out.end(tag);
    return undefined;
  }

  #push(
    tag: Uint8Array,
    node: WritingNode,
    row: CurrentRow,
    path: string,
    depth: number,
    kept: KeptElement | undefined,
  ): void {
    const { placed, free } =
      node.isFree && kept === undefined
        ? { placed: nonePlaced, free: node.folded }
        : foldedChildren(node, row, kept);
    const frame = (this.#frames[this.#open] ??= new Frame(node, row));
    this.#open += 1;
    frame.tag = tag;
    frame.node = node;
    frame.row = row;
    frame.path = path;
    frame.depth = depth;
    frame.kept = kept;
    frame.items = kept?.items ?? noItems;
    frame.placed = placed;
    frame.free = free;
    frame.nextItem = frame.nextPlaced = frame.nextFree = 0;
    frame.expected = 1;
    frame.last = 0;
    frame.next.begin(node.groups);
  }

  /**
   * Writes the next content of an element: children by position. Folded children without a position fill the gaps, in the order of the
   * plan.
   */
  #goOn(frame: Frame): Wait {
    const reader = this.#reader;
    const { node, row, items, placed } = frame;
    frame.next.find(reader, node.groups, row);
    const { child } = frame.next;
    let { position, group } = frame.next;
    let content: ContentTable | null = null;
    for (const candidate of node.contents) {
      const head = reader.head(candidate.table);
      if (head === null || !hangsFrom(head, candidate.parentKeyColumn, row)) continue;
      const at = positionOf(head, candidate.positionColumn);
      if (at >= position) continue;
      position = at;
      group = null;
      content = candidate;
    }
    if (position < frame.last) {
      // the positions give another order: a row is not at the place where it must be written
      reader.block(group?.table ?? content!.table);
      return this.#goOn(frame);
    }
    const stray = reader.strays === null ? null : this.#strayIn(frame, position);
    if (stray !== null) position = stray.position;
    const item = items[frame.nextItem];
    const known = placed[frame.nextPlaced];
    const besides = Math.min(item?.position ?? Infinity, known?.position ?? Infinity);
    if (Math.min(position, besides) > frame.expected) {
      const folded = this.#nextFree(frame);
      if (folded !== null) return this.#foldedElement(folded, frame);
    }
    if (besides < position) {
      frame.expected = besides + 1;
      if (item === undefined || item.position !== besides) {
        frame.nextPlaced += 1;
        return this.#foldedElement(known!.child, frame);
      }
      if (item.kind === 'text') this.#out.text(item.content);
      else this.#out.markup(item.content);
      frame.nextItem += 1;
      return undefined;
    }
    frame.expected = position + 1;
    if (position < Infinity) frame.last = position;
    if (stray !== null) return stray.write();
    if (group !== null) return this.#rowElement(group, child!, frame.depth + 1);
    if (content !== null) return this.#contentRow(content);
    this.#out.end(frame.tag);
    this.#open -= 1;
    return undefined;
  }

  /** Returns the next row of the element among the rows stored elsewhere, if it precedes all others. */
  #strayIn({ node, row, depth }: Frame, before: number): { position: number; write: () => Wait } | null {
    const strays = this.#reader.strays!;
    let first: { position: number; write: () => Wait } | null = null;
    const offer = (position: number, write: () => Wait): void => {
      if (position < (first?.position ?? before)) first = { position, write };
    };
    for (const group of node.groups) {
      const found = strays.childOf(group, row, row);
      if (found !== null)
        offer(found.position, () =>
          this.#rowOf(found.child, this.#reader.takeStray(found.stray, depth + 1), depth + 1),
        );
    }
    for (const { table, kind, parentKeyColumn, positionColumn, contentColumn } of node.contents)
      for (const stray of strays.hanging(table, parentKeyColumn, keyText(row)))
        offer(positionOf(stray, positionColumn), () => {
          writeCell(this.#out, this.#reader.takeStray(stray, 0), contentColumn, kind);
          return undefined;
        });
    return first;
  }

  #nextFree(frame: Frame): FoldedChild | null {
    const { free, row, kept, path } = frame;
    while (frame.nextFree < free.length) {
      const child = free[frame.nextFree]!;
      frame.nextFree += 1;
      if (!this.#isPresent(child, row, kept, path)) continue;
      frame.expected += 1;
      return child;
    }
    return null;
  }

  #contentRow({ table, kind, contentColumn }: ContentTable): Wait {
    const row = this.#reader.take(table, 0);
    if (row instanceof Promise) return row.then((taken) => writeCell(this.#out, taken, contentColumn, kind));
    writeCell(this.#out, row, contentColumn, kind);
    return undefined;
  }

  #foldedElement(child: FoldedChild, { row, path, depth }: Frame): Wait {
    // the path is only needed if content is kept by it
    const own = row.kept === null && !this.#plan.hasHangingRows ? '' : `${path}/${child.label}`;
    return this.#element(child.tag, child.node, row, own, depth + 1);
  }

  /** True if the row's element has a folded child without a known position. */
  #isPresent(child: FoldedChild, row: CurrentRow, kept: KeptElement | undefined, path: string): boolean {
    if (child.elementNameColumn >= 0) return true;
    if (child.presenceColumn >= 0 && cellIs(row, child.presenceColumn, yes, 0, yes.length)) return true;
    // rows of a version without such a column show it by their values
    const { columns, rows } = this.#plan.evidence(child.node);
    for (const column of columns) if (!isNull(row, column)) return true;
    for (const { table, parentKeyColumn, role } of rows) {
      const head = this.#reader.head(table);
      if (this.#reader.strays !== null && parentKeyColumn >= 0)
        for (const stray of this.#reader.strays.hanging(table, parentKeyColumn, keyText(row)))
          if (role === null || cellIs(stray, role.column, role.label, 0, role.label.length)) return true;
      if (head === null || parentKeyColumn < 0 || !hangsFrom(head, parentKeyColumn, row)) continue;
      if (role === null || cellIs(head, role.column, role.label, 0, role.label.length)) return true;
    }
    if (kept !== undefined && row.kept!.has(`${path}/${child.label}`)) return true;
    if (row.lexical === null) return false;
    const own = this.#plan.columns(this.#plan.node(child.node).plan.table);
    return columns.some((column) => row.lexical!.has(own[column]!.column.name));
  }
}

function keyText({ bytes, keyFrom, keyTo }: CurrentRow): string {
  return textOf(bytes, keyFrom, keyTo);
}

/** Returns the folded children with a known position, by position, and those that may be at any free position. */
function foldedChildren(
  node: WritingNode,
  row: CurrentRow,
  kept: KeptElement | undefined,
): { placed: PlacedChild[]; free: FoldedChild[] } {
  const placed: PlacedChild[] = [];
  const free: FoldedChild[] = [];
  for (const child of node.folded) {
    const { elementNameColumn, labelBytes, positionColumn } = child;
    if (elementNameColumn >= 0 && !cellIs(row, elementNameColumn, labelBytes, 0, labelBytes.length)) continue;
    const isTold = positionColumn >= 0 && !isNull(row, positionColumn);
    const position = isTold ? cellNumber(row, positionColumn) : kept?.positions.get(child.label);
    if (position !== undefined) placed.push({ position, child });
    // rows of a version without the column do not have the position
    else free.push(child);
  }
  placed.sort((a, b) => a.position - b.position);
  return { placed, free };
}

// Writes the values of a row in the forms of a document: attributes, text, names with their prefixes.

/** Writes the attributes that an element's row has into the open start tag. */
function writeAttributes(
  out: XmlOutput,
  plan: WritingPlan,
  node: WritingNode,
  row: CurrentRow,
  own: OwnDeclarations,
): void {
  const { nilColumn, anyAttributeColumn } = node.plan;
  if (nilColumn >= 0) writeAttribute(out, plan.nilAttribute, row, nilColumn);
  for (const { tag, column, isType } of node.attributes) {
    if (!isType && !isKept(plan, node, row, column)) {
      writeAttribute(out, tag, row, column);
      continue;
    }
    const value = valueOf(plan, node, row, column, own);
    if (value === null) continue;
    const bytes = utf8Of(isType ? typeNameOf(plan, value, own) : value);
    out.attribute(tag, bytes, 0, bytes.length);
  }
  if (anyAttributeColumn < 0 || isNull(row, anyAttributeColumn)) return;
  for (const line of cellText(row, anyAttributeColumn)!.split('\n')) {
    const [, uri, localName, value] = /^(?:\{(.*?)\})?([^=]+)="(.*)"$/s.exec(line)!;
    const name = plan.namespaces.nameWith({ namespaceUri: uri ?? '', localName: localName! }, own);
    // the value is escaped as markup already
    out.attributes(` ${name}="${value!.replaceAll('<', '&lt;').replaceAll('\t', '&#9;')}"`);
  }
}

/** Writes the content of a cell, as text or as separate XML text. */
function writeCell(
  out: XmlOutput,
  { bytes, cells, at }: RowBytes,
  column: number,
  kind: 'text' | 'wildcard',
): void {
  const from = cells[at + column * 2]!;
  const to = cells[at + column * 2 + 1]!;
  if (kind === 'text') {
    if (from >= 0) out.value(bytes, from, to);
  } else out.markupBytes(bytes, Math.max(from, 0), from < 0 ? 0 : to);
}

function writeAttribute(
  out: XmlOutput,
  name: Uint8Array,
  { bytes, cells, at }: RowBytes,
  column: number,
): void {
  const from = cells[at + column * 2]!;
  if (from >= 0) out.attribute(name, bytes, from, cells[at + column * 2 + 1]!);
}

function keptAttributesOf(plan: WritingPlan, kept: KeptElement, own: OwnDeclarations): string {
  const { labels, namespaces } = plan;
  let result = '';
  for (const [label, content] of kept.attributes) {
    const name = labels.attributeOf(label) ?? { namespaceUri: '', localName: label };
    const isType = name.namespaceUri === xsiNamespace && name.localName === 'type';
    const value = isType && content.startsWith('{') ? typeNameOf(plan, content, own) : content;
    result += attribute(namespaces.nameWith(name, own), value);
  }
  return result;
}

/** Returns a QName for its label. A name whose prefix is not declared stays unchanged. */
function typeNameOf(plan: WritingPlan, label: string, own: OwnDeclarations): string {
  const name = plan.labels.typeOf(label);
  return name === null ? label : plan.namespaces.nameWith(name, own);
}

/** True if the value of a column is kept beside the row, as it was written. */
function isKept(plan: WritingPlan, node: WritingNode, { lexical }: CurrentRow, column: number): boolean {
  return lexical !== null && lexical.has(plan.columns(node.plan.table)[column]!.column.name);
}

/** The value of a column as it was written; null: absent. */
function valueOf(
  plan: WritingPlan,
  node: WritingNode,
  row: CurrentRow,
  column: number,
  own: OwnDeclarations,
): string | null {
  if (row.lexical === null) return cellText(row, column);
  const { name, sourceType } = plan.columns(node.plan.table)[column]!.column;
  const written = row.lexical.get(name);
  if (written === undefined) return cellText(row, column);
  if (!holdsNames(sourceType)) return written;
  const names = written.split(' ').map((item) => (item.startsWith('{') ? typeNameOf(plan, item, own) : item));
  return names.join(' ');
}

function attribute(name: string, value: string): string {
  return ` ${name}="${escapeAttribute(value)}"`;
}

// Finds the next row among the tables that hang from a row.

interface MovingHeads extends TableHeads {
  /** Returns a number that changes whenever the table moves to another row. */
  moves(table: number): number;
}

/**
 * Caches for each group how its next row relates to the parent, while the group's table stays at that row. An element may have hundreds
 * of kinds of children, of which only one advances at a time. Reused for all elements.
 */
class NextChild {
  /** position of the child found last; Infinity if there is none */
  position = Infinity;
  group: RowGroup | null = null;
  child: RowChild | null = null;
  readonly #moves: number[] = [];
  readonly #positions: number[] = [];
  readonly #children: (RowChild | null)[] = [];

  /** Restarts for another parent. */
  begin(groups: readonly RowGroup[]): void {
    for (let at = 0; at < groups.length; at += 1) this.#moves[at] = -1;
  }

  /** Finds the one with the lowest position, of several the first. */
  find(reader: MovingHeads, groups: readonly RowGroup[], row: RowBytes & RowKey): void {
    let first = -1;
    let position = Infinity;
    for (let at = 0; at < groups.length; at += 1) {
      const { table } = groups[at]!;
      const moves = reader.moves(table);
      if (this.#moves[at] !== moves) {
        this.#moves[at] = moves;
        this.#look(reader, groups[at]!, at, row);
      }
      if (this.#children[at] === null || (first !== -1 && this.#positions[at]! >= position)) continue;
      first = at;
      position = this.#positions[at]!;
    }
    this.position = position;
    this.group = first === -1 ? null : groups[first]!;
    this.child = first === -1 ? null : this.#children[first]!;
  }

  #look(reader: MovingHeads, group: RowGroup, at: number, row: RowBytes & RowKey): void {
    const child = childAtHead(reader, group, row, row);
    this.#children[at] = child;
    this.#positions[at] =
      child === null ? Infinity : positionOf(reader.head(group.table)!, group.positionColumn);
  }
}
