/** A relational model made to the options of a run. It is imported lazily: most runs use a model that is stored. */
import { buildRelationalModel, namingLike } from '../../engine/map/build-model.ts';
import { chooseRoots } from '../../engine/map/chosen-roots.ts';
import { manyMappings } from '../../engine/map/mappings.ts';
import { defaultNaming, type NamingOptions } from '../../engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { counted } from '../reports/summary.ts';
import { rootsOf, type ModelChoices } from './choice.ts';

export function buildModel(
  request: ToolRequest,
  source: SourceModel,
  {
    mapLevel,
    extraRoots = [],
    previous,
    keepNames = true,
    keepSplits = true,
    keepsDefaultNames = false,
    extras = [],
    met,
  }: ModelChoices,
): RelationalModel {
  const chosen = rootsOf(request, source);
  const standard = chooseRoots(source, undefined).map((root) => source.elements[root]!.name);
  const like = keepNames ? previous : undefined;
  const textLength = request.defaultVarcharLen ?? like?.options?.defaultTextLength;
  const given = request.extraColumns.map(({ name, type, kind }) => ({
    name,
    type: { kind: type },
    ...(kind === 'carried' ? { rootsOnly: true as const } : {}),
  }));
  return buildRelationalModel(source, {
    mapLevel,
    naming: like === undefined ? namingOf(request) : namingLike(like),
    roots: chosen.length > 0 ? chosen : [...standard, ...extraRoots],
    ...(textLength === undefined ? {} : { defaultTextLength: textLength }),
    ...(previous === undefined ? {} : { previous, keepNames, keepSplits }),
    ...(met === undefined ? {} : { met }),
    keepsDefaultNames,
    extraColumns: given.length > 0 ? given : extras,
  });
}

/** The size of a model, and whether its map leaves out paths, as a line of the log. */
export function modelSize({ mapLevel, tables, mappings }: RelationalModel): string {
  const size = `model at level ${mapLevel}: ${counted(tables.length, 'table')}, ${counted(mappings.length, 'mapping')}`;
  if (mappings.length <= manyMappings) return size;
  return `${size}; the map has more than ${manyMappings} and so leaves out further paths to shared tables until documents use them`;
}

function namingOf(request: ToolRequest): NamingOptions {
  return {
    nameMode: request.nameMode ?? defaultNaming.nameMode,
    tablePrefix: request.prefix ?? '',
    tableSuffix: request.suffix ?? '',
    maxBytes: request.nameMaxLen ?? defaultNaming.maxBytes,
    rename: new Map(request.rename ?? []),
  };
}
