/**
 * Rows to documents (docs/decisions/loading/nothing-lost.md): walks the mapping plan with the rows and writes what they came from. Memory: the rows on the
 * path to the present element, and the next row of each table.
 */
import { InputError } from '../diagnostics.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { DocumentRows, RowValues } from './document-rows.ts';
import {
  attribute,
  attributesOf,
  keptAttributesOf,
  typeNameOf,
  valueOf,
  type ElementRow,
} from './attributes.ts';
import { indexKeptContent, type KeptElement } from './kept-content.ts';
import type { OwnDeclarations } from './output-namespaces.ts';
import { RowReader } from './row-reader.ts';
import {
  createWritingPlan,
  type ContentTable,
  type FoldedChild,
  type RowChild,
  type RowGroup,
  type WritingNode,
  type WritingPlan,
} from './writing-plan.ts';
import { XmlOutput, type ByteConsumer } from './xml-output.ts';

export interface DocumentWriter {
  /** Whether the next rows hold this document: false where it was loaded by another model. */
  has(documentKey: string): Promise<boolean>;
  /**
   * Writes the document of that key; `rows` are to stand at its first row, or at rows of documents before it that have been written.
   * Answers its size in bytes. InputError `missing_rows` or `unplaced_rows` where the rows do not make up a document.
   */
  write(documentKey: string, consume: ByteConsumer): Promise<number>;
  /** rows taken so far, by table of the model */
  readonly rowCounts: Float64Array;
}

export function createDocumentWriter(model: RelationalModel, rows: DocumentRows): DocumentWriter {
  const plan = createWritingPlan(model);
  const reader = new RowReader(model, rows);
  return {
    rowCounts: reader.rowCounts,
    has: async (documentKey) =>
      (await findRoot(plan, reader, documentKey)) !== null ||
      (await reader.wholeDocument(documentKey)) !== null,
    async write(documentKey, consume) {
      const output = new XmlOutput(consume);
      await new Writing(plan, reader, output).document(documentKey);
      await output.flush();
      await reader.checkAllTaken(documentKey);
      return output.bytes;
    },
  };
}

async function findRoot(
  plan: WritingPlan,
  reader: RowReader,
  documentKey: string,
): Promise<{ group: RowGroup; child: RowChild } | null> {
  for (const group of plan.roots) {
    await reader.open([group.table]);
    const child = childAtHead(reader, group, documentKey);
    if (child !== null) return { group, child };
  }
  return null;
}

/** The child that the next row of a table makes of the row with this key; null: that row belongs elsewhere. */
function childAtHead(reader: RowReader, group: RowGroup, parentKey: string): RowChild | null {
  const head = reader.head(group.table);
  if (head === null) return null;
  for (const use of group.uses) {
    if (head[use.parentKeyColumn] !== parentKey) continue;
    if (use.otherParents.some((column) => (head[column] ?? null) !== null)) continue;
    if (use.elementNameColumn < 0) return use.children[0]!;
    const label = head[use.elementNameColumn];
    return use.children.find((child) => child.label === label) ?? use.children[0]!;
  }
  return null;
}

/** An element whose start tag is begun: what is to follow in it, and where it stands. */
interface BegunElement {
  readonly row: ElementRow;
  readonly path: string;
  readonly depth: number;
  readonly own: OwnDeclarations;
  readonly start: string;
}

/** depth at which the stack of calls is left behind */
const restEvery = 200;

class Writing {
  readonly #plan: WritingPlan;
  readonly #reader: RowReader;
  readonly #out: XmlOutput;

  constructor(plan: WritingPlan, reader: RowReader, out: XmlOutput) {
    this.#plan = plan;
    this.#reader = reader;
    this.#out = out;
  }

  async document(documentKey: string): Promise<void> {
    const root = await findRoot(this.#plan, this.#reader, documentKey);
    const whole = root === null ? await this.#reader.takeWhole(documentKey) : null;
    if (root === null && whole === null) {
      throw new InputError({
        code: 'missing_rows',
        severity: 'error',
        message: `document ${documentKey} has no row for its root element`,
      });
    }
    this.#out.markup('<?xml version="1.0" encoding="UTF-8"?>\n');
    if (root === null) this.#out.markup(whole!);
    else await this.#rowElement(root.group, root.child, 1, this.#plan.namespaces.declarations);
    this.#out.markup('\n');
  }

  /** Takes the next row of the group's table and all that hangs from it. `depth`: of the element, the root's is 1. */
  async #rowElement(group: RowGroup, child: RowChild, depth: number, declarations = ''): Promise<void> {
    if (depth % restEvery === 0) await Promise.resolve();
    let row = await this.#takeRow(group.table, depth);
    if (child.ownParentKeyColumn >= 0) {
      const { table } = this.#plan.node(child.node).plan;
      row = await this.#takeHanging(table, child.ownParentKeyColumn, row, depth);
    }
    await this.#element(child.tag, child.node, row, '', depth, declarations);
    const wait = this.#out.drain();
    if (wait !== undefined) await wait;
  }

