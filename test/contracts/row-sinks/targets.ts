/** Every kind of row sink, each with a way to read and to list what it wrote. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import type { MysqlAddress } from '../../../src/targets/sql/mysql/connection.ts';
import { createMysqlRowSink } from '../../../src/targets/sql/mysql/sink.ts';
import { createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import type { TestMariadb } from '../../support/servers/mariadb.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import {
  deltaReader,
  icebergReader,
  duckDbReader,
  folderReader,
  mysqlReader,
  postgresReader,
  type TargetReader,
} from './readers.ts';
import { sqliteReader } from './sqlite/reader.ts';

export interface TestTarget {
  createSink(): RowSink;
  readonly reader: TargetReader;
  /** everything that exists there, temporary things too */
  list(): Promise<string[]>;
}

/** `where` is asked when a test makes its target. */
export function targetKinds(
  where: () => { readonly database: TestDatabase; readonly folders: string },
): readonly (readonly [kind: string, targetOf: (name: string) => TestTarget])[] {
  return [
    ['postgres', (name) => postgresTarget(() => where().database, name)],
    [
      'duckdb',
      (name) => {
        const directory = join(where().folders, `${name} duckdb`);
        const file = join(directory, "it's.duckdb");
        return {
          createSink: () => createDuckDbRowSink({ file }),
          reader: duckDbReader(file),
          list: () => readdir(directory).catch(() => []),
        };
      },
    ],
    [
      'sqlite',
      (name) => {
        const directory = join(where().folders, `${name} sqlite`);
        const file = join(directory, "it's.sqlite");
        return {
          createSink: () => createSqliteRowSink({ file }),
          reader: sqliteReader(file),
          list: () => readdir(directory).catch(() => []),
        };
      },
    ],
    ...(['csv', 'tsv', 'jsonl', 'parquet'] as const).map(
      (format) =>
        [
          `folder of ${format}`,
          (name: string) => {
            const directory = join(where().folders, `${name} ${format}`);
            return {
              createSink: () => createFolderRowSink({ directory, format }),
              reader: folderReader(directory, format),
              list: () => readdir(directory).catch(() => []),
            };
          },
        ] as const,
    ),
    [
      'folder of delta',
      (name) => {
        const directory = join(where().folders, `${name} delta`);
        return {
          createSink: () => createLakeRowSink({ target: diskLake({ directory }), format: 'delta' }),
          reader: deltaReader(directory),
          list: () => readdir(directory).catch(() => []),
        };
      },
    ],
    [
      'folder of iceberg',
      (name) => {
        const directory = join(where().folders, `${name} iceberg`);
        return {
          createSink: () => createLakeRowSink({ target: diskLake({ directory }), format: 'iceberg' }),
          reader: icebergReader(directory),
          list: () => readdir(directory).catch(() => []),
        };
      },
    ],
  ];
}

/** A schema of the database, which its first job makes. */
export function postgresTarget(
  database: () => Pick<TestDatabase, 'url' | 'sql'>,
  sqlSchema: string,
): TestTarget {
  return {
    createSink: () => createPostgresRowSink({ url: database().url, sqlSchema, createSchema: true }),
    reader: { read: (table) => postgresReader(database().sql, sqlSchema).read(table) },
    list: async () => {
      const rows = await database().sql<{ name: string }[]>`
        select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r' and (n.nspname = ${sqlSchema} or n.nspname like ${'\\_svc\\_%'} or c.relname like ${'\\_svc\\_%'})
        union all select nspname from pg_namespace where nspname like ${'\\_svc\\_%'}`;
      return rows.map((row) => row.name);
    },
  };
}

export function mariadbAddress({ socket }: Pick<TestMariadb, 'socket'>, database: string): MysqlAddress {
  return {
    host: 'localhost',
    port: 0,
    socketPath: socket,
    database,
    user: 'root',
    password: '',
    sslmode: null,
    label: `mysql://localhost/${database}`,
  };
}

/** A database of the server, which has to be made before. */
export function mariadbTarget(server: () => TestMariadb, database: string): TestTarget {
  return {
    createSink: () => createMysqlRowSink(mariadbAddress(server(), database)),
    reader: mysqlReader(server, database),
    list: async () => {
      const listed = await server().run(
        `SELECT table_name FROM information_schema.tables WHERE table_schema = '${database}' ORDER BY 1;`,
      );
      return listed.split('\n').slice(1, -1);
    },
  };
}
