/** Iceberg tables as PyIceberg reads them: another program, which knows nothing of how they were written. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tableFolder } from '../../../../src/targets/files/lake/manifest.ts';
import { duckDbRows, type TargetReader, type TextRow } from '../../row-sinks/readers.ts';
import { programOf } from '../../../support/needs.ts';

/** Writes the rows of each table as a Parquet file, and checks that the summary and the manifests agree with the rows. */
const script = `
import sys
import pyarrow.parquet as pq
for at in range(1, len(sys.argv), 2):
    folder, out = sys.argv[at:at + 2]
    table = opened(folder)
    rows = table.scan().to_arrow()
    snapshot = table.current_snapshot()
    if snapshot is not None:
        assert int(snapshot.summary["total-records"]) == rows.num_rows
        assert sum(task.file.record_count for task in table.scan().plan_files()) == rows.num_rows
    pq.write_table(rows, out)
`;

const opening = `
from pyiceberg.table import StaticTable
def opened(folder):
    with open(folder + "/metadata/version-hint.text") as hint:
        return StaticTable.from_metadata(f"{folder}/metadata/v{hint.read().strip()}.metadata.json")
`;

/** A script of Python's in which \`opened(FOLDER)\` is a table; what it prints. */
export async function runPyiceberg(source: string, ...argv: readonly string[]): Promise<string> {
  const whole = `${opening}\n${source}\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n`;
  const { stdout } = await promisify(execFile)(programOf('pyiceberg')!, ['-c', whole, ...argv]);
  return stdout;
}

export function pyicebergReader(directory: string): TargetReader {
  return {
    read: async (table) => {
      const folder = tableFolder(table);
      if (!existsSync(join(directory, folder))) return null;
      return (await rowsOfFolders(directory, [folder])).get(folder)!;
    },
  };
}

/** A reader of a folder whose tables do not change any more: one process reads them all, at the first question. */
export function pyicebergFolderReader(directory: string): TargetReader {
  let rows: Promise<ReadonlyMap<string, TextRow[]>> | null = null;
  return {
    read: async (table) => {
      rows ??= readdir(directory).then((names) =>
        rowsOfFolders(
          directory,
          names.filter((name) => existsSync(join(directory, name, 'metadata'))),
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
  const scratch = await mkdtemp(join(tmpdir(), 'pyiceberg-'));
  try {
    const files = folders.map((folder, at) => [folder, join(scratch, `${at}.parquet`)] as const);
    await runPyiceberg(script, ...files.flatMap(([folder, file]) => [join(directory, folder), file]));
    const rows = new Map<string, TextRow[]>();
    for (const [folder, file] of files)
      rows.set(folder, await duckDbRows(':memory:', `read_parquet('${file}')`));
    return rows;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
