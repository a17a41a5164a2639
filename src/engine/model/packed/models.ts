/** Models in packed form: to be stored, and to be handed from one thread to another. */
import { factsOf, withFacts, type ModelFacts } from '../facts.ts';
import { packJson, unpackJson } from './json.ts';
import type { MappingEntry, RelationalModel } from '../relational-model.ts';
import type { SourceModel } from '../source-model.ts';

export interface PackedRelationalModel {
  /** all but the mappings: what rows are made with; and what follows from the whole (`ModelFacts`) */
  readonly plan: Uint8Array<ArrayBuffer>;
  readonly mappings: Uint8Array<ArrayBuffer>;
}

/** Where a model that was unpacked keeps the bytes it came from, so that storing it again costs no packing. */
const packedForm = Symbol('packed form');

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
  }) as RelationalModel;
  return withFacts(whole, facts);
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
