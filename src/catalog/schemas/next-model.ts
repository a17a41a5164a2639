/** The models of an origin's next logical schema: how they are made, wherever that is done. */
import { inferSourceModel } from '../../engine/infer/source-model.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { buildRelationalModel } from '../../engine/map/build-model.ts';
import { leaveOutInactive } from '../../engine/map/deactivate.ts';
import { extraColumnsOf, namingLike } from '../../engine/map/creation-options.ts';
import { defaultNaming } from '../../engine/map/names/identifiers.ts';
import type { NamingOptions } from '../../engine/map/names/identifiers.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { NextSchema, NextSchemaSources } from '../../ports/processes/schema-compiler.ts';

/** The level (elevate and reuse) for an origin that has no logical schema yet. */
const defaultMapLevel = 3;

/** Made as the newest one was: its map level, names and extra columns. */
export function nextModel(sources: NextSchemaSources): NextSchema {
  const source = refinedSource(sources);
  const whole = buildRelationalModel(source, optionsOf(sources, source));
  const model = leaveOutInactive(source, whole, new Set(sources.inactive));
  return { source: source === sources.source ? null : source, model };
}

/** Returns a refined source model. A model from an XSD stays as it is; an inferred model learns from the documents that came since. */
function refinedSource({ sourceType, source, statistics }: NextSchemaSources): SourceModel {
  if (sourceType !== 'xml' || statistics === null) return source;
  const inferred = inferSourceModel(statistics as DocumentStatistics);
  return JSON.stringify(inferred) === JSON.stringify(source) ? source : inferred;
}

function optionsOf(
  { sourceType, newest, maxLength }: NextSchemaSources,
  source: SourceModel,
): Parameters<typeof buildRelationalModel>[1] {
  const basis = newest === null ? defaultNaming : namingLike(newest);
  const naming: NamingOptions = { ...basis, maxBytes: maxLength ?? basis.maxBytes };
  const textLength = newest?.options?.defaultTextLength;
  const roots = sourceType === 'xml' ? source.roots.map((root) => source.elements[root]!.name) : [];
  return {
    mapLevel: newest?.mapLevel ?? defaultMapLevel,
    naming,
    roots: [...(newest?.roots.map(({ name }) => name) ?? []), ...roots],
    ...(textLength === undefined ? {} : { defaultTextLength: textLength }),
    ...(newest === null ? {} : { previous: newest, keepNames: naming.maxBytes === newest.nameMaxLength }),
    extraColumns: newest === null ? [] : extraColumnsOf(newest),
  };
}
