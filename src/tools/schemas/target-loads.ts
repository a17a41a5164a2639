/**
 * Finds the logical schemas of this metadata database that loaded a target. They are recognised by the hashes of their models, because
 * numbers are given out again after the database was restored from a backup, and other installations have numbers of their own.
 */
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { TargetLoad } from '../../ports/rows/sink.ts';
import type { ToolSession } from '../session/tool-session.ts';

export type LogicalSchemaFacts = Omit<StoredLogicalSchema, 'model'>;

/** A logical schema of this metadata database that loaded the target. */
export interface KnownLoad extends LogicalSchemaFacts {
  /** whether documents that it loaded are still there */
  readonly holds: boolean;
}

export interface RecognisedLoads {
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
    return `the target was loaded by another installation, whose logical schemas are not known here: ${next}`;
  const ids = [...new Set(ours.flatMap(({ idLschma }) => idLschma ?? []))].toSorted((a, b) => a - b);
  const [schema, is] = ids.length === 1 ? ['logical schema', 'is'] : ['logical schemas', 'are'];
  return `the target was loaded by ${schema} ${ids.join(', ')}, which ${is} not in this metadata database: the schema was removed, or the database was restored from an earlier backup, and the number may stand for another schema now; ${next}`;
}
