/**
 * Checks models and statistics that came from outside: the shape of their JSON, and that their indexes lead to an element. Members that a
 * shape does not name may hold anything.
 */
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { builtInTypeNames } from '../../engine/map/tables/column-types.ts';
import {
  type Facets,
  type IdentityConstraint,
  type QName,
  type SourceAttribute,
  type SourceChild,
  type SourceElement,
  type SourceModel,
  type SourceType,
  type SourceWildcard,
  type ValueType,
  clarkName,
} from '../../engine/model/source-model.ts';
import { ncName } from '../../engine/xsd/values/lexical-form.ts';
import type {
  AttributeStatistics,
  ChildStatistics,
  DocumentStatistics,
  ElementStatistics,
  ValueStatistics,
} from '../../engine/infer/statistics.ts';
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
import { byteLength } from '../../engine/map/names/identifiers.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';

// Shapes of JSON.

/** Wraps the check of a Zod schema: it reports the first fault. */
export function shapeOf(schema: z.ZodType): Shape {
  return (value, at) => {
    const { error } = schema.safeParse(value);
    if (error === undefined) return;
    const [issue] = error.issues;
    throw shapeFault([at, ...issue!.path].join('/'), issue!.message);
  };
}

/** A text that PostgreSQL can hold, as it is. */
export function storableText(form?: RegExp): z.ZodString {
  const fault = { error: 'is not a valid text' };
  const stored = z.string(fault).refine((value) => !value.includes('\0') && value.isWellFormed(), fault);
  return form === undefined ? stored : stored.regex(form, fault);
}

export const sha256Text = storableText(/^[0-9a-f]{64}$/);

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodInt {
  const fault = { error: 'is not a valid whole number' };
  return z.int(fault).min(min, fault).max(max, fault);
}

/** Throws AppError `unprocessable_input` naming the place; `at` is the place of the value, for people. */
export type Shape = (value: unknown, at: string) => void;

/** The error for a faulty package: the import fails, and nothing is changed. */
export function packageFault(detail: string): AppError {
  return new AppError('unprocessable_input', `the package cannot be imported: ${detail}`);
}

function shapeFault(at: string, detail: string): AppError {
  return packageFault(`${at} ${detail}`);
}

/** A text that PostgreSQL can hold, as it is. */
function text(form?: RegExp): Shape {
  return (value, at) => {
    if (
      typeof value !== 'string' ||
      value.includes('\0') ||
      !value.isWellFormed() ||
      form?.test(value) === false
    )
      throw shapeFault(at, 'is not a valid text');
  };
}

function integer(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Shape {
  return (value, at) => {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max)
      throw shapeFault(at, 'is not a valid whole number');
  };
}

const flag: Shape = (value, at) => {
  if (typeof value !== 'boolean') throw shapeFault(at, 'is neither true nor false');
};

function oneOf(...known: readonly (string | number | boolean)[]): Shape {
  const values = new Set<unknown>(known);
  return (value, at) => {
    if (!values.has(value)) throw shapeFault(at, 'is not one of the known values');
  };
}

function nullable(shape: Shape): Shape {
  return (value, at) => {
    if (value !== null) shape(value, at);
  };
}

function array(shape: Shape): Shape {
  return (value, at) => {
    if (!Array.isArray(value)) throw shapeFault(at, 'is not a list');
    for (const [index, item] of value.entries()) shape(item, `${at}/${index}`);
  };
}

/** An object of any names, as a map. */
function record(shape: Shape): Shape {
  return (value, at) => {
    for (const [name, member] of Object.entries(asObject(value, at))) {
      if (name.includes('\0')) throw shapeFault(at, 'has an impossible name');
      shape(member, `${at}/${name}`);
    }
  };
}

/** An object with at least these members; `optional` ones may be absent. `T` ties the names to a type. */
export function object<T = Record<string, unknown>>(
  required: { readonly [Member in keyof T]?: Shape },
  optional: { readonly [Member in keyof T]?: Shape } = {},
): Shape {
  const needed = Object.entries(required) as [string, Shape][];
  const others = Object.entries(optional) as [string, Shape][];
  return (value, at) => {
    const members = asObject(value, at);
    for (const [name, shape] of needed) {
      if (!Object.hasOwn(members, name)) throw shapeFault(at, `is without ${name}`);
      shape(members[name], `${at}/${name}`);
    }
    for (const [name, shape] of others) {
      if (Object.hasOwn(members, name)) shape(members[name], `${at}/${name}`);
    }
  };
}

