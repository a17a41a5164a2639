/** From the text of a target (`-i`) to where its rows are; the code that reads or removes them is loaded when it is used. */
import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { parseTarget, type Target } from '../../jobs/request/target.ts';
import type { RowRemover } from '../../ports/rows/remover.ts';
import type { RowSource } from '../../ports/rows/source.ts';
import { isRemote, localCopies } from '../session/remote-files.ts';
import { postgresLocation } from '../session/postgres-target.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function chooseRowSource(session: ToolSession): Promise<RowSource> {
  const target = inputTarget(session);
  const isVersioned = session.request.version !== undefined;
  if (isVersioned && target.kind !== 'folder') throw noVersions();
  const installation = await session.home.adapters.catalog.installation();
  const localPath = (path: string): Promise<string> =>
    session.byHand
      ? Promise.resolve(resolve(path))
      : session
          .resolvePath(path, true)
          .then(async (location) => (await localCopies(session, [location]))[0]!);
  switch (target.kind) {
    case 'duckdb': {
      const { createDuckDbRowSource } = await import('../../adapters/duckdb/target/source.ts');
      return createDuckDbRowSource({ file: await localPath(target.file), installation });
    }
    case 'sqlite': {
      const { createSqliteRowSource } = await import('../../adapters/sqlite/target/source.ts');
      return createSqliteRowSource({ file: await localPath(target.file), installation });
    }
    case 'folder': {
      const directory = await localPath(target.path);
      const options = { directory, refuseLinks: !session.byHand, installation };
      const { lakeFormatOf } = await import('../../adapters/lake/manifest.ts');
      if ((await lakeFormatOf(directory)) !== null) {
        const { createLakeRowSource } = await import('../../adapters/lake/source.ts');
        const { version } = session.request;
        return createLakeRowSource({ ...options, ...(version === undefined ? {} : { version }) });
      }
      if (isVersioned) throw noVersions();
      const { createFolderRowSource } = await import('../../adapters/folder/source.ts');
      return createFolderRowSource(options);
    }
    case 'mysql': {
      const { mysqlLocation } = await import('../session/mysql-target.ts');
      const { createMysqlRowSource } = await import('../../adapters/mysql/source.ts');
      return createMysqlRowSource({ ...(await mysqlLocation(session, target)), installation });
    }
    default: {
      const { createPostgresRowSource } = await import('../../adapters/postgres/target/read/source.ts');
      return createPostgresRowSource({ ...(await postgresLocation(session, target, 'read')), installation });
    }
  }
}

function noVersions(): AppError {
  return new AppError(
    'invalid_option',
    '--version: earlier versions are there in folders of Delta or Iceberg tables (-f delta, -f iceberg) alone; leave it out',
  );
}

export async function chooseRowRemover(session: ToolSession): Promise<RowRemover> {
  const target = inputTarget(session);
  if (target.kind === 'sqlite') {
    const file = session.byHand ? resolve(target.file) : await session.resolvePath(target.file, false);
    const { createSqliteRowRemover } = await import('../../adapters/sqlite/target/remover.ts');
    return createSqliteRowRemover({ file, refuseLinks: !session.byHand });
  }
  if (target.kind === 'folder') {
    const directory = session.byHand ? resolve(target.path) : await session.resolvePath(target.path, false);
    const { lakeFormatOf } = await import('../../adapters/lake/manifest.ts');
    if (!isRemote(directory) && (await lakeFormatOf(directory)) !== null) {
      const { createLakeRowRemover } = await import('../../adapters/lake/remover.ts');
      return createLakeRowRemover({ directory, refuseLinks: !session.byHand });
    }
  }
  if (target.kind === 'duckdb' || target.kind === 'folder') {
    throw new AppError(
      'invalid_option',
      '-i: unload knows targets postgresql://, mysql://, metadb: and sqlite:, and folders of Delta and Iceberg tables; other files are written anew by another load (-S o)',
    );
  }
  if (target.kind === 'mysql') {
    const { mysqlLocation } = await import('../session/mysql-target.ts');
    const { createMysqlRowRemover } = await import('../../adapters/mysql/remover.ts');
    return createMysqlRowRemover(await mysqlLocation(session, target));
  }
  const connection = await postgresLocation(session, target, 'read');
  const { createPostgresRowRemover } = await import('../../adapters/postgres/target/read/remover.ts');
  return createPostgresRowRemover(connection);
}

function inputTarget({ request }: ToolSession): Target {
  const target = parseTarget(request.in!);
  if ('fault' in target) throw new AppError('invalid_option', `-i: the target ${target.fault}`);
  return target;
}
