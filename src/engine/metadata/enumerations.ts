/** Finds the values that columns can have, if the schema enumerates them, and the code lists that these form. */
import { mapInSlices } from '../in-slices.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { clarkName, type SourceModel, type ValueType, type QName } from '../model/source-model.ts';
import { rowColumnsOf } from '../model/wide-rows.ts';

/** Values without duplicates, in the order of the schema. */
export type Enumeration = readonly string[];

export interface Code {
  readonly code: string;
  /** name of the value; null: the schema has none */
  readonly label: string | null;
  /** meaning of the value; null: the schema does not document it */
  readonly documentation: string | null;
}

/** The values of one simple type. */
export interface CodeList {
  /** the type's local name, with its namespace if two types have that; for a type without a name its path from a named one */
  readonly type: string;
  readonly codes: readonly Code[];
}

export interface EnumeratedValues {
  readonly values: Enumeration;
  /** documentation of values in the schema; undocumented values are absent */
  readonly said: ReadonlyMap<string, string>;
  /** lists of the types whose values the column may have: one, unless several places share the column */
  readonly lists: readonly CodeList[];
}

interface Said {
  readonly label: string | null;
  readonly documentation: string | null;
}
type Values = ReadonlyMap<string, Said>;

/** Values by the type that has them; the key identifies the type. */
type ValuesByType = Map<string, { readonly name: ListName; readonly values: Values }>;

/**
 * By indexes of table and column; null: the values are not enumerated, at least in one of several places that share the column. For a
 * list: the possible items. `source`: the source that the model was made of.
 */
export async function enumerationsOf(
  model: RelationalModel,
  source: SourceModel,
): Promise<(table: number, column: number) => EnumeratedValues | null> {
  const known = new Map<string, ValuesByType | null>();
  const columnsOf = rowColumnsOf(model);
  const anonymous = anonymousTypes(source);
  const valuesOfType = new Map<ValueType, Values | null>();
  const note = (
    table: number,
    column: number,
    type: ValueType | null | undefined,
    nameOfAnonymous: () => ListName,
  ): void => {
    if (column < 0) return;
    const place = columnsOf(table)[column]!;
    const key = `${place.table} ${place.at}`;
    const before = known.get(key);
    if (before === null) return;
    let values = type === null || type === undefined ? null : valuesOfType.get(type);
    if (values === undefined) valuesOfType.set(type!, (values = valuesOf(type!)));
    if (values === null || values.size === 0) return void known.set(key, null);
    const own = namedType(type!);
    const name = own === null ? nameOfAnonymous() : { local: own.localName, full: clarkName(own) };
    known.set(key, (before ?? new Map()).set(name.full, { name, values }));
  };
  await mapInSlices(model.nodes, (node) => {
    const type = source.types[node.sourceType];
    note(node.table, node.textColumn, type?.value, () => anonymous.named(node.sourceType));
    if (node.attributes.length === 0) return;
    const types = new Map(type?.attributes.map((attribute) => [clarkName(attribute.name), attribute.type]));
    for (const { name, column } of node.attributes)
      note(node.table, column, types.get(clarkName(name)), () =>
        anonymous.attribute(node.sourceType, name.localName),
      );
  });
  const nameOf = listNames(
    [...known.values()].flatMap((types) => [...(types ?? new Map()).values()].map(({ name }) => name)),
  );
  const lists = new Map<string, EnumeratedValues>();
  return (table, column) => {
    const key = `${table} ${column}`;
    const types = known.get(key);
    if (types === undefined || types === null) return null;
    let list = lists.get(key);
    if (list === undefined) lists.set(key, (list = enumerated(types, nameOf)));
    return list;
  };
}

function enumerated(types: ValuesByType, nameOf: (name: ListName) => string): EnumeratedValues {
  const all = [...types.values()].map(({ values }) => values).reduce(united, new Map());
  const said = [...all].flatMap(([value, { documentation }]) =>
    documentation === null ? [] : [[value, documentation] as const],
  );
  return {
    values: [...all.keys()],
    said: new Map(said),
    lists: [...types.values()].map(({ name, values }) => ({
      type: nameOf(name),
      codes: [...values].map(([code, about]) => ({ code, ...labelled(about) })),
    })),
  };
}

