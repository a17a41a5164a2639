/** The next logical schema of an origin: from its source model, its statistics, and what of its map is active. */
import { inferSourceModel } from '../../engine/infer/source-model.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { buildRelationalModel } from '../../engine/map/build-model.ts';
import { leaveOutInactive, lineIdentity } from '../../engine/map/deactivate.ts';
import { extraColumnsOf, namingLike } from '../../engine/map/creation-options.ts';
import { defaultNaming } from '../../engine/map/names/identifiers.ts';
import type { NamingOptions } from '../../engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';
import type { CatalogStore, MappingRecord, OriginRecord, StoredOrigin } from '../../ports/stores/catalog.ts';
import { findOrigin } from './origin.ts';

/** The level (elevate and reuse) for an origin that has no logical schema yet. */
const defaultMapLevel = 3;

/**
 * Made as the newest one was: its map level, names and extra columns. `maxLength`: bytes a name may have; without it, as before.
 * Answers the origin with the new logical schema, or with the newest where nothing differs from it.
 */
export async function generateLogicalSchema(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  maxLength?: number,
): Promise<OriginRecord> {
  const origin = await catalog.loadOrigin(idOrg, idSch);
  if (origin === null) throw new AppError('not_found', 'there is no such schema');
  const newest = await catalog.loadLogicalSchema(idOrg, { idSch });
  const lines = newest === null ? [] : await catalog.listMappings(idOrg, newest.idLschma);
  const inactive = inactiveLines(lines);
  const source = refinedSource(origin);
  const whole = buildRelationalModel(source, optionsOf(newest?.model ?? null, origin, source, maxLength));
  const model = leaveOutInactive(source, whole, inactive);
  if (source !== origin.model) await catalog.refineOrigin(idOrg, idSch, source);
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

/** What an XSD says stands; a model that was inferred learns from the documents that came since. */
function refinedSource({ record, model, statistics }: StoredOrigin): SourceModel {
  if (record.source_type !== 'xml' || statistics === null) return model;
  const inferred = inferSourceModel(statistics as DocumentStatistics);
  return JSON.stringify(inferred) === JSON.stringify(model) ? model : inferred;
}

function optionsOf(
  newest: RelationalModel | null,
  origin: StoredOrigin,
  source: SourceModel,
  maxLength: number | undefined,
): Parameters<typeof buildRelationalModel>[1] {
  const made = newest === null ? defaultNaming : namingLike(newest);
  const naming: NamingOptions = { ...made, maxBytes: maxLength ?? made.maxBytes };
  const textLength = newest?.options?.defaultTextLength;
  const roots =
    origin.record.source_type === 'xml' ? source.roots.map((root) => source.elements[root]!.name) : [];
  return {
    mapLevel: newest?.mapLevel ?? defaultMapLevel,
    naming,
    roots: [...(newest?.roots.map(({ name }) => name) ?? []), ...roots],
    ...(textLength === undefined ? {} : { defaultTextLength: textLength }),
    ...(newest === null ? {} : { previous: newest, keepNames: naming.maxBytes === newest.nameMaxLength }),
    extraColumns: newest === null ? [] : extraColumnsOf(newest),
  };
}
