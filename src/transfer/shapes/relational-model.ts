/** Whether a value is a relational model whose indexes lead somewhere. */
import type {
  ValueConstraint,
  Column,
  ColumnType,
  IdentityPath,
  IdentityRule,
  FormerColumn,
  FormerTable,
  IgnoredParts,
  ListNames,
  MappingEntry,
  ModelOptions,
  NameTest,
  PlanEdge,
  PlanNode,
  RelationalModel,
  Table,
  WrittenForm,
  ColumnRole,
} from '../../engine/model/relational-model.ts';
import {
  array,
  flag,
  integer,
  nullable,
  object,
  oneOf,
  record,
  shapeFault,
  text,
  type Shape,
} from './json-shape.ts';
import { builtInType, qualifiedName, wildcardNamespaces } from './source-model.ts';
import { byteLength } from '../../engine/map/names/identifiers.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';

const count = integer(0);
const columnIndex = integer(-1);

const columnKinds =
  'text boolean smallint integer bigint numeric real double date time timestamp timestamptz'.split(' ');

const columnRoles =
  'row_key parent_key child_key position document value presence nil element_name type_name folded_position offset content extra'.split(
    ' ',
  );

const columnType = object<ColumnType>(
  {
    kind: oneOf(...columnKinds),
  },
  { length: count, fixed: oneOf(true), fitsBytes: oneOf(true), precision: count, scale: count, list: flag },
);

const column = object<Column>(
  {
    name: text(/./),
    role: oneOf(...columnRoles),
    type: columnType,
    nullable: flag,
    xpath: nullable(text()),
    sourceType: nullable(builtInType),
    references: nullable(count),
    path: text(),
  },
  {
    documentation: text(),
    constraint: object<ValueConstraint>({ kind: oneOf('default', 'fixed'), value: text() }),
    keepsForm: oneOf(true),
    writtenAs: object<WrittenForm>({}, { whole: count, fraction: count, digits: oneOf(true) }),
    roles: array(text(/./)),
    listNames: object<ListNames>({ count: text(/./), table: text(/./) }),
  },
);

const table = object<Table>(
  {
    name: text(/./),
    kind: oneOf('element', 'text', 'wildcard'),
    xpath: text(),
    columns: array(column),
    uniqueKeys: array(object({ name: text(/./), columns: array(count) })),
    path: text(),
  },
  { documentation: text(), continues: count },
);

const edge: Shape = object<PlanEdge>(
  {
    name: qualifiedName,
    node: count,
    parentKeyColumn: columnIndex,
    minOccurs: count,
    maxOccurs: nullable(count),
  },
  {
    substitution: flag,
    role: text(/./),
    childKeyColumn: count,
    head: object({ node: count, parentKeyColumn: columnIndex }),
  },
);

const node = object<PlanNode>(
  {
    name: qualifiedName,
    table: count,
    opensRow: flag,
    content: oneOf('empty', 'simple', 'elements', 'mixed'),
    textColumn: columnIndex,
    presenceColumn: columnIndex,
    nilColumn: columnIndex,
    elementNameColumn: columnIndex,
    typeNameColumn: columnIndex,
    foldedPositionColumn: columnIndex,
    attributes: array(object({ name: qualifiedName, column: columnIndex })),
    edges: array(edge),
    textTable: columnIndex,
    wildcardTable: columnIndex,
    anyAttributeColumn: columnIndex,
    typeEdges: array(object({ name: qualifiedName, node: count, parentKeyColumn: columnIndex })),
    sourceElement: integer(-1),
    sourceType: integer(-1),
  },
  {
    ignored: object<IgnoredParts>({
      elements: array(qualifiedName),
      attributes: array(qualifiedName),
      text: flag,
      anyElement: flag,
      anyAttribute: flag,
    }),
    anyElementNamespaces: wildcardNamespaces,
    anyAttributeNamespaces: wildcardNamespaces,
  },
);

const mapping = object<MappingEntry>(
  {
    xpath: nullable(text()),
    nodeType: oneOf('element', 'attribute', 'text', 'mixed', 'any'),
    sourceType: text(),
    minOccurs: count,
    maxOccurs: nullable(count),
    table: count,
    column: nullable(count),
  },
  { documentation: text(), active: oneOf(false) },
);

