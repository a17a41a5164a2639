/** DuckDB as a target: rows are staged as CSV, which DuckDB reads into its tables. */
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RowRemover, RowSink } from '../../../ports/rows/sink.ts';
import { fileFault } from '../../../storage/staging/durable-file.ts';
import { columnId, usualRoom } from '../../rows/unfit-columns.ts';
import {
  createDatabaseFileRemover,
  DatabaseFileSink,
  type DatabaseFileRemoverOptions,
  type DatabaseFileOptions,
  type FileDriver,
} from '../database-files.ts';
import { runAll } from '../database.ts';
import {
  foundTable,
  keepCodeTexts,
  keepHigherKey,
  type Publication,
  type StagedTables,
} from '../publication.ts';
import { adaptTable, incomingTypes, type Incoming } from './alter-tables.ts';
import { looksStaged } from './csv-import.ts';
import {
  foldedName,
  lacksMemory,
  memoryFor,
  mostMemory,
  openDuckDb,
  openDuckDbReader,
  type DuckDb,
} from './database.ts';
import { addDocuments, addSideRows, insertRows } from './insert-rows.ts';
import { commentOnView, readTables, tableStatements, readZones } from './tables.ts';
import { columnSqlType } from './types.ts';

/** rows in a row group of DuckDB, and the bytes of their text up to which little memory is enough to fill tables */
const [rowGroupRows, smallGroupBytes] = [122_880, 32 * 1024 * 1024];

/** number of columns filled by one job beyond which all of them together would take too much memory */
const manyColumns = 3000;

/** how long to wait for another program that has the file open */
const usualBusyTimeoutMs = 30_000;

/** errors by which DuckDB refuses the definition of a view, and after which the transaction continues */
const viewRefusals =
  /^(?:Binder|Catalog|Parser|Conversion|Invalid Input|Not implemented|IO|Permission) Error:/;

export function createDuckDbRowSink(options: DatabaseFileOptions): RowSink {
  return new DatabaseFileSink(createDuckDbDriver(), options);
}

export function createDuckDbRowRemover(options: DatabaseFileRemoverOptions): RowRemover {
  return createDatabaseFileRemover(createDuckDbDriver(), options);
}

