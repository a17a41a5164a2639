/** Whether key columns lead where their comments say: each join of rows beside the elements of the document, found by their paths alone. */
import type { Column, RelationalModel, Table } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { parseXmlTree, type XmlElement } from '../../../src/engine/xml/tree.ts';
import { stepPrinter } from '../round-trip/census.ts';
import type { Row, Shredded } from './shredding.ts';

interface PlacedElement {
  readonly path: string;
  /** with the heads of their groups in place of members */
  readonly headPath: string;
  readonly parent: PlacedElement | null;
  readonly children: PlacedElement[];
}

export interface KeyFindings {
  /** values of keys that were followed, and keys without a value where there is nothing to lead to */
  readonly followed: number;
  /** tables whose rows are not known by the paths that the map lists, as those of recursion */
  readonly unknown: readonly string[];
  /** what does not lead where it should */
  readonly faults: readonly string[];
}

/** `shredded`: rows of that one document. `source`: tells which elements stand in place of others. */
export function followKeys(
  { model, rows }: Shredded,
  document: Uint8Array,
  source: SourceModel,
): KeyFindings {
  const headOf = headsOf(model, source);
  const elements = placed(model, parseXmlTree(document, {}), headOf);
  const elementOf = new Map<Table, ReadonlyMap<string, PlacedElement>>();
  const unknown: string[] = [];
  for (const [index, table] of model.tables.entries()) {
    const own = rows[table.name] ?? [];
    if (table.kind !== 'element' || table.continues !== undefined || own.length === 0) continue;
    const paths = new Set(
      model.mappings.flatMap(({ xpath, column, table: at }) =>
        column === null && at === index ? [xpath] : [],
      ),
    );
    const exact = elements.filter(({ path }) => paths.has(path));
    const headPaths = new Set([...paths].map((path) => path!.split('/').map(headOf).join('/')));
    // maps name the members of a group or its head
    const here =
      exact.length === own.length ? exact : elements.filter(({ headPath }) => headPaths.has(headPath));
    const keys = own.map((row) => rowKey(table, row)).toSorted((a, b) => Number(a) - Number(b));
    // keys ascend in document order
    if (here.length === own.length) elementOf.set(table, new Map(keys.map((key, at) => [key, here[at]!])));
    else unknown.push(table.name);
  }
  const following = new Following(model, elementOf, headOf);
  for (const [table, known] of elementOf)
    for (const row of rows[table.name]!) following.row(table, row, known.get(rowKey(table, row))!);
  return { followed: following.followed, unknown, faults: following.faults };
}

class Following {
  followed = 0;
  readonly faults: string[] = [];
  readonly #model: RelationalModel;
  readonly #headOf: (step: string) => string;
  readonly #elementOf: ReadonlyMap<Table, ReadonlyMap<string, PlacedElement>>;

  constructor(
    model: RelationalModel,
    elementOf: ReadonlyMap<Table, ReadonlyMap<string, PlacedElement>>,
    headOf: (step: string) => string,
  ) {
    this.#model = model;
    this.#elementOf = elementOf;
    this.#headOf = headOf;
  }

  /** Those of elements: what a type or a group adds to a path is none. */
  #steps(path: string): string[] {
    return path
      .split('/')
      .filter((step) => step !== '' && !step.startsWith('('))
      .map(this.#headOf);
  }

  row(table: Table, row: Row, element: PlacedElement): void {
    const parents = table.columns.filter(({ role, name }) => role === 'parent_key' && row[name] !== null);
    if (parents.length > 1)
      this.#fault(table, row, parents.map(({ name }) => name).join(), 'one parent at most');
    for (const column of table.columns) {
      if (column.role === 'parent_key' && row[column.name] !== null)
        this.#parent(table, row, column, element);
      if (column.role === 'child_key') this.#child(table, row, column, element);
    }
  }

  #parent(table: Table, row: Row, column: Column, element: PlacedElement): void {
    const parent = this.#model.tables[column.references!]!;
    const rows = this.#elementOf.get(parent);
    if (rows === undefined) return;
    const above = rows.get(row[column.name]!);
    // of several elements, the row says which it is
    const { roles = [column.path!.slice(parent.path!.length)] } = column;
    const steps = this.#steps(column.roles === undefined ? roles[0]! : roleOf(table, row));
    const isKnown = roles.some((role) => this.#steps(role).join('/') === steps.join('/'));
    let at: PlacedElement | null = element;
    for (let left = steps.length; left > 0 && at !== null; left -= 1) at = at.parent;
    const isThere =
      isKnown &&
      above !== undefined &&
      at === above &&
      element.headPath === [above.headPath, ...steps].join('/');
    this.#settle(isThere, table, row, column.name, `${steps.join('/')} of ${above?.path ?? 'nothing'}`);
  }

  #child(table: Table, row: Row, column: Column, element: PlacedElement): void {
    const rows = this.#elementOf.get(this.#model.tables[column.references!]!);
    if (rows === undefined) return;
    const steps = this.#steps(column.path!.slice(table.path!.length));
    let there: readonly PlacedElement[] = [element];
    for (const step of steps)
      there = there.flatMap(({ headPath, children }) =>
        children.filter((child) => child.headPath === `${headPath}/${step}`),
      );
    const key = row[column.name]!;
    const isPresent =
      key === null ? there.length === 0 : there[0] !== undefined && rows.get(key) === there[0];
    this.#settle(isPresent, table, row, column.name, `${steps.join('/')} below ${element.path}`);
  }

  #settle(isPresent: boolean, table: Table, row: Row, column: string, wanted: string): void {
    if (isPresent) this.followed += 1;
    else this.#fault(table, row, column, wanted);
  }

  #fault(table: Table, row: Row, column: string, wanted: string): void {
    this.faults.push(`${table.name} ${rowKey(table, row)}, ${column}: ${wanted}`);
  }
}

/** In document order. */
function placed(model: RelationalModel, root: XmlElement, headOf: (step: string) => string): PlacedElement[] {
  const step = stepPrinter(model);
  const all: PlacedElement[] = [];
  const visit = (element: XmlElement, parent: PlacedElement | null): void => {
    const own: PlacedElement = {
      path: `${parent?.path ?? ''}/${step(element.name)}`,
      headPath: `${parent?.headPath ?? ''}/${headOf(step(element.name))}`,
      parent,
      children: [],
    };
    parent?.children.push(own);
    all.push(own);
    for (const child of element.children) if (typeof child !== 'string') visit(child, own);
  };
  visit(root, null);
  return all;
}

/** Of a printed name: that of the element at the head of all groups that it is in. */
function headsOf(model: RelationalModel, { elements }: SourceModel): (step: string) => string {
  const step = stepPrinter(model);
  const all = elements.filter(({ substitutes }) => substitutes.length > 0);
  const heads = new Map<string, string>();
  for (const head of all.toSorted((a, b) => a.substitutes.length - b.substitutes.length)) {
    const members = new Set(head.substitutes);
    // heads that stand in place of this one, which are not among its members where they are abstract
    const within = all.filter(({ substitutes }) => substitutes.every((member) => members.has(member)));
    for (const { name } of [...head.substitutes.map((member) => elements[member]!), ...within])
      heads.set(step(name), step(head.name));
  }
  return (name) => heads.get(name) ?? name;
}

/** What its column with the role `element_name` says. */
function roleOf(table: Table, row: Row): string {
  return row[table.columns.find(({ role }) => role === 'element_name')!.name]!;
}

function rowKey(table: Table, row: Row): string {
  return row[table.columns.find(({ role }) => role === 'row_key')!.name]!;
}