const renaming: Shape = (value, at) => {
  array(text(/./))(value, at);
  if ((value as readonly string[]).length !== 2) throw shapeFault(at, 'is not an old and a new name');
};

const options = object<ModelOptions>(
  {},
  {
    nameMode: oneOf('l', 'u', 'c'),
    tablePrefix: text(),
    tableSuffix: text(),
    rename: array(renaming),
    defaultTextLength: count,
  },
);

const nameTest = object<NameTest>({ namespaceUri: nullable(text()), localName: nullable(text()) });

const identityPaths = array(
  object<IdentityPath>({ anywhere: flag, steps: array(nameTest), attribute: nullable(nameTest) }),
);

const identityRule = object<IdentityRule>({
  kind: oneOf('key', 'unique', 'keyref'),
  name: qualifiedName,
  refers: nullable(count),
  nodes: array(count),
  selector: identityPaths,
  fields: array(identityPaths),
  tables: array(object({ table: count, columns: array(count) })),
});

const formerTable = object<FormerTable>(
  {
    name: text(/./),
    path: text(),
    columns: array(object<FormerColumn>({ name: text(/./), use: text() })),
  },
  { hadNoRows: oneOf(true) },
);

const shape = object<RelationalModel>(
  {
    mapLevel: integer(0, 3),
    nameMaxLength: integer(1, 1024),
    tables: array(table),
    nodes: array(node),
    roots: array(edge),
    mappings: array(mapping),
    namespaces: record(text()),
  },
  {
    typesApart: array(text(/./)),
    foldedPlaces: array(text(/./)),
    foldedTables: array(text(/./)),
    options,
    identityRules: array(identityRule),
    formerTables: array(formerTable),
    keepsDefaultNames: oneOf(true),
  },
);

/** Returns, by table, the number of columns of its rows, including those of the tables that continue it. */
function rowWidths(tables: readonly Table[], at: string): number[] {
  const firstOf = (index: number): number => {
    for (let hops = 0, first = index; hops <= tables.length; hops += 1) {
      const before = tables[first]?.continues;
      if (before === undefined) return first;
      first = before;
    }
    throw shapeFault(at, 'has a table that goes on with itself');
  };
  const widths = tables.map(() => 0);
  for (const [index, { columns, continues }] of tables.entries()) {
    if (continues !== undefined && continues >= tables.length)
      throw shapeFault(at, 'refers to what it does not hold');
    widths[firstOf(index)]! += columns.length;
  }
  return tables.map((_, index) => widths[firstOf(index)]!);
}

export const checkRelationalModel: Shape = (value, at) => {
  shape(value, at);
  const model = value as RelationalModel;
  checkNames(model, at);
  const within = (index: number, length: number): void => {
    if (index >= length) throw shapeFault(at, 'refers to what it does not hold');
  };
  const tableAt = (index: number): void => within(index, model.tables.length);
  const nodeAt = (index: number): void => within(index, model.nodes.length);
  for (const { columns, uniqueKeys } of model.tables) {
    for (const { references, type, listNames } of columns) {
      if (references !== null) tableAt(references);
      if (type.list === true && listNames === undefined)
        throw shapeFault(at, 'has a list without names for its items');
    }
    for (const key of uniqueKeys) for (const index of key.columns) within(index, columns.length);
  }
  const widths = rowWidths(model.tables, at);
  const leads = (to: Pick<PlanEdge, 'node' | 'parentKeyColumn'>): void => {
    nodeAt(to.node);
    const { table: index } = model.nodes[to.node]!;
    tableAt(index);
    within(to.parentKeyColumn, widths[index]!);
  };
  checkFolding(model, at);
  for (const one of model.nodes) {
    tableAt(one.table);
    for (const [index, kind] of [
      [one.textTable, 'text'],
      [one.wildcardTable, 'wildcard'],
    ] as const) {
      tableAt(index);
      if (index !== -1 && model.tables[index]!.kind !== kind)
        throw shapeFault(at, 'keeps text or other content in a table of another kind');
    }
    const width = widths[one.table]!;
    const own = [
      one.textColumn,
      one.presenceColumn,
      one.nilColumn,
      one.elementNameColumn,
      one.typeNameColumn,
    ];
    const more = [
      one.foldedPositionColumn,
      one.anyAttributeColumn,
      ...one.attributes.map((each) => each.column),
    ];
    for (const index of [...own, ...more]) within(index, width);
    for (const to of [...one.edges, ...one.typeEdges]) leads(to);
    for (const { childKeyColumn = -1 } of one.edges) within(childKeyColumn, width);
    for (const { head } of one.edges) if (head !== undefined) leads(head);
  }
  for (const root of model.roots) {
    leads(root);
    if (!model.nodes[root.node]!.opensRow) throw shapeFault(at, 'has a root without a row');
  }
  const rules = model.identityRules ?? [];
  for (const { refers, nodes, tables, fields } of rules) {
    if (refers !== null) within(refers, rules.length);
    for (const index of nodes) nodeAt(index);
    for (const key of tables) {
      tableAt(key.table);
      if (key.columns.length !== fields.length) throw shapeFault(at, 'has a key without its columns');
      for (const index of key.columns) within(index, model.tables[key.table]!.columns.length);
    }
  }
  for (const entry of model.mappings) {
    tableAt(entry.table);
    if (entry.column !== null) within(entry.column, model.tables[entry.table]!.columns.length);
  }
};

