/** Stores a source model as an origin, once per job. */
import { basename, resolve } from 'node:path';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';
import { rowSourceOf } from '../../service/jobs/request/row-source.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { NewOriginFile, OriginRecord } from '../../ports/stores/catalog.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function storeOrigin(
  session: ToolSession,
  model: SourceModel,
  sourceType: 'xsd' | 'xml' | 'xsd+xml',
  files: readonly NewOriginFile[],
): Promise<OriginRecord> {
  const { request, idOrg, idJob, home } = session;
  const { catalog } = home.adapters;
  if (session.originOfEarlierAttempt !== null) {
    // an attempt that was cut off had stored it; the input is the same
    const earlier = await catalog.findOrigin(idOrg, session.originOfEarlierAttempt);
    if (earlier?.id_job === idJob) return earlier;
  }
  const create = (name: string): Promise<OriginRecord> =>
    catalog.createOrigin({
      idOrg,
      idParentSch: request.parent ?? null,
      idJob,
      name,
      sourceType,
      model,
      files,
    });
  if (request.name !== undefined) return create(request.name);
  const plain = defaultName(firstInput(request) ?? 'stdin');
  for (let number = 1; ; number += 1) {
    try {
      return await create(number === 1 ? plain : `${plain}-${number}`);
    } catch (error) {
      // a name nobody chose may get a number
      if (!(error instanceof AppError) || error.code !== 'conflict' || number === 1000) throw error;
    }
  }
}

/** Returns the name for an origin without a given name: the first input. For a database, the name omits parts that may be secret. */
export function firstInput({ from, inputs }: Pick<ToolRequest, 'from' | 'inputs'>): string | undefined {
  if (from === undefined) return inputs[0];
  const source = rowSourceOf(from);
  if ('fault' in source) return undefined;
  if (source.kind === 'file') return source.path.replace(/[?#].*$/s, '');
  return 'file' in source ? source.file : (source.database ?? source.host);
}

/** `uploads/7f3c/donut.xml.gz` -> `donut` */
export function defaultName(input: string): string {
  const name = basename(/^\.{0,2}(?:\/\.{0,2})*$/.test(input) ? resolve(input) : input)
    .replace(/\.(?:gz|zip|tar|tgz)$/i, '')
    .replace(/\.(?:tar|xml|xsd|wsdl|parquet|[ct]sv|db|sqlite3?|duckdb)$/i, '')
    .replace(/\.(?:xml|xsd)$/i, '');
  return name === '' || name === '-' || name === 'group' ? 'documents' : name;
}
