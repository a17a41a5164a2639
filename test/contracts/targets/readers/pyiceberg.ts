/** Iceberg tables as PyIceberg reads them: another program, which knows nothing of how they were written. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tableFolder } from '../../../../src/adapters/lake/manifest.ts';
import { duckDbRows, type TargetReader } from '../../row-sinks/readers.ts';
import { programOf } from '../../../support/needs.ts';

/** What it reads, written as one file of Parquet, and whether the summary and the manifests agree with the rows. */
const script = `
import sys
import pyarrow.parquet as pq
folder, out = sys.argv[1:3]
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
      const folder = join(directory, tableFolder(table));
      if (!existsSync(folder)) return null;
      const scratch = await mkdtemp(join(tmpdir(), 'pyiceberg-'));
      try {
        const file = join(scratch, 'rows.parquet');
        await runPyiceberg(script, folder, file);
        return await duckDbRows(':memory:', `read_parquet('${file}')`);
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  };
}
