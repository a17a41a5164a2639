/** Lists the documents in a folder of tables: reads the files of `_documents` that its manifest lists. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { recordForms, type RecordFormat } from '../../../engine/records/split.ts';
import type { ManifestTable } from './manifest.ts';

/** Returns the names of the files of `_documents`. `tables`: the tables of the folder. */
export function documentFiles(tables: readonly ManifestTable[]): readonly string[] {
  const files = tables.find(({ name }) => name === sideTableNames.documents)?.files ?? [];
  return files.map(({ name }) => name);
}

/** Reads the hash from a record of `_documents`. */
const recordHash: Readonly<Record<RecordFormat, (row: string) => string | undefined>> = {
  csv: csvHash,
  tsv: tsvHash,
  jsonl: jsonHash,
};

/** Reads the SHA-256 hashes from a text file of `_documents`. */
export async function* textHashes(path: string, format: RecordFormat): AsyncIterable<string> {
  const hashOf = recordHash[format];
  const { isQuoted } = recordForms[format];
  // a quoted name may contain a line break: then the row continues on the next line
  let row = '';
  for await (const line of linesOf(path)) {
    row += row === '' ? line : `\n${line}`;
    if (isQuoted && row.split('"').length % 2 === 0) continue;
    const sha256 = hashOf(row);
    row = '';
    if (sha256 !== undefined) yield sha256;
  }
}

/** Only LF ends a line here, because names may contain other line ends. */
async function* linesOf(path: string): AsyncIterable<string> {
  let rest = '';
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const pieces = file.createReadStream({ encoding: 'utf8', autoClose: false }) as AsyncIterable<string>;
    for await (const piece of pieces) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    await file.close();
  }
}

const column = 2;

function csvHash(row: string): string | undefined {
  return [...row.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g)][column]?.[1];
}

/** PostgreSQL's text form: a tab inside a value is written `\t`. */
function tsvHash(row: string): string | undefined {
  return row.split('\t')[column];
}

function jsonHash(row: string): string | undefined {
  return (JSON.parse(row) as { sha256?: string }).sha256;
}

/** Reads the SHA-256 hashes from a Parquet file of `_documents`. `directory`: the only one that DuckDB may read. */
export async function* parquetHashes(directory: string, path: string): AsyncIterable<string> {
  const { openDuckDb, pathLiteral } = await import('../../sql/duckdb/database.ts');
  const database = await openDuckDb(':memory:', { directory, memoryBytes: 128 * 1024 * 1024 });
  try {
    const rows = await database.read<{ sha256: string }>(
      `SELECT sha256 FROM read_parquet(${pathLiteral(path)})`,
    );
    for (const { sha256 } of rows) yield sha256;
  } finally {
    database.close();
  }
}