function asObject(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw shapeFault(at, 'is not an object');
  return value as Record<string, unknown>;
}

// Source models.

const qualifiedName: Shape = object<QName>({ namespaceUri: text(), localName: text(ncName) });
const builtInType: Shape = oneOf(...builtInTypeNames);
const count = integer(0);

const texts = array(text());
const facets = object<Facets>(
  {},
  {
    length: count,
    minLength: count,
    maxLength: count,
    totalDigits: count,
    fractionDigits: count,
    minInclusive: text(),
    maxInclusive: text(),
    minExclusive: text(),
    maxExclusive: text(),
    whiteSpace: oneOf('preserve', 'replace', 'collapse'),
    enumeration: texts,
    enumerationDocumentation: array(nullable(text())),
    enumerationLabels: array(nullable(text())),
    patterns: array(texts),
  },
);

const valueType: Shape = (value, at) => valueTypeShape(value, at);
const valueTypeShape = object<ValueType>(
  { variety: oneOf('atomic', 'list', 'union'), base: builtInType, facets },
  {
    name: qualifiedName,
    itemType: valueType,
    memberTypes: array(valueType),
    zone: oneOf('always', 'never'),
    offsets: oneOf(true),
    guessed: oneOf(true),
    mayBeEmpty: oneOf(true),
    unfilled: oneOf(true),
  },
);

const wildcardNamespaces: Shape = (value, at) => {
  if (value === '##any') return;
  if (Array.isArray(value)) array(text())(value, at);
  else object({ not: text() })(value, at);
};

const wildcard: Shape = object<SourceWildcard>({
  namespaces: wildcardNamespaces,
  processContents: oneOf('strict', 'lax', 'skip'),
  minOccurs: count,
  maxOccurs: nullable(count),
});

const attribute = object<SourceAttribute>(
  { name: qualifiedName, type: valueType, required: flag },
  { default: text(), fixed: text(), documentation: text() },
);

const constraint = object<IdentityConstraint>(
  {
    kind: oneOf('key', 'unique', 'keyref'),
    name: qualifiedName,
    selector: text(),
    fields: array(text()),
    namespaces: record(text()),
  },
  { refer: qualifiedName },
);

const sourceElementShape = object<SourceElement>(
  {
    name: qualifiedName,
    type: count,
    global: flag,
    nillable: flag,
    abstract: flag,
    substitutes: array(count),
    identityConstraints: array(constraint),
  },
  { default: text(), fixed: text(), documentation: text() },
);

const type = object<SourceType>(
  {
    name: nullable(qualifiedName),
    complex: flag,
    abstract: flag,
    content: oneOf('empty', 'simple', 'elements', 'mixed'),
    value: nullable(valueType),
    attributes: array(attribute),
    children: array(
      object<SourceChild>(
        {
          element: count,
          minOccurs: count,
          maxOccurs: nullable(count),
          orderImplied: flag,
        },
        { documentation: text() },
      ),
    ),
    anyElement: nullable(wildcard),
    anyAttribute: nullable(wildcard),
    base: nullable(count),
    derivation: nullable(oneOf('extension', 'restriction')),
    derived: array(count),
  },
  { neverEmpty: oneOf(true), documentation: text() },
);

const sourceModelShape = object<SourceModel>({
  elements: array(sourceElementShape),
  types: array(type),
  roots: array(count),
  primaryRoots: count,
  targetNamespace: nullable(text()),
  namespaces: record(text()),
});

export const checkSourceModel: Shape = (value, at) => {
  sourceModelShape(value, at);
  const { elements, types, roots, primaryRoots } = value as SourceModel;
  const within = (index: number | null, length: number): void => {
    if (index !== null && index >= length) throw shapeFault(at, 'refers to something that is missing');
  };
  for (const one of elements) {
    within(one.type, types.length);
    for (const index of one.substitutes) within(index, elements.length);
  }
  for (const [index, one] of types.entries()) {
    checkContent(one, `${at}/types/${index}`);
    within(one.base, types.length);
    for (const index of one.derived) within(index, types.length);
    for (const child of one.children) within(child.element, elements.length);
  }
  for (const root of roots) within(root, elements.length);
  within(primaryRoots, roots.length + 1);
  checkBases(types, at);
};