  async #takeRow(table: number, depth: number): Promise<ElementRow> {
    const { values, key, lexical, unmapped } = await this.#reader.take(table);
    return { values, key, lexical, kept: unmapped === null ? null : indexKeptContent(unmapped, depth) };
  }

  /** The row that belongs to `head` one to one. */
  async #takeHanging(table: number, column: number, head: ElementRow, depth: number): Promise<ElementRow> {
    await this.#reader.open([table]);
    if (this.#reader.head(table)?.[column] !== head.key) {
      const { name } = this.#plan.model.tables[table]!;
      const { name: columnName } = this.#plan.columns(table)[column]!.column;
      throw new InputError({
        code: 'missing_rows',
        severity: 'error',
        message: `${name} has no row with ${columnName} ${head.key} where one must follow`,
      });
    }
    return this.#takeRow(table, depth);
  }

  /** Writes an element whose values lie in `row`; `path`: labels of folded elements below the row's own, as in KeptContent. */
  #element(
    tag: string,
    nodeIndex: number,
    row: ElementRow,
    path: string,
    depth: number,
    declarations = '',
  ): Promise<void> | undefined {
    const node = this.#plan.node(nodeIndex);
    const own: OwnDeclarations = new Map();
    const start = `<${tag}${declarations}`;
    const typeLabel = row.values[node.plan.typeNameColumn] ?? null;
    if (typeLabel === null) return this.#content(tag, node, { row, path, depth, own, start });
    const typed = start + attribute(this.#plan.typeAttribute, typeNameOf(this.#plan, typeLabel, own));
    const edge = node.types.get(typeLabel);
    if (edge === undefined) return this.#content(tag, node, { row, path, depth, own, start: typed });
    const derived = this.#plan.node(edge.node);
    if (edge.parentKeyColumn < 0) return this.#content(tag, derived, { row, path, depth, own, start: typed });
    const before = row.kept?.get(path);
    return this.#takeHanging(derived.plan.table, edge.parentKeyColumn, row, depth).then((hanging) => {
      const kept = before === undefined ? '' : keptAttributesOf(this.#plan, before, own);
      return this.#content(tag, derived, { row: hanging, path, depth, own, start: typed + kept });
    });
  }

  /** The rest of an element whose start tag is begun. */
  #content(
    tag: string,
    node: WritingNode,
    { row, path, depth, own, start: begun }: BegunElement,
  ): Promise<void> | undefined {
    const kept = row.kept?.get(path);
    let start = begun + attributesOf(this.#plan, node, row, own);
    if (kept !== undefined) start += keptAttributesOf(this.#plan, kept, own);
    const isValue = node.plan.textColumn >= 0 && (kept === undefined || kept.items.length === 0);
    const text = isValue ? valueOf(this.#plan, node, row, node.plan.textColumn, own) : null;
    for (const [uri, prefix] of own) start += attribute(`xmlns:${prefix}`, uri);
    this.#out.start(start);
    if (isValue) this.#out.text(text ?? '');
    else {
      const wait = this.#children(node, row, kept, path, depth);
      if (wait !== undefined) return wait.then(() => this.#out.end(tag));
    }
    this.#out.end(tag);
    return undefined;
  }

  /** What stands in an element; a promise where rows of other tables may. */
  #children(
    node: WritingNode,
    row: ElementRow,
    kept: KeptElement | undefined,
    path: string,
    depth: number,
  ): Promise<void> | undefined {
    if (node.tables.length > 0 || kept !== undefined)
      return this.#childrenByPosition(node, row, kept, path, depth);
    const { placed, free } = this.#foldedChildren(node, row, kept);
    if (placed.length > 0) return this.#childrenByPosition(node, row, kept, path, depth);
    return this.#foldedInTurn(free, 0, row, path, depth);
  }

  /** Folded children from `first` on, in the order of the plan. */
  #foldedInTurn(
    children: readonly FoldedChild[],
    first: number,
    row: ElementRow,
    path: string,
    depth: number,
  ): Promise<void> | undefined {
    for (let at = first; at < children.length; at += 1) {
      const child = children[at]!;
      if (!this.#isThere(child, row, undefined, path)) continue;
      const wait = this.#foldedElement(child, row, path, depth);
      if (wait !== undefined) return wait.then(() => this.#foldedInTurn(children, at + 1, row, path, depth));
    }
    return undefined;
  }

  /** Children by position; folded ones that have none fill the places between, in the order of the plan. */
  async #childrenByPosition(
    node: WritingNode,
    row: ElementRow,
    kept: KeptElement | undefined,
    path: string,
    depth: number,
  ): Promise<void> {
    const reader = this.#reader;
    await reader.open(node.tables);
    const groups = node.groups.filter((group) => reader.exists(group.table));
    const contents = node.contents.filter((content) => reader.exists(content.table));
    const { placed, free } = this.#foldedChildren(node, row, kept);
    const items = kept?.items ?? [];
    let [nextItem, nextPlaced, nextFree] = [0, 0, 0];
    for (let expected = 1; ;) {
      let position = Infinity;
      let group: RowGroup | null = null;
      let child: RowChild | null = null;
      let content: ContentTable | null = null;
      for (const candidate of groups) {
        const found = childAtHead(reader, candidate, row.key);
        if (found === null) continue;
        const at = positionOf(reader.head(candidate.table)!, candidate.positionColumn);
        if (child !== null && at >= position) continue;
        [position, group, child] = [at, candidate, found];
      }
      for (const candidate of contents) {
        const head = reader.head(candidate.table);
        if (head?.[candidate.parentKeyColumn] !== row.key) continue;
        const at = positionOf(head, candidate.positionColumn);
        if (at < position) [position, group, child, content] = [at, null, null, candidate];
      }
      const item = items[nextItem];
      const known = placed[nextPlaced];
      const besides = Math.min(item?.position ?? Infinity, known?.position ?? Infinity);
      if (Math.min(position, besides) > expected) {
        const at = free.findIndex(
          (folded, index) => index >= nextFree && this.#isThere(folded, row, kept, path),
        );
        if (at >= 0) {
          await this.#foldedElement(free[at]!, row, path, depth);
          nextFree = at + 1;
          expected += 1;
          continue;
        }
      }
      if (besides < position) {
        if (item !== undefined && item.position === besides) {
          if (item.kind === 'text') this.#out.text(item.content);
          else this.#out.markup(item.content);
          nextItem += 1;
        } else {
          await this.#foldedElement(known!.child, row, path, depth);
          nextPlaced += 1;
        }
        expected = besides + 1;
      } else if (group !== null) {
        await this.#rowElement(group, child!, depth + 1);
        expected = position + 1;
      } else if (content !== null) {
        await this.#contentRow(content);
        expected = position + 1;
      } else return;
    }
  }

  async #contentRow({ table, kind, contentColumn }: ContentTable): Promise<void> {
    const { values } = await this.#reader.take(table);
    const content = values[contentColumn] ?? '';
    if (kind === 'text') this.#out.text(content);
    else this.#out.markup(content);
    const wait = this.#out.drain();
    if (wait !== undefined) await wait;
  }

  #foldedElement(
    child: FoldedChild,
    row: ElementRow,
    path: string,
    depth: number,
  ): Promise<void> | undefined {
    const write = () => this.#element(child.tag, child.node, row, `${path}/${child.label}`, depth + 1);
    // elements may nest deeper than calls
    return (depth + 1) % restEvery === 0 ? Promise.resolve().then(write) : write();
  }

  /** The folded children whose place is known, by position, and those that may stand wherever nothing else does. */
  #foldedChildren(
    node: WritingNode,
    row: ElementRow,
    kept: KeptElement | undefined,
  ): { placed: { position: number; child: FoldedChild }[]; free: FoldedChild[] } {
    const placed: { position: number; child: FoldedChild }[] = [];
    const free: FoldedChild[] = [];
    for (const child of node.folded) {
      if (child.elementNameColumn >= 0 && row.values[child.elementNameColumn] !== child.label) continue;
      const own = child.positionColumn < 0 ? null : (row.values[child.positionColumn] ?? null);
      const position = own === null ? kept?.positions.get(child.label) : Number(own);
      if (position !== undefined) placed.push({ position, child });
      // rows of a version without the column do not say where
      else free.push(child);
    }
    placed.sort((a, b) => a.position - b.position);
    return { placed, free };
  }

  /** Whether a folded child without a known place stands in the row's element. */
  #isThere(child: FoldedChild, row: ElementRow, kept: KeptElement | undefined, path: string): boolean {
    const { values, lexical } = row;
    if (child.elementNameColumn >= 0) return true;
    if (child.presenceColumn >= 0 && values[child.presenceColumn] === 'true') return true;
    // rows of a version that needed no such column say so by what they hold
    const { columns, rows } = this.#plan.evidence(child.node);
    if (columns.some((column) => values[column] !== null)) return true;
    if (rows.some(({ table, parentKeyColumn }) => this.#reader.head(table)?.[parentKeyColumn] === row.key))
      return true;
    if (kept !== undefined && row.kept!.has(`${path}/${child.label}`)) return true;
    if (lexical === null) return false;
    const own = this.#plan.columns(this.#plan.node(child.node).plan.table);
    return columns.some((column) => lexical.has(own[column]!.column.name));
  }
}

/** Rows that say nothing of their place come last. */
function positionOf(values: RowValues, column: number): number {
  const position = values[column] ?? null;
  return position === null ? Number.MAX_SAFE_INTEGER : Number(position);
}
