/** Tables of a catalogue as PyIceberg reads them through it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import { duckDbRows, type TextRow } from '../row-sinks/readers.ts';
import { runPyiceberg } from '../targets/readers/pyiceberg.ts';

const script = `
import sys
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
address, endpoint, access, secret = sys.argv[1:5]
catalogue = load_catalog("ours", uri=address, **{"s3.endpoint": endpoint, "s3.region": "us-east-1",
    "s3.access-key-id": access, "s3.secret-access-key": secret})
for at in range(5, len(sys.argv), 2):
    name, out = sys.argv[at:at + 2]
    table = catalogue.load_table(name)
    rows = table.scan().to_arrow()
    snapshot = table.current_snapshot()
    if snapshot is not None:
        assert int(snapshot.summary["total-records"]) == rows.num_rows
    pq.write_table(rows, out)
`;

/** Rows of tables, each `NAMESPACE.TABLE`, every value as text. One process reads them all. */
export async function catalogueRows(
  address: string,
  store: S3Settings,
  tables: readonly string[],
): Promise<TextRow[][]> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalogue-reader-'));
  try {
    const files = tables.map((_, at) => join(scratch, `${at}.parquet`));
    await runPyiceberg(
      script,
      address,
      store.endpoint,
      store.accessKeyId,
      store.secretAccessKey,
      ...tables.flatMap((table, at) => [table, files[at]!]),
    );
    return await Promise.all(files.map((file) => duckDbRows(':memory:', `read_parquet('${file}')`)));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