export function createDuckDbDriver(): FileDriver<DuckDb> {
  const memory = createMemoryPlan();
  /** by index of the table: the needs of the columns of its staged rows */
  const incoming = new Map<number, readonly Incoming[]>();
  return {
    title: 'DuckDB',
    scheme: 'duckdb',
    dialect: duckdb,
    encoding: 'csv',
    scalesDecimals: true,
    decimalRoom: usualRoom,
    sidecars: ['.wal'],
    begin: 'BEGIN',
    keepHigherKey: keepHigherKey('greatest'),
    keepCodeTexts,
    // for each table that it fills, a transaction holds up to 122,880 rows in memory, outside the limit that DuckDB is given
    uncommittedBytes: 16 * 1024 * 1024,
    foldedName,
    readTables,
    zones: readZones,
    now: () => 'now()',
    instant: (iso) => `${standardLiteral(iso)}::TIMESTAMPTZ`,
    async latestChange(database) {
      const [row] = await database.read<{ latest: bigint | null }>(
        `SELECT epoch_ms(max(greatest(valid_from, valid_to))) AS latest FROM ${sideTableNames.documents}`,
      );
      const { latest } = row!;
      return latest === null ? null : new Date(Number(latest)).toISOString();
    },
    open(path, { label, staged, isNew, directory, busyTimeoutMs = usualBusyTimeoutMs, signal }) {
      const { memoryBytes, smallBlocks } = memory.next(staged, isNew);
      const options = { directory, memoryBytes, smallBlocks, skipsLog: isNew, label, busyTimeoutMs };
      return openDuckDb(path, { ...options, ...(signal === undefined ? {} : { signal }) });
    },
    async readOnly(path, { label, busyTimeoutMs = usualBusyTimeoutMs }, read) {
      await access(path);
      const spill = await mkdtemp(join(tmpdir(), 'target-loads-'));
      try {
        const database = await openDuckDbReader(path, spill, { label, busyTimeoutMs, streams: 1 });
        try {
          return await read(database);
        } finally {
          database.close();
        }
      } finally {
        await rm(spill, { recursive: true, force: true });
      }
    },
    looksStaged,
    // when DuckDB looks for its log, it ends the name at the question mark
    nameRefusal: (file) => (file.includes('?') ? 'DuckDB cannot keep a file under a name with ?.' : null),
    mayTryAgain: memory.mayTryAgain,
    async readyTable(publication, index) {
      const staged = publication.staged.get(index);
      const needed =
        staged === undefined
          ? modelledTypes(publication, index)
          : await incomingTypes(publication, index, staged);
      incoming.set(index, needed);
      const there = foundTable(publication, index);
      if (there !== undefined) return adaptTable(publication, index, there, needed);
      await runAll(publication.database, tableStatements(publication.drawn.tables[index]!, needed));
      return needed.map(({ sqlType }) => sqlType);
    },
    addRows: (publication, index, offsets) => insertRows(publication, index, incoming.get(index)!, offsets),
    addSideRows: (publication, side, offsets) =>
      side === 'documents' ? addDocuments(publication, offsets) : addSideRows(publication, side, offsets),
    isText: (type) => type === 'VARCHAR',
    isAsModelled: ({ type }, column) =>
      type !== 'VARCHAR' &&
      (type === columnSqlType(column.type) || (column.type.kind === 'numeric' && type.startsWith('DECIMAL'))),
    viewStatements: ({ name, statements }, comment) => [statements[0]!, commentOnView(name, comment)],
    viewRefusal(error) {
      const [line] = (error as Error).message.split('\n');
      return viewRefusals.test(line!) ? line! : null;
    },
    async settle(database) {
      await database.run('CHECKPOINT');
    },
    faultOf: fileFault,
  };
}

function modelledTypes({ plan, drawn, nullAllowed }: Publication<DuckDb>, index: number): Incoming[] {
  return drawn.tables[index]!.columns.map((column, at) => ({
    sqlType: columnSqlType(plan.model.tables[index]!.columns[at]!.type),
    nullable: column.nullable || nullAllowed.has(columnId(index, at)),
  }));
}

/** Plans DuckDB's memory for the staged rows, and more of it after each attempt that had too little. */
function createMemoryPlan() {
  // about the database that was opened last: whether it is a new file that nobody else knows, its memory, and the multiple of the usual
  // memory that this is (0: the memory for filling tables)
  let isNewFile = false;
  let memoryBytes = 0;
  let factor = 0;
  return {
    next(
      staged: StagedTables,
      isNew: boolean,
    ): { readonly memoryBytes: number; readonly smallBlocks: boolean } {
      const files = [...staged.values()];
      const longest = Math.max(0, ...files.map((csv) => csv.longestRowBytes));
      const columns = files.reduce((sum, csv) => sum + csv.columnCount, 0);
      const smallBlocks = isNew && columns > manyColumns;
      const widest = smallBlocks ? 0 : Math.max(0, ...files.map((csv) => csv.columnCount));
      const filled = Math.min(columns, smallBlocks ? manyColumns : columns);
      const group = Math.max(0, ...files.map(({ bytes, rows }) => bytes * Math.min(1, rowGroupRows / rows)));
      const onlyFills = isNew && group <= smallGroupBytes && factor === 0;
      memoryBytes = memoryFor(longest, filled, widest, onlyFills) * Math.max(1, factor);
      isNewFile = isNew;
      return { memoryBytes, smallBlocks };
    },
    mayTryAgain(error: unknown): boolean {
      if (!lacksMemory(error) || memoryBytes * 2 > mostMemory()) return false;
      factor = factor === 0 && isNewFile ? 1 : Math.max(1, factor) * 2;
      return true;
    },
  };
}