// The rules for a relational model beyond its shape: names that databases accept, and rows of finite length.

const holdsKey: ReadonlySet<ColumnRole> = new Set(['parent_key', 'child_key']);

/** Checks names without regard to case, because some databases ignore it. */
function checkNames({ tables, nameMaxLength }: RelationalModel, at: string): void {
  const inTarget = new Set<string>(Object.values(sideTableNames));
  const add = (names: Set<string>, name: string, pointer: string): void => {
    if (hasHiddenCharacters(name)) throw shapeFault(pointer, 'has a name with characters that are not seen');
    if (byteLength(name) > nameMaxLength)
      throw shapeFault(pointer, `has a name of more than ${nameMaxLength} bytes`);
    const known = name.toLowerCase();
    if (names.has(known)) throw shapeFault(pointer, `has the name ${name} twice`);
    names.add(known);
  };
  for (const [index, { name, columns, uniqueKeys }] of tables.entries()) {
    const pointer = `${at}/tables/${index}`;
    add(inTarget, name, pointer);
    const inTable = new Set<string>();
    for (const { name: column, listNames } of columns) {
      add(inTable, column, pointer);
      if (listNames === undefined) continue;
      add(inTable, listNames.count, pointer);
      add(inTarget, listNames.table, pointer);
    }
    for (const key of uniqueKeys) add(new Set(), key.name, pointer);
    const keys = columns.filter(({ role }) => role === 'row_key').length;
    if (keys !== 1) throw shapeFault(pointer, 'has not one row key');
    if (columns.some(({ role, references }) => holdsKey.has(role) && references === null))
      throw shapeFault(pointer, 'has a key of other rows that refers to no table');
  }
}

/** An element that is folded into the row of another is not folded, over others, into its own. */
function checkFolding({ nodes }: RelationalModel, at: string): void {
  /** by node: the nodes that it is folded from and that have not been followed yet */
  const open = new Map<number, number[]>();
  const done = new Set<number>();
  const foldedInto = (index: number): number[] =>
    [...nodes[index]!.edges, ...nodes[index]!.typeEdges]
      .map(({ node }) => node)
      .filter((node) => nodes[node]?.opensRow === false);
  for (const start of nodes.keys()) {
    const path = [start];
    while (path.length > 0) {
      const index = path.at(-1)!;
      const left = open.get(index) ?? foldedInto(index);
      const next = done.has(index) ? undefined : left.pop();
      open.set(index, left);
      if (next === undefined) {
        done.add(index);
        open.delete(index);
        path.pop();
      } else if (open.has(next)) throw shapeFault(at, 'folds an element into itself');
      else path.push(next);
    }
  }
}

// Bytes as base64 and back, on every runtime.

/** characters made at once: few enough for one call's arguments */
const step = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += step)
    binary += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(binary);
}

/** Returns null if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
