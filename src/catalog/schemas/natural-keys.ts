/** Natural keys that people declare of the tables of an origin. */
import { modelName } from '../../engine/sql/physical-names.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { saveModeLetters } from '../../jobs/options/mode-letters.ts';
import type { NaturalKeyColumn } from '../../ports/stores/catalog.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';
import type { BrokenKey } from '../../ports/rows/sink.ts';

/** A declared key that a target could not keep, and the run that broke it. */
export interface BrokenNaturalKey {
  readonly tableName: string;
  readonly columns: readonly string[];
  readonly pid: number;
}

/** number of runs that are inspected */
const latestRuns = 100;

/** Natural keys that were broken in each target since it was overwritten last. `idSchs`: the members of the family that has the keys. */
export async function brokenNaturalKeys(
  jobs: Pick<JobStore, 'listRuns'>,
  idOrg: number,
  idSchs: readonly number[],
): Promise<readonly BrokenNaturalKey[]> {
  const { content } = await jobs.listRuns(idOrg, idSchs, 0, latestRuns);
  const settled = new Set<string | null>();
  return content.flatMap(({ record, summary }): BrokenNaturalKey[] => {
    const { status, job_type: type, parm_path_output: targetUrl, params_json: params, id_job: pid } = record;
    if (status !== 'completed' || type !== 'Parse' || settled.has(targetUrl)) return [];
    const { action } = JSON.parse(params) as { readonly action?: { readonly savemode?: unknown } };
    if (action?.savemode === saveModeLetters.overwrite) settled.add(targetUrl);
    const { broken_keys: broken = [] } =
      (summary as { readonly details?: { readonly broken_keys?: readonly BrokenKey[] } } | null)?.details ??
      {};
    return broken.map(({ table, columns }) => ({ tableName: table, columns, pid }));
  });
}

/** The keys without those that data broke; each of these as a line of words. */
export function withoutBroken(
  keys: readonly NaturalKeyColumn[],
  broken: readonly BrokenNaturalKey[],
): { readonly keys: readonly NaturalKeyColumn[]; readonly notes: readonly string[] } {
  const notes: string[] = [];
  const kept = [...Map.groupBy(keys, ({ tableName }) => tableName)].flatMap(([tableName, columns]) => {
    const names = columns.map(({ columnName }) => columnName);
    const found = broken.find(
      (key) => key.tableName === tableName && JSON.stringify(key.columns) === JSON.stringify(names),
    );
    if (found === undefined) return columns;
    notes.push(
      `${tableName}: the natural key (${names.join(', ')}) is left out, as values that job ${found.pid} loaded break it`,
    );
    return [];
  });
  return { keys: kept, notes };
}

/**
 * Returns the model with the keys that people declared; those of tables and columns that this logical schema does not have are ignored.
 */
export function withNaturalKeys(model: RelationalModel, keys: readonly NaturalKeyColumn[]): RelationalModel {
  const byTable = Map.groupBy(keys, ({ tableName }) => tableName);
  if (byTable.size === 0) return model;
  const tables = model.tables.map((table) => {
    const wanted = byTable.get(table.name) ?? [];
    const columns = wanted.map(({ columnName }) =>
      table.columns.findIndex(({ name }) => name === columnName),
    );
    if (columns.length === 0 || columns.includes(-1)) return table;
    return {
      ...table,
      uniqueKeys: [...table.uniqueKeys, { name: modelName(model, `${table.name}_natural_key`), columns }],
    };
  });
  return { ...model, tables };
}
