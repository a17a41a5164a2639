/** What every place of rows must do for `--from`: the same rows from each, read only, one statement, no more in memory than is asked for. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import { openDuckDbQuery, openRowFile } from '../../../src/targets/sql/duckdb/query.ts';
import { openMysqlQuery } from '../../../src/targets/sql/mysql/query.ts';
import { openPostgresQuery } from '../../../src/targets/sql/postgres/query.ts';
import { openSqlite } from '../../../src/targets/sql/sqlite/database.ts';
import { openSqliteQuery } from '../../../src/targets/sql/sqlite/query.ts';
import { AppError } from '../../../src/errors.ts';
import type { QueryCell, QueryRows, RowStart } from '../../../src/ports/row-source.ts';
import { isHere, needs } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { mariadbAddress } from '../row-sinks/targets.ts';

const trial = useTrial();
let folder: string;
let postgres: TestDatabase;
let mariadb: TestMariadb | null = null;
const hasMariadb = mariadbParts.every(isHere);

const rows = [
  [1, '<a n="1">é</a>', 'one, "quoted"', '2026-01-01 10:00:00'],
  [2, null, 'two', '2026-01-02 10:00:00'],
  [10, '<a n="10">\n</a>', null, '2026-01-02 10:00:00'],
] as const;

const literal = (value: string | number | null): string =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
/** As fields of CSV have it. */
const quoted = (value: string | number | null): string =>
  value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;
const firstThree = (found: readonly (readonly QueryCell[])[]) => found.map((row) => row.slice(0, 3));
const values = rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
const table = (text: string, moment: string): string =>
  `CREATE TABLE inbox (id INTEGER PRIMARY KEY, payload ${text}, note VARCHAR(100), came ${moment})`;

interface Place {
  readonly name: string;
  readonly isHere: boolean;
  open(query: string): Promise<QueryRows>;
  /** a query without an end */
  readonly endless?: string;
  /** statements that would change something, or see more of the machine than the place */
  readonly refused: readonly string[];
}

const places: readonly Place[] = [
  {
    name: 'postgresql',
    isHere: true,
    open: async (query) => openPostgresQuery({ url: postgres.url, label: 'inbox' }, query),
    endless: "SELECT generate_series(1, 1000000000000) AS id, '<a/>'::text AS payload",
    refused: [
      'DELETE FROM inbox RETURNING *',
      'WITH gone AS (DELETE FROM inbox RETURNING *) SELECT * FROM gone',
      'SELECT * FROM inbox) q; COMMIT; DELETE FROM inbox; SELECT (1',
      'SELECT * FROM inbox; DELETE FROM inbox',
      "SELECT set_config('transaction_read_only', 'off', false)",
      "SELECT nextval('counter')",
    ],
  },
  {
    name: 'mariadb',
    isHere: hasMariadb,
    open: (query) => openMysqlQuery({ ...mariadbAddress(mariadb!, 'inbox'), label: 'inbox' }, query),
    endless: "SELECT 1 AS id, '<a/>' AS payload FROM seq_1_to_1000000000000",
    refused: [
      'DELETE FROM inbox RETURNING *',
      'SELECT * FROM inbox) q; DELETE FROM inbox; SELECT (1',
      'SELECT * FROM inbox; DELETE FROM inbox',
      "SELECT * FROM inbox INTO OUTFILE '/tmp/never-written'",
    ],
  },
  {
    name: 'sqlite',
    isHere: true,
    open: (query) => openSqliteQuery(join(folder, 'inbox.sqlite'), 'inbox', query),
    endless:
      "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, '<a/>' AS payload FROM n",
    refused: [
      'DELETE FROM inbox RETURNING *',
      'SELECT * FROM inbox) q; DELETE FROM inbox; SELECT (1',
      "ATTACH 'other.sqlite' AS other",
      'PRAGMA query_only = OFF',
    ],
  },
  {
    name: 'duckdb',
    isHere: true,
    open: (query) =>
      openDuckDbQuery(join(folder, 'inbox.duckdb'), query, { label: 'inbox', spill: join(folder, 'spill') }),
    endless: "SELECT range AS id, '<a/>' AS payload FROM range(1000000000000)",
    refused: [
      'DELETE FROM inbox RETURNING *',
      'SELECT * FROM inbox) AS q; DELETE FROM inbox; SELECT * FROM (SELECT 1',
      "SELECT * FROM read_text('/etc/hostname')",
      "SELECT * FROM read_csv('/etc/passwd')",
      "ATTACH 'other.duckdb'",
    ],
  },
  ...(['parquet', 'csv'] as const).map((format) => ({
    name: format,
    isHere: true,
    open: () =>
      openRowFile(join(folder, `inbox.${format}`), format, {
        label: `inbox.${format}`,
        spill: join(folder, 'spill'),
      }),
    refused: [],
  })),
];

