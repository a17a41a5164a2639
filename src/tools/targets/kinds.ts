/**
 * The registry of the kinds of targets: it maps the text of a target (`-o`, `-i`) to the code that writes its rows, reads them and
 * removes documents. A new kind is a member of `Target` (`src/service/jobs/request/target.ts`), a file beside this one, and a line here.
 */
import type { DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { AppError } from '../../errors.ts';
import { parseTarget, type Target } from '../../service/jobs/request/target.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { RowRemover, RowSink } from '../../ports/row-sink.ts';
import type { RowSource } from '../../ports/row-source.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { catalogueKind } from './catalogue.ts';
import { duckdbKind, sqliteKind, mysqlKind, metadbKind, postgresqlKind } from './databases.ts';
import { bucketKind, folderKind, noVersions } from './folders.ts';
import { registeredKind } from './registered.ts';
import type { KindOfTarget } from './kind.ts';

const kinds: { readonly [K in Target['kind']]: KindOfTarget<Extract<Target, { readonly kind: K }>> } = {
  postgresql: postgresqlKind,
  metadb: metadbKind,
  mysql: mysqlKind,
  sqlite: sqliteKind,
  duckdb: duckdbKind,
  folder: folderKind,
  bucket: bucketKind,
  iceberg: catalogueKind,
  registered: registeredKind,
};

/** The kinds in the order of docs/reference/targets.md. */
export const targetKinds: readonly KindOfTarget<never>[] = Object.values(kinds);

/** A target is given to the kind that its text was read as. */
function kindOf(target: Target): KindOfTarget {
  return kinds[target.kind] as KindOfTarget;
}

/**
 * Opens the sink for the documents of a job; for `unload`, the target they are removed from, which records whether it has the job already.
 */
export async function openSink(session: ToolSession): Promise<RowSink> {
  const { request } = session;
  const target = request.tool === 'unload' ? targetOf(request, 'in') : targetOf(request, 'out');
  const kind = kindOf(target);
  if (request.format !== undefined && !kind.hasFormats)
    session.log(`-f ${request.format} is for folders: it changes nothing here`);
  return kind.openSink(session, target);
}

export async function openSource(session: ToolSession): Promise<RowSource> {
  const target = targetOf(session.request, 'in');
  const kind = kindOf(target);
  if (session.request.version !== undefined && !kind.hasVersions) throw noVersions();
  return kind.openSource(session, target);
}

export async function openRemover(session: ToolSession): Promise<RowRemover> {
  const target = targetOf(session.request, 'in');
  return kindOf(target).openRemover(session, target);
}

/** Returns the SQL dialect; that of PostgreSQL without a target. */
export function ddlDialectOf(request: Pick<ToolRequest, 'out' | 'format'>): DialectName {
  if (request.out === undefined) return 'postgresql';
  const target = targetOf(request, 'out');
  return kindOf(target).ddlDialect(request.format, target);
}

function targetOf(request: Pick<ToolRequest, 'in' | 'out'>, member: 'in' | 'out'): Target {
  const target = parseTarget(request[member]!);
  if ('fault' in target)
    throw new AppError('invalid_option', `${member === 'in' ? '-i' : '-o'}: the target ${target.fault}`);
  return target;
}
