/** Opens the rows of `--from`; the code that reads them is loaded when it is used. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createOutgoingGuard } from '../../access/outgoing-guard.ts';
import { createHostResolver } from '../../adapters/outgoing/host-resolver.ts';
import { AppError } from '../../errors.ts';
import { rowSourceOf, type RowServer } from '../../jobs/request/row-source.ts';
import type { QueryRows } from '../../ports/rows/query.ts';
import { openServerRows } from '../../runtime/rows/server-rows.ts';
import { localCopies, localFolder } from '../session/remote-files.ts';
import { inputPaths } from '../session/resolve-inputs.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** AppErrors of the place, and of hosts and paths that a job may not use. */
export async function openRows(session: ToolSession): Promise<QueryRows> {
  const { request, home } = session;
  const source = rowSourceOf(request.from!);
  if ('fault' in source) throw new AppError('invalid_option', `--from: ${source.fault}`);
  const query = request.query ?? '';
  switch (source.kind) {
    case 'postgresql':
    case 'mysql':
      return openServerRows(source, query, { config: home.config, ...(await addressesOf(session, source)) });
    case 'sqlite': {
      const { openSqliteQuery } = await import('../../targets/sql/sqlite/query.ts');
      return openSqliteQuery(await fileAt(session, source.file), source.file, query);
    }
    case 'duckdb': {
      const { openDuckDbQuery } = await import('../../targets/sql/duckdb/query.ts');
      const options = { label: source.file, spill: await spillFolder(session) };
      return openDuckDbQuery(await fileAt(session, source.file), query, options);
    }
    case 'file': {
      const { openRowFile } = await import('../../targets/sql/duckdb/query.ts');
      const [path, ...more] = await inputPaths(session, [source.path], 'from');
      if (path === undefined || more.length > 0)
        throw new AppError(
          'invalid_option',
          `--from ${source.path}: names ${more.length + 1} files: it takes one`,
        );
      const options = { label: source.path, spill: await spillFolder(session) };
      return openRowFile(resolve(path), source.format, options);
    }
  }
}

/** Returns the checked addresses of a server; none for a person's own run, which the operator's list does not restrict. */
async function addressesOf(
  { byHand, home }: ToolSession,
  { host, port }: RowServer,
): Promise<{ readonly addresses?: readonly string[] }> {
  if (byHand) return {};
  const guard = createOutgoingGuard(home.config.allowedHosts, createHostResolver());
  return { addresses: (await guard.check(host, port)).addresses };
}

/** AppError `input_not_found` if there is none. */
async function fileAt(session: ToolSession, file: string): Promise<string> {
  const path = session.byHand ? resolve(file) : await session.resolvePath(file, true);
  return (await localCopies(session, [path], 'from'))[0]!;
}

async function spillFolder(session: ToolSession): Promise<string> {
  const folder = localFolder(session, 'from-spill');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