beforeAll(async () => {
  folder = await trial.folder('row-queries-');
  await mkdir(join(folder, 'spill'));
  postgres = await trial.emptyDatabase();
  await postgres.sql.unsafe(
    `${table('xml', 'timestamptz')}; INSERT INTO inbox VALUES ${values}; CREATE SEQUENCE counter`,
  );
  if (hasMariadb) {
    mariadb = trial.keep(await startMariadb(), (server) => server.stop());
    await mariadb.run(
      `CREATE DATABASE inbox CHARACTER SET utf8mb4; USE inbox; ${table('LONGTEXT', 'DATETIME')}; INSERT INTO inbox VALUES ${values};`,
    );
  }
  const sqlite = await openSqlite(join(folder, 'inbox.sqlite'), { label: 'inbox', isNew: true });
  await sqlite.run(`${table('TEXT', 'TEXT')}; INSERT INTO inbox VALUES ${values}`);
  sqlite.close();
  const duckdb = await openDuckDb(join(folder, 'inbox.duckdb'), {
    directory: folder,
    memoryBytes: 256 * 1024 ** 2,
  });
  await duckdb.run(`${table('VARCHAR', 'TIMESTAMP')}; INSERT INTO inbox VALUES ${values}`);
  await duckdb.run(`COPY inbox TO '${join(folder, 'inbox.parquet')}'`);
  duckdb.close();
  await writeFile(
    join(folder, 'inbox.csv'),
    ['id,payload,note,came', ...rows.map((row) => row.map(quoted).join(','))].join('\r\n'),
  );
});
afterAll(async () => {
  // nothing of what was refused has happened
  expect(await postgres.sql`select count(*)::int as n from inbox`).toMatchObject([{ n: 3 }]);
  expect((await readFile(join(folder, 'inbox.csv'), 'utf8')).length).toBeGreaterThan(100);
});

