/** The DDL of DuckDB, run by DuckDB. */
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { sideTableDefinitions } from '../../../../src/engine/model/side-tables.ts';
import { libraryModel, oddColumns, oddTable } from './library-model.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  connection = await instance.connect();
  await connection.run(renderDdl(libraryModel, { dialect: 'duckdb', sqlSchema: 'lib"rary' }));
  await connection.run(`USE "lib""rary"`);
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function read(sql: string): Promise<Record<string, unknown>[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJS();
}

test('every table is there, names as they are', async () => {
  const tables = await read(`SELECT table_name FROM duckdb_tables() WHERE schema_name = 'lib"rary'`);
  const side = Object.values(sideTableDefinitions).map((definition) => definition.name);
  expect(tables.map((row) => row.table_name).toSorted()).toEqual(
    [...libraryModel.tables.map((table) => table.name), ...side].toSorted(),
  );
  const columns = await read(
    `SELECT column_name FROM duckdb_columns() WHERE table_name = '${oddTable}' ORDER BY column_index`,
  );
  expect(columns.map((row) => row.column_name)).toEqual([
    'odd_key',
    'library_key',
    'position',
    ...oddColumns,
  ]);
});

test('types and NOT NULL are those of the model', async () => {
  const columns = await read(
    `SELECT column_name, data_type, is_nullable FROM duckdb_columns() WHERE table_name = 'book' ORDER BY column_index`,
  );
  expect(
    columns.map((row) => `${row.column_name} ${row.data_type}${row.is_nullable === true ? '' : ' !'}`),
  ).toEqual([
    'book_key BIGINT !',
    'library_key BIGINT !',
    'position INTEGER !',
    'isbn VARCHAR !',
    'title VARCHAR !',
    'price DECIMAL(10,2)',
    'weight DECIMAL(38,18)',
    'pages INTEGER',
    'volume SMALLINT',
    'score DOUBLE',
    'rating FLOAT',
    'closes TIME',
    'printed TIMESTAMP',
    'keywords VARCHAR[]',
    'years INTEGER[] !',
    'serial VARCHAR',
  ]);
});

test('keys hold, and lead to earlier tables', async () => {
  const keys = await read(
    `SELECT constraint_column_names[1] AS "column" FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' AND table_name = 'section'`,
  );
  expect(keys.map((row) => row.column).toSorted()).toEqual(['book_key', 'parent_section_key']);
  await connection.run(
    `INSERT INTO _documents (document_key) VALUES (1); INSERT INTO library (library_key, document_key, name) VALUES (1, 1, 'x')`,
  );
  await expect(connection.run(`INSERT INTO library (library_key, name) VALUES (1, 'y')`)).rejects.toThrow(
    /Duplicate key/,
  );
  await expect(
    connection.run(`INSERT INTO library (library_key, document_key, name) VALUES (2, 9, 'y')`),
  ).rejects.toThrow(/foreign key/i);
  await expect(connection.run(`INSERT INTO library (library_key) VALUES (2)`)).rejects.toThrow(/NOT NULL/);
});

test('every table and column has a comment, the XPath where there is one', async () => {
  expect(
    await read(`SELECT table_name FROM duckdb_tables() WHERE schema_name = 'lib"rary' AND comment IS NULL`),
  ).toEqual([]);
  expect(
    await read(`SELECT column_name FROM duckdb_columns() WHERE schema_name = 'lib"rary' AND comment IS NULL`),
  ).toEqual([]);
  const [isbn] = await read(
    `SELECT comment FROM duckdb_columns() WHERE table_name = 'book' AND column_name = 'isbn'`,
  );
  expect(isbn).toEqual({ comment: '/library/book/@isbn' });
  const [library] = await read(`SELECT comment FROM duckdb_tables() WHERE table_name = 'library'`);
  expect(library).toEqual({
    comment: `/library: The library's own row; -- DROP TABLE "x"; */ {braces} \\ 'quoted'`,
  });
});
