/** Stores a source model as an origin, once per job. Finds the logical schemas that loaded a target. */
import { basename, resolve } from 'node:path';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';
import { rowSourceOf } from '../../service/jobs/request/row-source.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { NewOriginFile, OriginRecord, StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';

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

// Logical schemas of this metadata database that loaded a target. They are recognised by the hashes of their models, because numbers are
// given out again after the database was restored from a backup, and other installations have numbers of their own.

type LogicalSchemaFacts = Omit<StoredLogicalSchema, 'model'>;

/** A logical schema of this metadata database that loaded the target. */
export interface KnownLoad extends LogicalSchemaFacts {
  /** whether documents that it loaded are still there */
  readonly holds: boolean;
}

interface RecognisedLoads {
  /** each logical schema once, the one that loaded last first */
  readonly known: readonly KnownLoad[];
  /** loads with models that this metadata database does not have */
  readonly unknown: readonly TargetLoad[];
}

export async function recogniseLoads(
  { idOrg, home }: Pick<ToolSession, 'idOrg' | 'home'>,
  loads: readonly TargetLoad[],
): Promise<RecognisedLoads> {
  const { catalog } = home.adapters;
  const stored = await findByHash(
    { idOrg, home },
    loads.map(({ modelHash }) => modelHash),
  );
  const installation = stored.size === 0 ? '' : await catalog.installation();
  const known = new Map<number, KnownLoad>();
  const unknown: TargetLoad[] = [];
  for (const load of loads) {
    const same = stored.get(load.modelHash ?? '');
    if (same === undefined) {
      unknown.push(load);
      continue;
    }
    // if several schemas have the same model, choose the one that the target names
    const named = same.find(({ idLschma }) => idLschma === load.idLschma);
    const schema = load.installation === installation && named !== undefined ? named : same[0]!;
    const earlier = known.get(schema.idLschma);
    known.set(schema.idLschma, { ...schema, holds: load.holds || earlier?.holds === true });
  }
  return { known: [...known.values()], unknown };
}

/** Logical schemas by the hash of their model, the newest first. */
export async function findByHash(
  { idOrg, home }: Pick<ToolSession, 'idOrg' | 'home'>,
  hashes: readonly (string | null)[],
): Promise<ReadonlyMap<string, readonly LogicalSchemaFacts[]>> {
  const wanted = [...new Set(hashes.filter((hash) => hash !== null))];
  const found = await home.adapters.catalog.findLogicalSchemas(idOrg, wanted);
  return Map.groupBy(
    found.toSorted((a, b) => b.idLschma - a.idLschma),
    ({ modelHash }) => modelHash,
  );
}

/** Returns a log message about loads with models that are not in this database, or null if there are none. `next`: what happens now. */
export function unknownLoadsMessage(
  unknown: readonly TargetLoad[],
  installation: string,
  next: string,
): string | null {
  if (unknown.length === 0) return null;
  const ours = unknown.filter((load) => load.installation === installation);
  if (ours.length === 0)
    return `the target was loaded by another installation, whose logical schemas are not in this metadata database: ${next}`;
  const ids = [...new Set(ours.flatMap(({ idLschma }) => idLschma ?? []))].toSorted((a, b) => a - b);
  const [schema, is] = ids.length === 1 ? ['logical schema', 'is'] : ['logical schemas', 'are'];
  return `the target was loaded by ${schema} ${ids.join(', ')}, which ${is} not in this metadata database: the schema was removed, or the database was restored from an earlier backup, and the number may stand for another schema now; ${next}`;
}
