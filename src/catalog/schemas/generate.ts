/** The next logical schema of an origin: from its source model, its statistics, and what of its map is active. */
import { lineIdentity } from '../../engine/map/line-identity.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { MappingRecord, OriginRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from './origin.ts';

/**
 * `maxLength`: bytes a name may have; without it, as before. Answers the origin with the new logical schema, or with the newest
 * where nothing differs from it. AppError as those of the compiler, which makes it.
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
  // people switch off what they are shown, which may be another one
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

/** Identities of what is switched off in a map. */
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
