/** Delta tables as the library of delta-rs reads them: another program, which knows nothing of how they were written. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tableFolder } from '../../../../src/targets/files/lake/manifest.ts';
import { duckDbRows, type TargetReader, type TextRow } from '../../row-sinks/readers.ts';
import { programOf } from '../../../support/needs.ts';

/** Writes the rows of each table as a Parquet file, and checks that the log's statistics agree with the rows. */
const script = `
import sys
import pyarrow.parquet as pq
from deltalake import DeltaTable
for at in range(1, len(sys.argv), 2):
    table = DeltaTable(sys.argv[at])
    rows = table.to_pyarrow_table()
    assert sum(table.get_add_actions(flatten=True).column("num_records").to_pylist()) == rows.num_rows
    pq.write_table(rows, sys.argv[at + 1])
`;

/** A script of Python's with deltalake and pyarrow; what it prints. */
export async function runDeltalake(source: string, ...argv: readonly string[]): Promise<string> {
  // threads of its libraries may not survive an orderly end
  const whole = `${source}\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n`;
  const { stdout } = await promisify(execFile)(programOf('deltalake')!, ['-c', whole, ...argv]);
  return stdout;
}

export function deltalakeReader(directory: string): TargetReader {
  return {
    read: async (table) => {
      const folder = tableFolder(table);
      try {
        return (await rowsOfFolders(directory, [folder])).get(folder)!;
      } catch (error) {
        if (String(error).includes('TableNotFoundError')) return null;
        throw error;
      }
    },
  };
}

/** A reader of a folder whose tables do not change any more: one process reads them all, at the first question. */
export function deltalakeFolderReader(directory: string): TargetReader {
  let rows: Promise<ReadonlyMap<string, TextRow[]>> | null = null;
  return {
    read: async (table) => {
      rows ??= readdir(directory).then((names) =>
        rowsOfFolders(
          directory,
          names.filter((name) => existsSync(join(directory, name, '_delta_log'))),
        ),
      );
      return (await rows).get(tableFolder(table)) ?? null;
    },
  };
}

/** Rows by folder of a table below `directory`. */
async function rowsOfFolders(
  directory: string,
  folders: readonly string[],
): Promise<ReadonlyMap<string, TextRow[]>> {
  const scratch = await mkdtemp(join(tmpdir(), 'deltalake-'));
  try {
    const files = folders.map((folder, at) => [folder, join(scratch, `${at}.parquet`)] as const);
    await runDeltalake(script, ...files.flatMap(([folder, file]) => [join(directory, folder), file]));
    const rows = new Map<string, TextRow[]>();
    for (const [folder, file] of files)
      rows.set(folder, await duckDbRows(':memory:', `read_parquet('${file}')`));
    return rows;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
