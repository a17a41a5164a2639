/** The DDL of every dialect, read by a parser that others wrote: for databases that cannot be had here, the nearest thing to running it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { dialectNames, dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { withListTables } from '../../../../src/engine/sql/list-tables.ts';
import { physicalNames } from '../../../../src/engine/sql/physical-model.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../../src/engine/model/side-tables.ts';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { corpusXsdSet } from '../../../support/corpus.ts';
import { libraryModel } from './library-model.ts';
import { isHere, needs, skipFor } from '../../../support/needs.ts';
import { firstLine, pythonProgram } from '../../../support/tool-cache.ts';

const sqlglot = 'sqlglot==30.30.0';
const script = fileURLToPath(new URL('parse-ddl.py', import.meta.url));
const execute = promisify(execFile);

interface Statement {
  readonly kind: string;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: boolean }[];
  readonly primary_keys: number;
  readonly foreign_keys: number;
}

type Parsed = Readonly<Record<string, readonly Statement[] | string>>;

/** A set with many lists. */
const listSet = 'cdisc-odm/schema/ODM.xsd';

function modelOfLists(): RelationalModel {
  const { files, entries } = corpusXsdSet(listSet);
  return buildRelationalModel(compileXsdSet(files, { missing: 'wildcard', entries }).model, { mapLevel: 3 });
}

/** By dialect; a text is the parser's complaint. Null where the parser cannot be had. */
let parsed: Parsed | null = null;
/** The same of the corpus's set. */
let parsedSet: Parsed | null = null;
let setModel: RelationalModel | null = null;
/** why there is no parser */
let lack = '';

beforeAll(async () => {
  const python = await pythonProgram(sqlglot, 'python').catch((error: unknown) => {
    lack = firstLine(error);
    return null;
  });
  if (python === null) return;
  parsed = await parse(python, libraryModel);
  if (!isHere('corpus')) return;
  setModel = modelOfLists();
  parsedSet = await parse(python, setModel);
});

async function parse(python: string, model: RelationalModel): Promise<Parsed> {
  const ddl = Object.fromEntries(dialectNames.map((dialect) => [dialect, renderDdl(model, { dialect })]));
  const answer = execute(python, [script], { maxBuffer: 64 * 1024 * 1024 });
  answer.child.stdin!.end(JSON.stringify(ddl));
  return JSON.parse((await answer).stdout) as Parsed;
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** Statements beside CREATE TABLE, by what the parser calls them. */
const others = (statements: readonly Statement[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of statements) if (kind !== 'table') counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

const [comments, circle] = [98, 1];
// of the tables beside the data, and one for each foreign key
const [sideIndexes, keyIndexes, listIndexes] = [2, 11, 2];
const indexes = sideIndexes + keyIndexes;
// two tables of lists, four columns each
const listComments = comments + 2 * 5;
const expectedOthers: Readonly<Record<(typeof dialectNames)[number], Record<string, number>>> = {
  postgresql: { Comment: comments, Create: indexes, Alter: circle },
  duckdb: { Comment: comments, Create: sideIndexes },
  sqlite: { Create: indexes + listIndexes },
  mysql: { Alter: circle },
  sqlserver: { Execute: listComments, Create: indexes + listIndexes, Alter: circle },
  oracle: { Comment: listComments, Create: indexes + listIndexes, Alter: circle },
  snowflake: { Alter: circle },
  bigquery: { Alter: circle },
  redshift: { Comment: listComments, Alter: circle },
  databricks: { Alter: circle },
  trino: {},
  clickhouse: {},
};

describe.each(dialectNames)('%s', needs('whole run'), (dialect) => {
  test('is understood whole', (context) => {
    if (parsed === null) return skipFor(context, 'sqlglot', lack);
    const statements = parsed[dialect]!;
    if (typeof statements === 'string') throw new Error(statements);
    const tables = statements.filter(({ kind }) => kind === 'table');
    const side = Object.values(sideTableDefinitions).map(({ name, columns }) => ({
      name,
      columns: columns.map((column) => column.name),
    }));
    const { model, lists } = withListTables(libraryModel, dialectOf(dialect));
    const listTables = lists.filter(({ table }) => table !== null).length;
    const expected = [...physicalNames(model, dialectOf(dialect)), ...side];
    expect(
      tables
        .map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }))
        .toSorted(byName),
    ).toEqual(expected.map(({ name, columns }) => ({ name, columns: [...columns] })).toSorted(byName));
    // a type that the parser does not know would be one of the user's own
    expect(tables.flatMap(({ columns }) => columns.filter(({ type }) => type === 'USERDEFINED'))).toEqual([]);
    expect(others(statements)).toEqual(expectedOthers[dialect]);
    expect(tables.reduce((sum, table) => sum + table.primary_keys, 0)).toBe(
      dialectOf(dialect).capabilities.primaryKeys ? 11 + listTables : 0,
    );
    const foreignKeys = tables.reduce((sum, table) => sum + table.foreign_keys, 0);
    const inTables = dialect === 'sqlite' ? 11 : 10;
    expect(foreignKeys).toBe(
      dialectOf(dialect).capabilities.foreignKeys === 'none' ? 0 : inTables + listTables,
    );
    if (dialectOf(dialect).comments.kind === 'inline' && dialect !== 'sqlite')
      expect(tables.every(({ columns }) => columns.every((column) => column.comment))).toBe(true);
  });

  test(
    'a set of a real standard, with a table for each of its lists, is understood whole',
    needs('corpus'),
    (context) => {
      if (parsed === null) return skipFor(context, 'sqlglot', lack);
      if (parsedSet === null) throw new Error('not parsed');
      const statements = parsedSet[dialect]!;
      if (typeof statements === 'string') throw new Error(statements);
      const tables = statements.filter(({ kind }) => kind === 'table');
      const { model, lists } = withListTables(setModel!, dialectOf(dialect));
      const names = physicalNames(model, dialectOf(dialect)).map(({ name }) => name);
      const side = Object.values(sideTableDefinitions).map(({ name }) => name);
      expect(tables.map(({ name }) => name).toSorted()).toEqual([...names, ...side].toSorted());
      expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
      const hasArrays = dialectOf(dialect).capabilities.arrays;
      const listColumns = setModel!.tables.flatMap(({ columns }) => columns.filter(({ type }) => type.list));
      expect(listColumns.length).toBeGreaterThan(40);
      expect(lists.filter(({ table }) => table !== null)).toHaveLength(hasArrays ? 0 : listColumns.length);
      expect(tables.flatMap(({ columns }) => columns.filter(({ type }) => type === 'USERDEFINED'))).toEqual(
        [],
      );
    },
  );
});
