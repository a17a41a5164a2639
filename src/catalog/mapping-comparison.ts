/** How two source-to-target maps differ, path by path (interface-decisions §3, MappingComparison). */
import type { CatalogStore, MappingRecord } from '../ports/catalog-store.ts';
import { listMappings } from './logical-schema.ts';

/** What two lines of the same path are compared by; ids differ always. */
const comparedFields = [
  'source_type',
  'min_occurs',
  'max_occurs',
  'table_name',
  'column_name',
  'data_type',
  'length',
  'nullable',
  'key',
  'active',
  'documentation',
] as const satisfies readonly (keyof MappingRecord)[];

type FieldValue = MappingRecord[(typeof comparedFields)[number]];

/** In wire form. */
export interface MappingComparison {
  readonly xpath: string;
  readonly change: 'added' | 'removed' | 'changed' | 'same';
  readonly differences: readonly {
    readonly field: string;
    readonly from: FieldValue;
    readonly to: FieldValue;
  }[];
  readonly from: MappingRecord | null;
  readonly to: MappingRecord | null;
}

interface Side {
  readonly idSch: number;
  readonly idLschma?: number;
}

/** Lines of `from` in their order, then those that are new in `to`; keys and positions have no path and are left out. */
export async function compareMappings(
  catalog: CatalogStore,
  idOrg: number,
  from: Side,
  to: Side,
  options: { readonly all: boolean },
): Promise<readonly MappingComparison[]> {
  const [before, after] = await Promise.all(
    [from, to].map((side) => listMappings(catalog, idOrg, side.idSch, side.idLschma)),
  );
  const added = byIdentity(after!);
  const result: MappingComparison[] = [];
  for (const [identity, line] of byIdentity(before!)) {
    const other = added.get(identity);
    added.delete(identity);
    if (other === undefined) {
      result.push({ xpath: line.xpath!, change: 'removed', differences: [], from: line, to: null });
      continue;
    }
    const differences = comparedFields.flatMap((field) =>
      line[field] === other[field] ? [] : [{ field, from: line[field], to: other[field] }],
    );
    const change = differences.length > 0 ? 'changed' : 'same';
    if (change === 'changed' || options.all) {
      result.push({ xpath: line.xpath!, change, differences, from: line, to: other });
    }
  }
  for (const line of added.values()) {
    result.push({ xpath: line.xpath!, change: 'added', differences: [], from: null, to: line });
  }
  return result;
}

/** A path has several lines of one kind where it leads to shared tables in more than one way. */
function byIdentity(mappings: readonly MappingRecord[]): Map<string, MappingRecord> {
  const lines = new Map<string, MappingRecord>();
  for (const line of mappings) {
    if (line.xpath === null) continue;
    const kind = `${line.xpath} ${line.node_type}`;
    let identity = kind;
    for (let number = 2; lines.has(identity); number += 1) identity = `${kind} ${number}`;
    lines.set(identity, line);
  }
  return lines;
}
