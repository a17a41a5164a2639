/** Delta and Iceberg tables as targets, in folders and in buckets. */
import { AppError } from '../../errors.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { RowRemover, RowSink } from '../../ports/rows/sink.ts';
import type { RowSource } from '../../ports/rows/source.ts';
import type { LakeTarget } from '../../targets/files/lake/place.ts';
import type { LakeFormatName } from '../../targets/files/lake/table-format.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function lakeSink(
  session: ToolSession,
  target: LakeTarget,
  format: LakeFormatName,
): Promise<RowSink> {
  if (session.request.views === true)
    session.log(
      '--views: Delta and Iceberg tables have no views here; conversion-job-service views NAME writes them for what reads the tables',
    );
  const { createLakeRowSink } = await import('../../targets/files/lake/sink.ts');
  return createLakeRowSink({ target, format, ...encodingsOf(session.request) });
}

export async function lakeSource({ request }: ToolSession, target: LakeTarget): Promise<RowSource> {
  const { createLakeRowSource } = await import('../../targets/files/lake/source.ts');
  const { version } = request;
  return createLakeRowSource({ target, ...(version === undefined ? {} : { version }) });
}

export async function lakeRemover(target: LakeTarget): Promise<RowRemover> {
  const { createLakeRowRemover } = await import('../../targets/files/lake/remover.ts');
  return createLakeRowRemover(target);
}

/** Returns the encodings; without `--parquet-version` each target has its own. */
export function encodingsOf({ parquetVersion }: ToolRequest): { readonly deltas?: boolean } {
  return parquetVersion === undefined ? {} : { deltas: parquetVersion === 2 };
}

export function noVersions(): AppError {
  return new AppError(
    'invalid_option',
    '--version: earlier versions are there of Delta and Iceberg tables alone (-f delta, -f iceberg, iceberg:https://…); leave it out',
  );
}