/** Checks that the facts about a type in several places agree: the mapper uses either. */
function checkContent(type: SourceType, at: string): void {
  const { complex, content, value, attributes, children, anyElement, anyAttribute } = type;
  const holdsElements = children.length > 0 || anyElement !== null;
  const isLeaf = attributes.length === 0 && anyAttribute === null && !holdsElements;
  if ((value !== null) !== (content === 'simple'))
    throw shapeFault(at, 'has a value without simple content, or the other way round');
  if (holdsElements && (content === 'simple' || content === 'empty'))
    throw shapeFault(at, 'holds elements in content that has none');
  if (!complex && !isLeaf) throw shapeFault(at, 'is a simple type with attributes or elements');
  const names = attributes.map(({ name }) => clarkName(name));
  if (new Set(names).size < names.length) throw shapeFault(at, 'has an attribute twice');
  for (const { minOccurs, maxOccurs } of [...children, ...(anyElement === null ? [] : [anyElement])])
    if (maxOccurs !== null && minOccurs > maxOccurs)
      throw shapeFault(at, 'has more elements at least than at most');
}

function checkBases(types: readonly SourceType[], at: string): void {
  /** by type: number of the walk that visited it; 0: none */
  const seen = new Int32Array(types.length);
  for (const start of types.keys()) {
    for (let index: number | null = start; index !== null && seen[index] !== -1; index = types[index]!.base) {
      if (seen[index] === start + 1) throw shapeFault(at, 'has a type that is derived from itself');
      seen[index] = start + 1;
    }
  }
}

// Statistics of documents.

const values = object<ValueStatistics>(
  {
    count,
    empty: count,
    classes: count,
    minLength: count,
    maxLength: count,
    wholeDigits: count,
    minFraction: count,
    maxFraction: count,
    min: nullable(text()),
    max: nullable(text()),
    sketch: array(integer()),
  },
  { withOffset: count },
);

const elementStatisticsShape = object<ElementStatistics>(
  {
    namespaceUri: text(),
    localName: text(/./),
    count,
    documents: count,
    withChildren: count,
    withText: count,
    mixed: count,
    nil: count,
    textRuns: count,
    text: values,
    attributes: array(
      object<AttributeStatistics>({
        namespaceUri: text(),
        localName: text(/./),
        count,
        documents: count,
        value: values,
      }),
    ),
    children: array(
      object<ChildStatistics>({
        element: count,
        minOccurs: count,
        maxOccurs: count,
        precededBy: array(integer()),
      }),
    ),
  },
  { apart: oneOf(true), withOthers: count },
);

const byName = {
  format: oneOf(1),
  documents: count,
  bytes: count,
  namespaces: record(text()),
  elements: array(elementStatisticsShape),
  roots: array(count),
};

const statisticsShape = object<DocumentStatistics>(byName, {
  byType: (value, at) => {
    object<DocumentStatistics>(byName, {})(value, at);
    checkIndexes(value as DocumentStatistics, at);
  },
});

export const checkStatistics: Shape = (value, at) => {
  statisticsShape(value, at);
  checkIndexes(value as DocumentStatistics, at);
};

function checkIndexes({ elements, roots }: DocumentStatistics, at: string): void {
  const indexes = [...roots, ...elements.flatMap(({ children }) => children.map((child) => child.element))];
  for (const index of indexes)
    if (index >= elements.length) throw shapeFault(at, 'refers to something that is missing');
}

// Relational models.

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

const relationalModelShape = object<RelationalModel>(
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
    throw shapeFault(at, 'has a table that is continued by itself');
  };
  const widths = tables.map(() => 0);
  for (const [index, { columns, continues }] of tables.entries()) {
    if (continues !== undefined && continues >= tables.length)
      throw shapeFault(at, 'refers to something that is missing');
    widths[firstOf(index)]! += columns.length;
  }
  return tables.map((_, index) => widths[firstOf(index)]!);
}

export const checkRelationalModel: Shape = (value, at) => {
  relationalModelShape(value, at);
  const model = value as RelationalModel;
  checkNames(model, at);
  const within = (index: number, length: number): void => {
    if (index >= length) throw shapeFault(at, 'refers to something that is missing');
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
    if (hasHiddenCharacters(name)) throw shapeFault(pointer, 'has a name with invisible characters');
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
  /** keyed by node: the nodes that it is folded from and that have not been followed yet */
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