/** A text that reads as a name, not as a sentence, names the value. */
const phrase = /^(?!.*[.:;!?](?:\s|$)).{1,60}$/su;

/** Separates the label from the documentation, which begins with it if the annotation has names. */
function labelled({ label, documentation }: Said): Said {
  if (label === null)
    return {
      label: documentation !== null && phrase.test(documentation) ? documentation : null,
      documentation,
    };
  const prefix = `${label}: `;
  return {
    label,
    documentation:
      documentation?.startsWith(prefix) === true ? documentation.slice(prefix.length) : documentation,
  };
}

/** Combines the values of two places. For a value of both, the documentation of the first place is used. */
function united(first: Values, second: Values): Values {
  const all = new Map(first);
  for (const [value, said] of second) {
    const before = all.get(value);
    all.set(value, {
      label: before?.label ?? said.label,
      documentation: before?.documentation ?? said.documentation,
    });
  }
  return all;
}

/** Returns the documentation by value, or null if any value of the type is allowed. */
function valuesOf({ variety, facets, itemType, memberTypes = [] }: ValueType): Values | null {
  if (variety === 'list') return itemType === undefined ? null : valuesOf(itemType);
  const { enumeration, enumerationDocumentation = [], enumerationLabels = [] } = facets;
  if (enumeration !== undefined)
    return new Map(
      enumeration.map((value, at) => [
        value,
        { label: enumerationLabels[at] ?? null, documentation: enumerationDocumentation[at] ?? null },
      ]),
    );
  if (variety === 'atomic' || memberTypes.length === 0) return null;
  const members = memberTypes.map(valuesOf);
  return members.every((values) => values !== null) ? members.reduce(united, new Map()) : null;
}

// Names lists of codes after the simple types that have them.

interface ListName {
  /** name for people */
  readonly local: string;
  /** unique among all lists */
  readonly full: string;
}

/** Returns the name of the type that has these values, or null if it has none. For a list, that of the type of its items. */
function namedType({ variety, name, itemType, memberTypes = [] }: ValueType): QName | null {
  const inner = variety === 'list' ? itemType : memberTypes.length === 1 ? memberTypes[0] : undefined;
  return (
    (variety === 'list' && inner !== undefined ? namedType(inner) : null) ??
    name ??
    (inner === undefined ? null : namedType(inner))
  );
}

interface AnonymousTypes {
  /** name of the list of an unnamed type, in an element's content; by the type's index */
  named(type: number): ListName;
  attribute(type: number, localName: string): ListName;
}

/** Types without a name by their path: from a global element (`/order/status`) or from a type that has a name (`Line/status`). */
function anonymousTypes({ elements, types }: SourceModel): AnonymousTypes {
  let paths: readonly (ListName | undefined)[] | null = null;
  const pathOf = (type: number): ListName => (paths ??= findPaths())[type] ?? { local: '', full: '' };

  function findPaths(): readonly (ListName | undefined)[] {
    const found: (ListName | undefined)[] = types.map(({ name }) =>
      name === null ? undefined : { local: name.localName, full: clarkName(name) },
    );
    const pending = types.flatMap(({ name }, at) => (name === null ? [] : [at]));
    const reach = (type: number, name: ListName): void => {
      if (found[type] !== undefined) return;
      found[type] = name;
      pending.push(type);
    };
    for (const { name, type, global } of elements)
      if (global) reach(type, { local: `/${name.localName}`, full: `/${clarkName(name)}` });
    for (const at of pending)
      for (const { element } of types[at]!.children) {
        const { name, type } = elements[element]!;
        reach(type, below(found[at]!, name.localName));
      }
    return found;
  }

  return {
    named: pathOf,
    attribute: (type, localName) => below(pathOf(type), `@${localName}`),
  };
}

function below({ local, full }: ListName, step: string): ListName {
  return { local: `${local}/${step}`, full: `${full}/${step}` };
}

/** Returns the local name if it is unique. */
function listNames(names: readonly ListName[]): (name: ListName) => string {
  const fulls = new Map<string, string>();
  const shared = new Set<string>();
  for (const { local, full } of names) {
    if ((fulls.get(local) ?? full) !== full) shared.add(local);
    fulls.set(local, full);
  }
  return ({ local, full }) => (shared.has(local) ? full : local);
}
