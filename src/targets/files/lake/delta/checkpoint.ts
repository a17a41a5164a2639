/** Checkpoints: all actions that count up to a version, as Parquet, so that nobody need read the log from its beginning. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openDuckDbReader, pathLiteral } from '../../../sql/duckdb/database.ts';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import type { LakeFiles } from '../table-format.ts';
import type { Action, DeltaState } from './actions.ts';

/** `log`: the folder of the table's log. */
export async function readCheckpoint(
  place: LakeFiles,
  log: string,
  names: readonly string[],
): Promise<Action[]> {
  const spill = await mkdtemp(join(tmpdir(), 'delta-checkpoint-'));
  try {
    const paths: string[] = [];
    for (const name of names) paths.push(await place.localFile(`${log}/${name}`));
    const database = await openDuckDbReader(':memory:', spill, { data: dirname(paths[0]!), streams: 1 });
    try {
      const actions: Action[] = [];
      for (const path of paths) {
        const rows = await database.read<{ action: string }>(
          `SELECT to_json(t)::VARCHAR AS action FROM read_parquet(${pathLiteral(path)}, hive_partitioning = false) t`,
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

/** versions from one checkpoint to the next, where the table has no other wish */
const usualInterval = 10;

/** Whether that version of the table is to have a checkpoint: each tenth, and one after ten that others made without any. */
export function isCheckpointDue({
  version,
  metadata,
  checkpoint,
}: Pick<DeltaState, 'version' | 'metadata' | 'checkpoint'>): boolean {
  const wanted = Number(metadata.configuration?.['delta.checkpointInterval']);
  const interval = Number.isInteger(wanted) && wanted > 0 ? wanted : usualInterval;
  return version > 0 && (version % interval === 0 || version - checkpoint > interval);
}

/** Of the columns of a checkpoint that versions before sidecars have. */
const columns = {
  txn: 'STRUCT("appId" VARCHAR, "version" BIGINT)',
  add: 'STRUCT("path" VARCHAR, "partitionValues" MAP(VARCHAR, VARCHAR), "size" BIGINT, "modificationTime" BIGINT, "dataChange" BOOLEAN, "tags" MAP(VARCHAR, VARCHAR), "stats" VARCHAR)',
  remove:
    'STRUCT("path" VARCHAR, "deletionTimestamp" BIGINT, "dataChange" BOOLEAN, "extendedFileMetadata" BOOLEAN, "partitionValues" MAP(VARCHAR, VARCHAR), "size" BIGINT)',
  metaData:
    'STRUCT("id" VARCHAR, "name" VARCHAR, "description" VARCHAR, "format" STRUCT("provider" VARCHAR, "options" MAP(VARCHAR, VARCHAR)), "schemaString" VARCHAR, "partitionColumns" VARCHAR[], "configuration" MAP(VARCHAR, VARCHAR), "createdTime" BIGINT)',
  protocol:
    'STRUCT("minReaderVersion" INTEGER, "minWriterVersion" INTEGER, "readerFeatures" VARCHAR[], "writerFeatures" VARCHAR[])',
} as const;

export interface CheckpointPlace {
  readonly files: LakeFiles;
  readonly log: string;
  /** the name's digits of that version */
  readonly digits: string;
  /** a folder of this machine for what is not finished */
  readonly drafts: string;
  readonly run: (sql: string) => Promise<unknown>;
}

/** Writes that of the state. Nothing of it is there before all of it is. */
export async function writeCheckpoint(
  { version, protocol, metadata, files, removed, transactions }: DeltaState,
  { files: place, log, digits, drafts, run }: CheckpointPlace,
): Promise<void> {
  const actions: Action[] = [
    { protocol },
    { metaData: metadata },
    ...[...transactions].map(([appId, last]): Action => ({ txn: { appId, version: last } })),
    ...[...files.values()].map((add): Action => ({ add: { ...add, dataChange: false } })),
    ...[...removed.values()].map((remove): Action => ({ remove: { ...remove, dataChange: false } })),
  ];
  const draft = join(drafts, `.checkpoint-${randomUUID()}`);
  const [lines, parquet] = [`${draft}.json`, `${draft}.parquet`];
  try {
    await writeFile(lines, actions.map((action) => `${JSON.stringify(action)}\n`).join(''), { flag: 'wx' });
    const types = Object.entries(columns).map(([name, type]) => `${name}: ${standardLiteral(type)}`);
    await run(
      `COPY (SELECT * FROM read_json(${pathLiteral(lines)}, format = 'newline_delimited', columns = {${types.join(', ')}})) TO ${standardLiteral(parquet)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    await place.add(parquet, `${log}/${digits}.checkpoint.parquet`);
    // where to begin; whoever does not find it looks at the names
    await place.write(`${log}/_last_checkpoint`, JSON.stringify({ version, size: actions.length }));
  } finally {
    for (const path of [lines, parquet]) await rm(path, { force: true });
  }
}
