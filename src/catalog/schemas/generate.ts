/** Generates the next logical schema of an origin: from its source model, its statistics, and the active lines of its map. */
import { lineIdentity } from '../../engine/map/line-identity.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { MappingRecord, OriginRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from './origin.ts';

/**
 * `maxLength`: longest name in bytes; absent: unchanged. Returns the origin with the new logical schema, or with the newest if nothing
 * differs from it. AppErrors of the compiler, which makes it.
 */
export async function generateLogicalSchema(
  { catalog, compiler }: Pick<Adapters, 'catalog' | 'compiler'>,
  idOrg: number,
  idSch: number,
  maxLength?: number,
): Promise<OriginRecord> {
  const origin = await catalog.loadOrigin(idOrg, idSch);
  if (origin === null) throw new AppError('not_found', 'there is no such schema');
  const newest = await catalog.loadLogicalSchema(idOrg, { idSch });
  // people deactivate lines of the schema that they see, which may be another one
  const switched = new Set([newest?.idLschma ?? null, origin.record.id_lschma]);
  const lines: MappingRecord[] = [];
  for (const idLschma of switched)
    if (idLschma !== null) lines.push(...(await catalog.listMappings(idOrg, idLschma, 'inactive')));
  const { source, model } = await compiler.generate({
    idOrg,
    sourceType: origin.record.source_type,
    source: origin.model,
    statistics: origin.statistics,
    newest: newest?.model ?? null,
    inactive: [...inactiveLines(lines)],
    ...(maxLength === undefined ? {} : { maxLength }),
  });
  if (source !== null) await catalog.refineOrigin(idOrg, idSch, source);
  await catalog.createLogicalSchema(idOrg, idSch, model, null);
  return findOrigin(catalog, idOrg, idSch);
}

/** Returns the identities of the inactive lines in a map. */
export function inactiveLines(lines: readonly MappingRecord[]): ReadonlySet<string> {
  return new Set(
    lines
      .filter((line) => !line.active)
      .map((line) =>
        lineIdentity({
          xpath: line.xpath,
          nodeType: line.node_type ?? 'element',
          sourceType: line.source_type,
        }),
      ),
  );
}