describe.each(places)(
  'rows of $name',
  { timeout: 60_000 },
  ({ name, isHere: here, open, endless, refused }) => {
    const where = name === 'mariadb' ? needs(mariadbParts) : {};
    const read = async (query: string, order: RowStart | null = null): Promise<(readonly QueryCell[])[]> => {
      const place = await open(query);
      try {
        return await Array.fromAsync(place.rows(order));
      } finally {
        await place.close();
      }
    };
    const wanted = rows.map(([id, payload, note]) => [String(id), payload, note]);

    it('are texts, or nothing', where, async () => {
      expect(here).toBe(true);
      const found = await read('SELECT * FROM inbox ORDER BY id;');
      expect(firstThree(found)).toEqual(wanted);
      expect(found.map((row) => String(row[3]).slice(0, 19).replace('T', ' '))).toEqual(
        rows.map(([, , , came]) => came),
      );
    });

    it('come in the order of a column, from a value on', where, async () => {
      const query = 'SELECT id, payload, note, came FROM inbox -- all of it';
      expect(firstThree(await read(query, { column: 'came', from: null })).map(([id]) => id)[0]).toBe('1');
      const later = firstThree(await read(query, { column: 'came', from: '2026-01-02 10:00:00' }));
      expect(later.map(([id]) => Number(id)).toSorted((a, b) => a - b)).toEqual([2, 10]);
      // texts of a file of CSV have the order of texts
      const ids = firstThree(await read(query, { column: 'id', from: '2' })).map(([id]) => id);
      expect(ids).toEqual(name === 'csv' ? ['2'] : ['2', '10']);
    });

    it('are told with rows that have no value of that column', where, async () => {
      const found = firstThree(await read('SELECT * FROM inbox', { column: 'note', from: 'two' }));
      expect(found.map(([id]) => id).toSorted()).toEqual(['10', '2']);
    });

    it('have columns, of which one can be of documents', where, async () => {
      const place = await open('SELECT * FROM inbox');
      const columns = await place.columns();
      await place.close();
      expect(columns.map((column) => column.name)).toEqual(['id', 'payload', 'note', 'came']);
      const [id, payload, note] = columns;
      expect([payload!.holds, note!.holds]).toEqual([name === 'postgresql' ? 'xml' : 'text', 'text']);
      expect(id!.type).toBe(name === 'csv' ? 'text' : name === 'sqlite' ? 'bigint' : 'integer');
    });

    if (endless !== undefined)
      it('are read as they are asked for', where, async () => {
        const place = await open(endless);
        let met = 0;
        for await (const row of place.rows(null)) {
          expect(row[1]).toBe('<a/>');
          if ((met += 1) === 10_000) break;
        }
        await place.close();
        expect(met).toBe(10_000);
      });

    if (['postgresql', 'mariadb', 'sqlite', 'duckdb'].includes(name)) {
      it.each([
        ['SELECT * FROM inbox WHERE id = ?', '?'],
        ['SELECT id, payload FROM inbox WHERE id > $1', '$1'],
        ["SELECT ':no' AS text, id /* ? */ FROM inbox WHERE note = :name", ':name'],
      ])(
        'are not of a query with a parameter, which is refused by its name: %s',
        where,
        async (query, parameter) => {
          await expect(read(query)).rejects.toThrow(
            `inbox: the query has the parameter ${parameter}, and --query cannot give it a value: write the value into the query`,
          );
        },
      );

      it('are of a query that has only marks of parameters in its texts and comments', where, async () => {
        const query = `SELECT id, '?:a @b $1' AS "a:b" FROM inbox -- it's ? :c $2\n WHERE id = 1`;
        expect(await read(name === 'mariadb' ? query.replaceAll('"', '`') : query)).toEqual([
          ['1', '?:a @b $1'],
        ]);
      });
    }

    it('are not of a variable that nobody sets', needs(mariadbParts), async () => {
      if (name !== 'mariadb') return;
      await expect(read('SELECT * FROM inbox WHERE id = @x')).rejects.toThrow('the parameter @x');
      const numbered = 'SELECT id, @n := @n + 1 AS n FROM inbox, (SELECT @n := 0) AS start ORDER BY id';
      expect((await read(numbered)).map((row) => row[1])).toEqual(['1', '2', '3']);
    });

    it.each(refused)('are of one statement that only reads: not %s', where, async (query) => {
      await expect(read(query)).rejects.toBeInstanceOf(AppError);
      expect(await read('SELECT id FROM inbox')).toHaveLength(3);
    });
  },
);

it.each([
  ['SELECT * FROM inbox WHERE came > :after', ':after'],
  ["SELECT ':text' AS text, id /* NULL ? */ FROM inbox WHERE id > ?2 AND id < @most", '?2'],
  ['SELECT * FROM inbox WHERE id > $from', '$from'],
])('a parameter in a query of SQLite is refused by its name: %s', async (query, name) => {
  const opened = openSqliteQuery(join(folder, 'inbox.sqlite'), 'inbox', query);
  await expect(opened).rejects.toThrow(
    `inbox: the query has the parameter ${name}, and --query cannot give it a value: write the value into the query`,
  );
});
