/**
 * The nodes of the plan for the kernel for elements (layout: src/engine/unshred/kernel/layout.ts). Each node is added when it first
 * occurs.
 */
import { utf8Of } from '../rows/values.ts';
import type { Evidence, FoldedChild, RowGroup, RowUse, WritingNode, WritingPlan } from '../writing-plan.ts';
import type { ElementsMemory } from './memory.ts';

/** The addresses of names that are written often. */
type Names = Map<Uint8Array, number>;

export class LearnedNodes {
  readonly #plan: WritingPlan;
  readonly #memory: ElementsMemory;
  readonly #names: Names = new Map();

  constructor(plan: WritingPlan, memory: ElementsMemory) {
    this.#plan = plan;
    this.#memory = memory;
  }

  /** Returns the address of a name. */
  nameAt(name: Uint8Array): number {
    let at = this.#names.get(name);
    if (at === undefined) this.#names.set(name, (at = this.#memory.put(name)));
    return at;
  }

  /** Returns the address of the node's record. */
  learn(index: number): number {
    const node = this.#plan.node(index);
    const { textColumn, nilColumn, typeNameColumn, anyAttributeColumn } = node.plan;
    const empty = [
      typeNameColumn,
      anyAttributeColumn,
      ...node.attributes.filter(({ isType }) => isType).map(({ column }) => column),
    ].filter((column) => column >= 0);
    const attributes = [
      ...(nilColumn < 0 ? [] : [{ tag: this.#plan.nilAttribute, column: nilColumn }]),
      ...node.attributes.filter(({ isType }) => !isType),
    ];
    const folded = node.folded.map((child) => this.#folded(child));
    const memory = this.#memory;
    return memory.putInts([
      cellOf(textColumn),
      node.isFree ? 1 : 0,
      ...this.#list(empty.map((column) => [cellOf(column)])),
      ...this.#list(attributes.map((attribute) => this.#attribute(attribute))),
      ...this.#list(node.groups.map((group) => this.#group(group))),
      ...this.#list(node.contents.map(contentOf)),
      // ends with none
      memory.putInts([...folded, 0]),
      folded.length,
    ]);
  }

  /** Writes the records into one array. Returns its address and the number of records. */
  #list(records: readonly (readonly number[])[]): [at: number, count: number] {
    return [this.#memory.putInts(records.flat()), records.length];
  }

  #attribute({ tag, column }: { readonly tag: Uint8Array; readonly column: number }): number[] {
    const [before, behind] = [utf8Of(' '), utf8Of('="')];
    const name = new Uint8Array(tag.length + 3);
    name.set(before);
    name.set(tag, 1);
    name.set(behind, 1 + tag.length);
    return [cellOf(column), this.#memory.put(name), name.length];
  }

  #group({ table, positionColumn, keyColumn, uses }: RowGroup): number[] {
    return [
      table,
      cellOf(positionColumn),
      cellOf(keyColumn),
      ...this.#list(uses.map((use) => this.#use(use))),
    ];
  }

  #use(use: RowUse): number[] {
    const children = use.children.map(({ tag, label, node, ownParentKeyColumn }) => [
      this.nameAt(tag),
      tag.length,
      this.nameAt(label),
      label.length,
      // the values are in another row
      ownParentKeyColumn < 0 ? node : -1,
    ]);
    return [
      cellOf(use.parentKeyColumn),
      cellOf(use.childKeyColumn),
      cellOf(use.elementNameColumn),
      use.byRole ? 1 : 0,
      ...this.#list(use.otherParents.map((column) => [cellOf(column)])),
      ...this.#list(children),
    ];
  }

  #folded(child: FoldedChild): number {
    const evidence = this.#plan.evidence(child.node);
    return this.#memory.putInts([
      this.nameAt(child.tag),
      child.tag.length,
      this.nameAt(child.labelBytes),
      child.labelBytes.length,
      child.node,
      cellOf(child.positionColumn),
      cellOf(child.presenceColumn),
      cellOf(child.elementNameColumn),
      ...this.#list(evidence.columns.map((column) => [cellOf(column)])),
      ...this.#list(evidence.rows.map((rows) => this.#evidentRows(rows))),
    ]);
  }

  #evidentRows({ table, parentKeyColumn, role }: Evidence['rows'][number]): number[] {
    return [
      table,
      cellOf(parentKeyColumn),
      cellOf(role?.column ?? -1),
      role === null ? 0 : this.nameAt(role.label),
      role?.label.length ?? 0,
    ];
  }
}

function contentOf({
  table,
  kind,
  parentKeyColumn,
  positionColumn,
  contentColumn,
}: WritingNode['contents'][number]): number[] {
  return [
    table,
    kind === 'wildcard' ? 1 : 0,
    cellOf(parentKeyColumn),
    cellOf(positionColumn),
    cellOf(contentColumn),
  ];
}

/** Returns a column's offset in bytes within a row's cells, or -1 if there is no column. */
export function cellOf(column: number): number {
  return column < 0 ? -1 : column * 8;
}
