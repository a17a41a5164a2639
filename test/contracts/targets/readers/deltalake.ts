/** Delta tables as the library of delta-rs reads them: another program, which knows nothing of how they were written. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tableFolder } from '../../../../src/adapters/lake/manifest.ts';
import { duckDbRows, type TargetReader } from '../../row-sinks/readers.ts';
import { programOf } from '../../../support/needs.ts';

/** What it reads, written as one file of Parquet, and whether the log's statistics agree with the rows. */
const script = `
import sys
import pyarrow.parquet as pq
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
rows = table.to_pyarrow_table()
assert sum(table.get_add_actions(flatten=True).column("num_records").to_pylist()) == rows.num_rows
pq.write_table(rows, sys.argv[2])
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
      const scratch = await mkdtemp(join(tmpdir(), 'deltalake-'));
      try {
        const file = join(scratch, 'rows.parquet');
        await runDeltalake(script, join(directory, tableFolder(table)), file);
        return await duckDbRows(':memory:', `read_parquet('${file}')`);
      } catch (error) {
        if (String(error).includes('TableNotFoundError')) return null;
        throw error;
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  };
}
