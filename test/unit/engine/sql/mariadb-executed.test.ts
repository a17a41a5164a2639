/** The DDL of MySQL, run by MariaDB: statements come in by stdin (`--bootstrap`), so no server stays and no port is opened. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import type { Column, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../../src/engine/model/side-tables.ts';
import { parseTsv } from '../../../contracts/row-sinks/readers.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { libraryModel, oddColumns } from './library-model.ts';
import { needs, programOf } from '../../../support/needs.ts';

const sequence = (inner: string): string =>
  `<xs:complexType><xs:sequence>${inner}</xs:sequence></xs:complexType>`;

describe('MariaDB', needs('mariadbd'), () => {
  let home = '';
  let number = 0;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'mariadb-'));
    await chmod(home, 0o777);
    await mkdir(join(home, 'data'));
    await chmod(join(home, 'data'), 0o777);
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  /** Runs the statements, each ending with its line; throws what the first one that fails says. */
  async function run(sql: string): Promise<void> {
    const root = process.getuid?.() === 0;
    const child = spawn(
      programOf('mariadbd')!,
      [
        '--no-defaults',
        '--bootstrap',
        `--datadir=${join(home, 'data')}`,
        `--tmpdir=${home}`,
        '--secure-file-priv=',
        '--innodb-buffer-pool-size=32M',
        '--innodb-log-file-size=4M',
        '--innodb-flush-log-at-trx-commit=0',
        '--character-set-server=utf8mb4',
      ],
      { stdio: ['pipe', 'ignore', 'pipe'], ...(root ? { uid: 65534, gid: 65534 } : {}) },
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(sql);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(/^ERROR: .*$/m.exec(errors)?.[0] ?? errors);
  }

  /** Rows of the last query. */
  async function read(sql: string, before = ''): Promise<(string | null)[][]> {
    const file = join(home, `rows-${(number += 1)}`);
    await run(`${before}${sql} INTO OUTFILE '${file}' CHARACTER SET utf8mb4;\n`);
    return parseTsv(await readFile(file, 'utf8'));
  }

  test('every table is there with keys and comments, names as they are', async () => {
    await run(renderDdl(libraryModel, { dialect: 'mysql', sqlSchema: 'lib"rary' }));
    const names = await read(
      `SELECT table_name FROM information_schema.tables WHERE table_schema = 'lib"rary' AND table_comment <> ''`,
    );
    const side = Object.values(sideTableDefinitions).map((definition) => definition.name);
    const own = libraryModel.tables.slice(0, -1).map((table) => table.name);
    expect(
      names
        .map(([name]) => name)
        .filter((name) => !name!.startsWith('odd '))
        .toSorted(),
    ).toEqual([...own, 'book_keywords', 'book_years', ...side].toSorted());
    const odd = await read(
      `SELECT column_name FROM information_schema.columns WHERE table_schema = 'lib"rary' AND table_name LIKE 'odd %' ORDER BY ordinal_position`,
    );
    expect(odd.map(([name]) => name)).toEqual(['odd_key', 'library_key', 'position', ...oddColumns]);
    expect(
      await read(
        `SELECT count(*) FROM information_schema.columns WHERE table_schema = 'lib"rary' AND column_comment = ''`,
      ),
    ).toEqual([['0']]);
    expect(
      await read(
        `SELECT table_comment FROM information_schema.tables WHERE table_schema = 'lib"rary' AND table_name = 'library'`,
      ),
    ).toEqual([[`/library: The library's own row; -- DROP TABLE "x"; */ {braces} \\ 'quoted'`]]);
    expect(
      await read(
        `SELECT count(*) FROM information_schema.referential_constraints WHERE constraint_schema = 'lib"rary'`,
      ),
    ).toEqual([['13']]);
    expect(
      await read(
        `SELECT count(*) FROM information_schema.statistics WHERE table_schema = 'lib"rary' AND index_name = '_lexical_document_key_idx'`,
      ),
    ).toEqual([['1']]);
  });

  test('types hold what they are for', async () => {
    await run(renderDdl(libraryModel, { dialect: 'mysql', sqlSchema: 'types' }));
    const values = `USE types;
SET FOREIGN_KEY_CHECKS = 0;
INSERT INTO book (book_key, library_key, position, isbn, title, price, weight, score, closes, printed, years_count, serial)
VALUES (1, 1, 1, 'i', '😀 \\\\ ''', 12.50, 0.123456789012345678901234567890, 1e300, '23:59:59.123456', '2026-01-01T00:00:00.123456', 2, ${'9'.repeat(60)});
`;
    const [row] = await read(
      'SELECT title, price, weight, score, closes, printed, years_count, serial FROM book',
      values,
    );
    expect(row).toEqual([
      "😀 \\ '",
      '12.50',
      '0.123456789012345678901234567890',
      '1e300',
      '23:59:59.123456',
      '2026-01-01 00:00:00.123456',
      '2',
      '9'.repeat(60),
    ]);
    await expect(
      run(`USE types;\nINSERT INTO library (library_key, name) VALUES (1, NULL);\n`),
    ).rejects.toThrow(/null/i);
  });

  test('a second schema in the same database shares the tables beside the data', async () => {
    const other: RelationalModel = {
      ...libraryModel,
      tables: [{ ...libraryModel.tables[0]!, name: 'archive' }],
    };
    await run(renderDdl(libraryModel, { dialect: 'mysql', sqlSchema: 'shared' }));
    await run(renderDdl(other, { dialect: 'mysql', sqlSchema: 'shared' }));
    expect(
      await read(
        `SELECT table_name FROM information_schema.tables WHERE table_schema = 'shared' AND table_name = 'archive'`,
      ),
    ).toEqual([['archive']]);
  });

  test.each([
    ['short text', 100, { kind: 'text', length: 50 }],
    ['text of 255', 200, { kind: 'text', length: 255 }],
    // as many as a table is given (src/engine/map/tables/wide-rows.ts)
    ['decimals', 266, { kind: 'numeric' }],
    ['unbounded text', 266, { kind: 'text' }],
    ['keys', 888, { kind: 'bigint' }],
  ] as const)('a wide table of %s fits into a row', async (_, count, type) => {
    const [key] = libraryModel.tables[0]!.columns;
    const columns = Array.from({ length: count }, (__, at): Column => ({
      ...libraryModel.tables[0]!.columns[2]!,
      name: `c${at}`,
      type,
      nullable: true,
    }));
    const model: RelationalModel = {
      ...libraryModel,
      tables: [{ ...libraryModel.tables[0]!, name: 'wide', columns: [key!, ...columns] }],
    };
    const sqlSchema = `wide_${(number += 1)}`;
    await run(renderDdl(model, { dialect: 'mysql', sqlSchema }));
    expect(
      await read(
        `SELECT count(*) FROM information_schema.columns WHERE table_schema = '${sqlSchema}' AND table_name = 'wide'`,
      ),
    ).toEqual([[String(count + 1)]]);
    const fullest = { bigint: '9'.repeat(18), numeric: `${'9'.repeat(35)}.${'9'.repeat(30)}` } as const;
    const value =
      type.kind === 'text' ? `'${'x'.repeat('length' in type ? type.length : 60)}'` : fullest[type.kind];
    const values = columns.map(() => value).join(', ');
    const insert = `USE ${sqlSchema};\nINSERT INTO wide VALUES (1, ${values});\n`;
    expect(await read('SELECT c0 FROM wide', insert)).toEqual([[value.replaceAll("'", '')]]);
  });

  test('a table with more foreign keys than MariaDB takes, and a long name, has as many as it does', async () => {
    const name = `remark_${'of_somebody_'.repeat(4)}of_us`;
    const parts = Array.from(
      { length: 80 },
      (_, at) =>
        `<xs:element name="part${at}" maxOccurs="9">${sequence(`<xs:element name="note" type="${name}" maxOccurs="9"/>`)}</xs:element>`,
    );
    const model = modelOf(
      compiled(
        `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="file">${sequence(parts.join(''))}</xs:element>
        <xs:complexType name="${name}"><xs:sequence><xs:element name="text" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType></xs:schema>`,
      ),
      3,
    );
    const ddl = renderDdl(model, { dialect: 'mysql', sqlSchema: 'wide' });
    expect(ddl).toContain(`-- 17 of 80 foreign keys of ${name} are omitted: mysql allows 64 keys per table`);
    await run(ddl);
    const keys = await read(
      `SELECT column_name, referenced_table_name FROM information_schema.key_column_usage
        WHERE table_schema = 'wide' AND table_name = '${name}' AND referenced_table_name IS NOT NULL ORDER BY 2`,
    );
    expect(keys).toHaveLength(63);
    expect(keys.slice(0, 2)).toEqual([
      ['part0_key', 'part0'],
      ['part1_key', 'part1'],
    ]);
  });
});
