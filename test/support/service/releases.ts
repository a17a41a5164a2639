/** Targets that a release leaves behind for the versions after it (scripts/release-fixture.ts). */
import { join } from 'node:path';

export const schemaOfReleases = 'orders';

/** Options of `xml2er` for one target of each kind; `-i` and `-f` of `er2xml` take the same values. */
export function releaseTargets(folder: string): readonly (readonly string[])[] {
  return [
    ['-o', 'metadb:orders'],
    ['-o', `sqlite:${join(folder, 'orders.sqlite')}`],
    ['-o', `duckdb:${join(folder, 'orders.duckdb')}`],
    ['-o', join(folder, 'tsv'), '-f', 'tsv'],
    ['-o', join(folder, 'jsonl'), '-f', 'jsonl'],
    ['-o', join(folder, 'parquet'), '-f', 'parquet'],
    ['-o', join(folder, 'delta'), '-f', 'delta'],
    ['-o', join(folder, 'iceberg'), '-f', 'iceberg'],
  ];
}
