/** The queries of docs/how-to/query-tables.md, each with what it answers, on the orders of the demo. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { formatTable } from '../../../scripts/demo/text-table.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import { projectRoot, readText } from '../../rules/project-files.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { readBlocks } from './blocks.ts';

const blocks = readBlocks(readText('docs/how-to/query-tables.md'));
const queries = blocks.flatMap(({ heading, language, code }, index) =>
  language === 'sql' ? [{ heading, query: code, answer: blocks[index + 1] }] : [],
);
const demo = join(projectRoot, 'scripts/demo');

describe('docs/how-to/query-tables.md', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let folder: string;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    folder = await trial.folder('querying-');
    const { origin } = await convert(home, 'xsd2er', join(demo, 'xsd'));
    const load = (input: string, name: string): Promise<unknown> =>
      convert(home, 'xml2er', input, '-x', String(origin), '-o', `metadb:${name}`);
    await load(join(demo, 'documents'), 'demo');
    const last = await readFile(join(demo, 'documents/orders-2026-03-04-a.xml'), 'utf8');
    const [, element] = /`(<loyalty.*?>)`/.exec(readText('docs/how-to/query-tables.md'))!;
    const changed = last.replace('</ordered>', `</ordered>${element}`);
    await writeFile(join(folder, 'changed.xml'), changed);
    await load(join(folder, 'changed.xml'), 'changed');
    await trial.service(home);
    sql = await trial.metadb(home, 1);
  });

  it('has a query in every section', () => {
    expect(new Set(queries.map(({ heading }) => heading))).toEqual(
      new Set(['Keys', 'Positions', 'Documents', 'Content beyond the schema', 'Values as written']),
    );
  });

  it.for(queries)('$heading: $query', async ({ query, answer }) => {
    // content that is unknown stands in a document of its own
    await sql.unsafe(`set search_path = ${query.includes('_unmapped') ? 'changed' : 'demo'}`);
    const rows = await sql.unsafe<Record<string, unknown>[]>(query);
    expect(rows.length).toBeGreaterThan(0);
    expect(answer?.language).toBe('text');
    expect(answer?.code.trimEnd().split('\n')).toEqual(formatTable(rows));
  });
});
