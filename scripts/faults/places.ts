/** Where the jobs of a cycle load, in which database: made for each cycle, counted and removed after it. */
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LargeDocument } from '../../test/support/documents/large.ts';
import type { TestMariadb } from '../../test/support/servers/mariadb.ts';
import { countRows, type Census, type CountedDatabase } from './census.ts';
import { withDatabase } from './cycles.ts';
import type { Installation } from './processes.ts';

export interface Place {
  /** what it is, where places of a kind differ */
  readonly told?: string;
  /** of xml2er */
  readonly options: readonly (readonly [string, string])[];
  /** `completed`: jobs that each added the document once */
  census(document: LargeDocument, completed: readonly number[]): Promise<Census>;
  remove(): Promise<unknown>;
}

/** `name`: of a database, a file or a SQL schema. */
export type MakePlace = (name: string) => Promise<Place>;

export function metadbPlaces(installation: Installation): MakePlace {
  return async (name) => ({
    options: [['-o', `metadb:${name}`]],
    census: (document, completed) =>
      withDatabase(installation, (sql) =>
        countRows(
          {
            isPresent: async () => {
              const [found] = await sql<
                { there: boolean }[]
              >`select to_regclass(${`${name}._documents`}) is not null as there`;
              return found!.there;
            },
            ask: (query) => sql.unsafe(query).values(),
            prefix: `"${name}".`,
          },
          document,
          completed,
        ),
      ),
    remove: () => withDatabase(installation, (sql) => sql`drop schema if exists ${sql(name)} cascade`),
  });
}

/** `port`: of the server. */
export function mariadbPlaces(server: TestMariadb, port: number): MakePlace {
  return async (name) => {
    await server.run(`CREATE DATABASE ${name};`);
    const ask = async (query: string): Promise<string[][]> =>
      (await server.run(`${query};`, undefined, name))
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split('\t'));
    return {
      options: [
        ['-o', `mysql://127.0.0.1:${port}/${name}`],
        ['-u', 'root'],
      ],
      census: (document, completed) =>
        countRows(
          {
            isPresent: async () => (await ask(`SHOW TABLES LIKE '\\_documents'`)).length > 0,
            ask,
            prefix: '',
          },
          document,
          completed,
        ),
      remove: () => server.run(`DROP DATABASE ${name};`),
    };
  };
}

export function sqlitePlaces(folder: string): MakePlace {
  return async (name) => {
    const path = join(folder, `${name}.sqlite`);
    return {
      options: [['-o', `sqlite:${path}`]],
      census: (document, completed) => countRows(sqliteFile(path), document, completed),
      remove: () =>
        Promise.all(['', '-wal', '-shm', '-journal'].map((end) => rm(`${path}${end}`, { force: true }))),
    };
  };
}

function sqliteFile(path: string): CountedDatabase {
  return {
    isPresent: () =>
      access(path).then(
        () => true,
        () => false,
      ),
    ask: async (query) => {
      const database = new DatabaseSync(path);
      try {
        return database.prepare(query).all().map(Object.values);
      } finally {
        database.close();
      }
    },
    prefix: '',
  };
}
