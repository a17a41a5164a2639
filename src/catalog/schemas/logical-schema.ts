/** Reads logical schemas and generates artefacts from them. */
import { inSlices, mapInSlices } from '../../engine/in-slices.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { withZonesOfDocuments } from '../../engine/map/zones-of-documents.ts';
import { enumerationsOf } from '../../engine/metadata/enumerations.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { ddlParagraphs, type DdlCodes } from '../../engine/sql/ddl.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { AppError } from '../../errors.ts';
import type { CatalogStore, MappingRecord, StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import { oneLine } from '../../jobs/secrets/one-line.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { brokenNaturalKeys, withNaturalKeys, withoutBroken } from './natural-keys.ts';
import { findOrigin, originFamily } from './origin.ts';

/** The logical schema that is shown of the origin, or the selected one; `not_found` when the origin is absent, or has none yet. */
export async function findLogicalSchema(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<StoredLogicalSchema> {
  const shown = idLschma ?? (await catalog.findOrigin(idOrg, idSch))?.id_lschma ?? null;
  const stored = shown === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: shown });
  if (stored === null || stored.idSch !== idSch) throw new AppError('not_found', 'there is no such schema');
  return stored;
}

/** DDL of the logical schema in that dialect, in pieces. */
export async function logicalSchemaDdl(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  options: {
    readonly dialect: DialectName;
    readonly idLschma?: number;
    /** form in which enumerated values are stored (default: none) */
    readonly codes?: DdlCodes['choice'] | 'none';
  },
): Promise<readonly string[]> {
  const { dialect, codes: choice = 'none' } = options;
  const { model, notes } = await keyedLogicalSchema({ catalog, jobs }, idOrg, idSch, options.idLschma);
  const lines = notes.map((text) => `-- ${oneLine(text)}\n`);
  const source = choice === 'none' ? null : ((await catalog.loadOrigin(idOrg, idSch))?.model ?? null);
  const codes =
    choice === 'none' || source === null
      ? {}
      : { codes: { choice, valuesAt: await enumerationsOf(model, source) } };
  return [...lines, ...(await inSlices(ddlParagraphs(model, { dialect, ...codes })))];
}

/**
 * Returns the logical schema with the types that documents gave it in targets, and the natural keys that people declared; `notes` names
 * the keys that data broke, so that they are left out.
 */
export async function keyedLogicalSchema(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<{ readonly model: RelationalModel; readonly notes: readonly string[] }> {
  const stored = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const statistics =
    factsOf(stored.model).openToZones.length === 0
      ? null
      : (await catalog.loadOrigin(idOrg, idSch))?.statistics;
  const model = statistics
    ? withZonesOfDocuments(stored.model, statistics as DocumentStatistics)
    : stored.model;
  const declared = await catalog.listNaturalKeys(idOrg, idSch);
  if (declared.length === 0) return { model, notes: [] };
  const family = await originFamily(catalog, idOrg, idSch);
  const ids = family.map(({ id_sch }) => id_sch);
  const { keys, notes } = withoutBroken(declared, await brokenNaturalKeys(jobs, idOrg, ids));
  return { model: withNaturalKeys(model, keys), notes };
}

/**
 * Returns the limit for names, and the longest existing name (in UTF-8 bytes; the first of equals), or null while there is no logical
 * schema.
 */
export async function nameLengths(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<{
  readonly id_sch: number;
  readonly name: string;
  readonly max_length: number;
  readonly longest_name: string | null;
}> {
  const origin = await findOrigin(catalog, idOrg, idSch, idLschma);
  const stored =
    origin.id_lschma === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: origin.id_lschma });
  let longest: string | null = null;
  let longestBytes = 0;
  const encoder = new TextEncoder();
  await mapInSlices(stored?.model.tables ?? [], (table) => {
    for (const name of [table.name, ...table.columns.map((column) => column.name)]) {
      const bytes = encoder.encode(name).byteLength;
      if (bytes > longestBytes) [longest, longestBytes] = [name, bytes];
    }
  });
  return { id_sch: origin.id_sch, name: origin.name, max_length: origin.max_length, longest_name: longest };
}

/** The source-to-target map as it is stored; empty while the origin has no logical schema. */
export async function listStoredMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly MappingRecord[]> {
  const origin = await findOrigin(catalog, idOrg, idSch, idLschma);
  return origin.id_lschma === null ? [] : await catalog.listMappings(idOrg, origin.id_lschma);
}
