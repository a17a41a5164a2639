/** Models in packed form: to be stored, and to be handed from one thread to another. */
import { membersOf, hasKeyUndecoded, peekMember, withKnownKeys } from './reader.ts';
import type { RelationalModel, Column, MappingEntry, Table } from '../relational-model.ts';
import { factsOf, withFacts, type ModelFacts } from '../facts.ts';
import { mapInSlices } from '../../in-slices.ts';
import { packJson, unpackElements, unpackJson } from './writer.ts';
import type { SourceModel } from '../source-model.ts';

// The index of each table by name, found without decoding the tables of a large model.

const known = new WeakMap<RelationalModel['tables'], ReadonlyMap<string, number>>();

/** Indexes by name, in the order of the model. */
export function tableIndexes({ tables }: Pick<RelationalModel, 'tables'>): ReadonlyMap<string, number> {
  let indexes = known.get(tables);
  if (indexes === undefined) {
    indexes = new Map(membersOf(tables, 'name').map((name, index) => [name, index]));
    known.set(tables, indexes);
  }
  return indexes;
}

// The packed form of models.

export interface PackedRelationalModel {
  /** everything except the mappings: the data for making rows, and the facts that follow from the whole model (`ModelFacts`) */
  readonly plan: Uint8Array<ArrayBuffer>;
  readonly mappings: Uint8Array<ArrayBuffer>;
}

/** The property in which an unpacked model keeps its original bytes, so that it can be stored again without packing. */
const packedForm = Symbol('packed form');

/** The property of such a model with the function that decodes its mappings in slices. */
const mappingsInSlices = Symbol('mappings in slices');

export function packRelationalModel(
  model: RelationalModel & { readonly [packedForm]?: () => PackedRelationalModel },
): PackedRelationalModel {
  const known = model[packedForm];
  if (known !== undefined) return known();
  const { mappings, ...plan } = model;
  const lazy = { indexed: ['tables', 'nodes'], held: ['columns', 'formerTables'] };
  return {
    plan: packJson({ ...plan, facts: factsOf(model) }, lazy),
    mappings: packJson(mappings),
  };
}

/** Returns the model with other parts. The remaining parts are still decoded on first access. */
export function withOtherParts(model: RelationalModel, parts: Partial<RelationalModel>): RelationalModel {
  const { [packedForm]: _, ...own } = Object.getOwnPropertyDescriptors(model) as PropertyDescriptorMap;
  const others = Object.entries(parts).map(([name, value]) => [name, { value, enumerable: true }] as const);
  return Object.defineProperties({}, { ...own, ...Object.fromEntries(others) }) as RelationalModel;
}

/** Returns the table with columns derived from its own on first access. Lists must remain lists. */
export function withOtherColumns(
  table: Table,
  other: (columns: Table['columns']) => Table['columns'],
): Table {
  let made: Table['columns'] | null = null;
  const look = (): Table['columns'] => made ?? other(peekMember(table, 'columns'));
  const get = withKnownKeys(() => (made ??= look()), look, table, 'columns');
  return Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(table),
      columns: { enumerable: true, get },
    },
  ) as Table;
}

/**
 * Returns the model with other columns instead of its own, made on first access. `only`: indexes of the tables to change (default: all).
 */
export function withColumns(
  model: RelationalModel,
  other: (column: Column) => Column,
  only?: ReadonlySet<number>,
): RelationalModel {
  const tables = model.tables.map((table, index) =>
    only?.has(index) === false ? table : withOtherColumns(table, (columns) => columns.map(other)),
  );
  return withOtherParts(model, { tables });
}

/** True if the table has list columns. Does not decode the columns of an unpacked table. */
export function hasLists(table: Table): boolean {
  return (
    hasKeyUndecoded(table, 'columns', 'listNames') ??
    table.columns.some(({ listNames }) => listNames !== undefined)
  );
}

/** Tables, nodes and the columns of tables are decoded when they are looked at, mappings (`mappings` gives their bytes) all at once. */
export function unpackRelationalModel(
  plan: Uint8Array<ArrayBuffer>,
  mappings: () => Uint8Array<ArrayBuffer>,
): RelationalModel {
  const { facts, ...model } = unpackJson(plan) as Omit<RelationalModel, 'mappings'> & { facts: ModelFacts };
  let read: readonly MappingEntry[] | null = null;
  const whole = Object.defineProperties(model, {
    mappings: {
      enumerable: true,
      get: () => (read ??= unpackJson(mappings()) as readonly MappingEntry[]),
    },
    [packedForm]: { value: () => ({ plan, mappings: mappings() }) },
    [mappingsInSlices]: {
      value: async () => (read ??= await entriesInSlices(mappings())),
    },
  }) as RelationalModel;
  return withFacts(whole, facts);
}

/** The mappings of a model; of one that was unpacked, decoded in slices unless they were looked at already. */
export async function readMappings(
  model: RelationalModel & { readonly [mappingsInSlices]?: () => Promise<readonly MappingEntry[]> },
): Promise<readonly MappingEntry[]> {
  return await (model[mappingsInSlices]?.() ?? model.mappings);
}

/** `packed`: of a list of mappings. */
export function entriesInSlices(packed: Uint8Array): Promise<MappingEntry[]> {
  return mapInSlices(unpackElements(packed), (entry) => entry as MappingEntry);
}

export function packSourceModel(
  model: SourceModel & { readonly [packedForm]?: Uint8Array<ArrayBuffer> },
): Uint8Array<ArrayBuffer> {
  return model[packedForm] ?? packJson(model, { indexed: ['elements', 'types'] });
}

/** Elements and types are decoded one by one when they are looked at. */
export function unpackSourceModel(packed: Uint8Array<ArrayBuffer>): SourceModel {
  return Object.defineProperty(unpackJson(packed) as SourceModel, packedForm, { value: packed });
}
