/** Compares two source-to-target maps path by path (docs/decisions/service/catalogue.md, MappingComparison). */
import { mapInSlices } from '../../engine/in-slices.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { listStoredMappings } from './logical-schema.ts';

/** The fields by which two lines of the same path are compared; ids always differ. */
const comparedFields = [
  'node_type',
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

/** A comparison as in the API. */
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
    [from, to].map((side) => listStoredMappings(catalog, idOrg, side.idSch, side.idLschma)),
  );
  const left = await byPath(after!);
  const result: MappingComparison[] = [];
  await mapInSlices(await byPath(before!), ([xpath, lines]) => {
    const others = left.get(xpath) ?? [];
    left.delete(xpath);
    for (const [line, other] of pairs(lines, others)) {
      if (line === null || other === null) {
        const change = line === null ? 'added' : 'removed';
        result.push({ xpath, change, differences: [], from: line, to: other });
        continue;
      }
      const differences = comparedFields.flatMap((field) =>
        line[field] === other[field] ? [] : [{ field, from: line[field], to: other[field] }],
      );
      const change = differences.length > 0 ? 'changed' : 'same';
      if (change === 'changed' || options.all)
        result.push({ xpath, change, differences, from: line, to: other });
    }
  });
  for (const [xpath, lines] of left)
    for (const line of lines) result.push({ xpath, change: 'added', differences: [], from: null, to: line });
  return result;
}

/**
 * Groups lines by path. A path has several lines if its element has a row and a value, or if it leads to shared tables in more than one
 * way.
 */
async function byPath(mappings: readonly MappingRecord[]): Promise<Map<string, MappingRecord[]>> {
  const grouped = new Map<string, MappingRecord[]>();
  await mapInSlices(mappings, (line) => {
    if (line.xpath === null || line.node_type === null) return;
    const known = grouped.get(line.xpath);
    if (known === undefined) grouped.set(line.xpath, [line]);
    else known.push(line);
  });
  return grouped;
}

type Pair = readonly [from: MappingRecord | null, to: MappingRecord | null];

/**
 * Pairs the lines of one path with their counterparts: first those of the same kind, then those that hold the element's content, whose
 * kind changes if it gets a row of its own. The row itself is then not a line of its own, because the line of the content names its
 * table.
 */
function pairs(from: readonly MappingRecord[], to: readonly MappingRecord[]): readonly Pair[] {
  const counterpart = new Map<MappingRecord, MappingRecord>();
  const taken = new Set<MappingRecord>();
  const pair = (kindOf: (line: MappingRecord) => string | null): void => {
    for (const line of from) {
      const kind = kindOf(line);
      if (counterpart.has(line) || kind === null) continue;
      const other = to.find((candidate) => !taken.has(candidate) && kindOf(candidate) === kind);
      if (other === undefined) continue;
      counterpart.set(line, other);
      taken.add(other);
    }
  };
  pair((line) => `${line.node_type} ${line.column_name === null}`);
  pair((line) => (isOwn(line) && !opensRow(line) ? 'content' : null));
  pair((line) => (isOwn(line) ? 'element' : null));
  const moved = from.some((line) => isOwn(line) && counterpart.has(line));
  const stands = (line: MappingRecord): boolean => !(moved && opensRow(line));
  return [
    ...from.flatMap((line): Pair[] => {
      const other = counterpart.get(line) ?? null;
      return other !== null || stands(line) ? [[line, other]] : [];
    }),
    ...to.filter((line) => !taken.has(line) && stands(line)).map((line): Pair => [null, line]),
  ];
}

/** A line of the element itself: its row, its presence or its content. */
function isOwn({ node_type: kind }: MappingRecord): boolean {
  return kind === 'element' || kind === 'text';
}

function opensRow(line: MappingRecord): boolean {
  return line.column_name === null && isOwn(line);
}
