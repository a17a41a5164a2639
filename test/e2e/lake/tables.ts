/** Rows of all tables by what they are: what tells one load from the same one elsewhere is left out. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../src/engine/model/side-tables.ts';
import type { TargetReader, TextRow } from '../../contracts/row-sinks/readers.ts';
import { canonicalRows, type CanonicalRow } from '../../contracts/targets/values.ts';

/** Tables of all versions of a model, the oldest first. */
export type ModelTables = RelationalModel['tables'];

/** Numbers and times of the loads themselves. */
const ofLoads = new Set(['loaded_at', 'published_at', 'installation', 'job_uuid', 'model_sha256']);

/** By name. Jobs are numbered as they came; a column that a file lacks is as one without a value. */
export async function readTables(
  tables: ModelTables,
  reader: TargetReader,
): Promise<Map<string, readonly CanonicalRow[]>> {
  const { documents, loads, unmapped, lexical } = sideTableDefinitions;
  const sides = [loads, documents, unmapped, lexical];
  const found = new Map<string, readonly CanonicalRow[]>();
  const jobs = new Map<string, string>();
  for (const [name, versions] of Map.groupBy([...sides, ...tables], (table) => table.name)) {
    const types = new Map(
      versions.flatMap(({ columns }) => columns.map(({ name: own, type }) => [own, type])),
    );
    const read = (await reader.read(name)) ?? [];
    const rows = name === lexical.name ? read.filter((row) => !isKeptBySome(tables, row)) : read;
    if (name === loads.name)
      for (const row of rows.toSorted((a, b) => Number(a['job']) - Number(b['job'])))
        jobs.set(row['job']!, String(jobs.size + 1));
    found.set(
      name,
      canonicalRows(
        types,
        rows.map((row) => ofAnyLoad(row, jobs)),
      ),
    );
  }
  return found;
}

/** Whether some targets have the value as it is written in the column itself: zeros behind the point, where decimals have no scale. */
function isKeptBySome(tables: ModelTables, row: TextRow): boolean {
  return tables
    .filter(({ name }) => name === row['table_name'])
    .flatMap(({ columns }) => columns)
    .some(
      ({ name, type }) => name === row['column_name'] && type.kind === 'numeric' && type.scale === undefined,
    );
}

function ofAnyLoad(row: TextRow, jobs: ReadonlyMap<string, string>): TextRow {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => value !== null && !ofLoads.has(name))
      .map(([name, value]) => [name, name === 'job' ? (jobs.get(value!) ?? value) : value]),
  );
}
