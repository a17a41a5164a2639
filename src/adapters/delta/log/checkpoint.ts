/** What a checkpoint tells: all actions that count up to its version, in files of Parquet, which others write. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbReader, pathLiteral } from '../../duckdb/database.ts';
import { refuseLink } from '../../folder/loaded-documents.ts';
import type { Action } from './actions.ts';

export async function readCheckpoint(log: string, names: readonly string[]): Promise<Action[]> {
  const spill = await mkdtemp(join(tmpdir(), 'delta-checkpoint-'));
  try {
    const database = await openDuckDbReader(':memory:', spill, { data: log, streams: 1 });
    try {
      const actions: Action[] = [];
      for (const name of names) {
        await refuseLink(join(log, name));
        const rows = await database.read<{ action: string }>(
          `SELECT to_json(t)::VARCHAR AS action FROM read_parquet(${pathLiteral(join(log, name))}, hive_partitioning = false) t`,
        );
        for (const { action } of rows) actions.push(JSON.parse(action) as Action);
      }
      return actions;
    } finally {
      database.close();
    }
  } finally {
    await rm(spill, { recursive: true, force: true });
  }
}
