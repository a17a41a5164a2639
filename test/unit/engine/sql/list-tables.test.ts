/** Lists where a database has no arrays: a table each, and nothing of them lost. */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { dialectNames, dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { withListTables } from '../../../../src/engine/sql/list-tables.ts';
import { at, libraryModel } from './library-model.ts';

const { sqlite, bigquery } = { sqlite: dialectOf('sqlite'), bigquery: dialectOf('bigquery') };

describe('tables of lists', () => {
  test('arrays that can be NULL stay as they are', () => {
    const arrays = dialectNames.filter(
      (name) => withListTables(libraryModel, dialectOf(name)).lists.length === 0,
    );
    expect(arrays).toEqual(['postgresql', 'duckdb', 'snowflake', 'databricks', 'trino']);
  });

  test('indexes of tables, and of their columns, are those of the model', () => {
    const { model, lists } = withListTables(libraryModel, sqlite);
    for (const [index, table] of libraryModel.tables.entries()) {
      expect(model.tables[index]!.name).toBe(table.name);
      expect(model.tables[index]!.columns.map((column) => column.role)).toEqual(
        table.columns.map((column) => column.role),
      );
    }
    expect(lists.map(({ owner, column, table }) => [owner, column, model.tables[table!]!.name])).toEqual([
      [at.book, 13, 'book_keywords'],
      [at.book, 14, 'book_years'],
    ]);
    expect(model.tables.flatMap(({ columns }) => columns).filter(({ type }) => type.list === true)).toEqual(
      [],
    );
  });

  test('an array that cannot be NULL has the number of its items beside it, unless it always is there', () => {
    const { model, lists } = withListTables(libraryModel, bigquery);
    expect(model.tables).toHaveLength(libraryModel.tables.length);
    expect(lists).toEqual([{ owner: at.book, column: 13, table: null }]);
    expect(model.tables[at.book]!.columns.at(-1)).toMatchObject({ name: 'keywords_count', nullable: true });
  });

  test('names of keys and positions are in the case of the others', () => {
    const named = { ...libraryModel, options: { nameMode: 'u' } } as const;
    const { model } = withListTables(named, sqlite);
    const years = model.tables.find((table) => table.name === 'book_years')!;
    expect(years.columns.map((column) => column.name)).toEqual([
      'book_years_KEY',
      'book_key',
      'POSITION',
      'years',
    ]);
  });

  test('a natural key over a list is told and not made', () => {
    const keys = [{ name: 'book_years', columns: [3, 14] }];
    const tables = libraryModel.tables.map((table, index) =>
      index === at.book ? { ...table, uniqueKeys: keys } : table,
    );
    const { model } = withListTables({ ...libraryModel, tables }, sqlite);
    expect(model.tables[at.book]!.uniqueKeys).toEqual([]);
  });

  test('a selection has the lists of its tables alone', () => {
    expect(renderDdl(libraryModel, { dialect: 'sqlite', tables: new Set([at.library]) })).not.toContain(
      'book_years',
    );
    expect(renderDdl(libraryModel, { dialect: 'sqlite', tables: new Set([at.library, at.book]) })).toContain(
      'CREATE TABLE "book_years"',
    );
  });

  test('SQLite keeps items to their rows, and tells an empty list from none', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(renderDdl(libraryModel, { dialect: 'sqlite' }));
    database.exec(`insert into _documents (document_key) values (1);
      insert into library (library_key, document_key, name) values (1, 1, 'x');
      insert into book (book_key, library_key, position, isbn, title, keywords_count, years_count)
        values (1, 1, 1, 'i', 't', null, 2), (2, 1, 2, 'j', 'u', 0, 0);
      insert into book_years values (1, 1, 1, 1999), (2, 1, 2, 2001)`);
    const books = database
      .prepare(
        `select keywords_count, (select json_group_array(years order by y.position) from book_years y
           where y.book_key = b.book_key) years from book b order by book_key`,
      )
      .all();
    expect(books.map((row) => ({ ...row }))).toEqual([
      { keywords_count: null, years: '[1999,2001]' },
      { keywords_count: 0, years: '[]' },
    ]);
    expect(() => database.exec('insert into book_years values (3, 9, 1, 1)')).toThrow(/FOREIGN KEY/);
    expect(() => database.exec('insert into book_years values (3, 2, 1, null)')).toThrow(/NOT NULL/);
    database.close();
  });
});
