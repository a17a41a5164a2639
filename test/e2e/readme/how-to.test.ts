/** The pages of docs/how-to: their commands and queries, with the output that they show. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { formatTable } from '../../../scripts/demo/text-table.ts';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { duckDbRows } from '../../contracts/row-sinks/readers.ts';
import { freePort } from '../../support/free-port.ts';
import { needs } from '../../support/needs.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { useTrial } from '../../support/service/trial.ts';
import { localPages, walk, type WalkOptions } from './walk.ts';

type Query = WalkOptions['query'];

const inMemory: Query = async (sql) => formatTable(await duckDbRows(':memory:', `(${sql.trim()})`));

describe('docs/how-to', { timeout: 180_000 }, () => {
  const trial = useTrial();

  const place = async (): Promise<{ folder: string; environment: Record<string, string> }> => {
    const folder = await trial.folder('how-to-');
    const { url } = await trial.emptyDatabase();
    return { folder, environment: { SVC_HOME: join(folder, 'home'), SVC_METADB_URL: url } };
  };

  it('sqlite.md', async () => {
    const { folder, environment } = await place();
    const query: Query = async (sql) => {
      const database = new DatabaseSync(join(folder, 'orders.sqlite'), { readOnly: true });
      try {
        return formatTable(database.prepare(sql).all());
      } finally {
        database.close();
      }
    };
    expect(await walk('docs/how-to/sqlite.md', { folder, environment, query })).toEqual([]);
  });

  it('duckdb.md', async () => {
    const { folder, environment } = await place();
    const file = join(folder, 'orders.duckdb');
    const query: Query = async (sql) => formatTable(await duckDbRows(file, `(${sql.trim()})`));
    expect(await walk('docs/how-to/duckdb.md', { folder, environment, query })).toEqual([]);
  });

  it.each(localPages)('%s', async (page) => {
    const options = { ...(await place()), query: inMemory };
    expect(await walk(`docs/how-to/${page}`, options)).toEqual([]);
  });

  it('postgresql.md', async () => {
    const { folder, environment } = await place();
    const { url } = await trial.emptyDatabase();
    const sql = trial.keep(connectPostgres(url, { applicationName: 'test', max: 1 }), (open) =>
      open.end({ timeout: 1 }),
    );
    const options = {
      folder,
      environment: { ...environment, DWH: url },
      query: async (text: string) => formatTable(await sql.unsafe(text)),
    };
    expect(await walk('docs/how-to/postgresql.md', options)).toEqual([]);
  });

  it('mysql.md', needs(mariadbParts), async () => {
    const { folder, environment } = await place();
    const port = await freePort();
    const server = trial.keep(await startMariadb({ port }), (one) => one.stop());
    await server.run('CREATE DATABASE shop;');
    const options = {
      folder,
      environment: { ...environment, SHOP: `mysql://127.0.0.1:${port}/shop` },
      query: async (text: string) => (await server.run(text, undefined, 'shop')).split('\n'),
    };
    expect(await walk('docs/how-to/mysql.md', options)).toEqual([]);
  });
});
