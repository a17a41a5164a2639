/** Tables of Parquet files while they are read: as they are stored where that will do, else by DuckDB. */
import { join } from 'node:path';
import type { ColumnType } from '../../../../engine/model/relational-model.ts';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { fractionDigits } from '../../../../engine/sql/fraction-digits.ts';
import type { ClosableBlocks, DocumentRowsOnly } from '../../../rows/table-row-source.ts';
import { pathLiteral } from '../../../sql/duckdb/database.ts';
import type { SourceTable } from '../../../sql/duckdb/reader.ts';
import { lexicalText } from '../../../sql/duckdb/types.ts';
import type { ManifestFile, ManifestTable } from '../contents/manifest.ts';
import type { NamedColumn } from '../contents/table-columns.ts';
import type { OpenedTables } from '../layouts/folder-layout.ts';
import { bytesOf, HeldRoom, heldValueBytes, pieceBytesOf, rowsInOrder } from './held-room.ts';
import { createStoredRowsMemory, openStoredRows, type StoredRowsMemory } from './parquet-rows.ts';

export async function openParquetTables(
  directory: string,
  label: string,
  tables: readonly ManifestTable[],
): Promise<OpenedTables> {
  const memory = createStoredRowsMemory();
  const room = new HeldRoom(false);
  const allBytes = bytesOf(tables.flatMap(({ files }) => files));
  return {
    table: (table, columns) => {
      const pieceBytes = pieceBytesOf(bytesOf(table.files), allBytes);
      return parquetTable({ directory, label, pieceBytes, memory }, room, table, columns);
    },
  };
}

interface ParquetFiles {
  readonly directory: string;
  readonly label: string;
  readonly pieceBytes: number;
  readonly memory: StoredRowsMemory;
}

function parquetTable(
  stored: ParquetFiles,
  room: HeldRoom,
  { files }: ManifestTable,
  columns: readonly NamedColumn[],
): SourceTable {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const names = new Set(files.flatMap((file) => file.columns));
  const asTheyLie = async (wanted: readonly string[]): Promise<ClosableBlocks | null> =>
    storedRows(stored, files, types, { key: null, only: null }, wanted);
  return {
    from: `(${files.map((file) => parquetFile(join(stored.directory, file.name), file, types)).join(' UNION ALL BY NAME ')})`,
    whole: (name) => (names.has(name) ? `${doubleQuoted(name)}::BIGINT` : null),
    holds: (name, text) => `${doubleQuoted(name)} = ${standardLiteral(text)}`,
    // as `lexicalText` makes it
    text: (name) => (names.has(name) ? { expression: doubleQuoted(name), decode: null } : null),
    inOrder: async (key, wanted, only) => {
      const found = await storedRows(stored, files, types, { key, only }, wanted);
      if (found !== null || only !== null) return found;
      return rowsInOrder({ files, room, asTheyLie }, key, wanted);
    },
    fewAsTheyLie: async (wanted) =>
      room.take(files, wanted.length, heldValueBytes.named) ? asTheyLie(wanted) : null,
  };
}

function storedRows(
  { directory, label, pieceBytes, memory }: ParquetFiles,
  files: readonly ManifestFile[],
  known: ReadonlyMap<string, ColumnType>,
  { key, only }: { readonly key: string | null; readonly only: DocumentRowsOnly | null },
  wanted: readonly string[],
): Promise<ClosableBlocks | null> {
  return openStoredRows({
    files: files.map(({ name: file, columns, types = [] }) => ({
      path: join(directory, file),
      columns: new Map(
        columns.map((name, at) => {
          const fraction = fractionDigits(known.get(name));
          return [name, { sqlType: types[at] ?? 'VARCHAR', fraction }] as const;
        }),
      ),
    })),
    key,
    only: only === null ? null : { column: only.column, number: BigInt(only.key) },
    wanted,
    blockBytes: pieceBytes,
    label,
    memory,
  });
}

function parquetFile(
  path: string,
  { columns, types = [] }: ManifestFile,
  known: ReadonlyMap<string, ColumnType>,
): string {
  const values = columns.map((name, at) => {
    const column = doubleQuoted(name);
    return `${lexicalText(column, types[at] ?? 'VARCHAR', fractionDigits(known.get(name)))} AS ${column}`;
  });
  return `SELECT ${values.join(', ')} FROM read_parquet(${pathLiteral(path)})`;
}
