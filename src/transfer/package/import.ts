/** Stores the content of a package under new ids: everything in one transaction, after all checks. */
import { checkSvg } from '../../catalog/diagrams/svg-check.ts';
import { AppError } from '../../errors.ts';
import type { NewOriginFile } from '../../ports/stores/catalog.ts';
import type { TransferChanges, TransferStore } from '../../ports/stores/transfer.ts';
import type { PackageFolder } from '../../ports/files/package-folder.ts';
import { fromBase64 } from '../shapes/base64.ts';
import { checkPackage } from './check.ts';
import type { PackageManifest, PartName } from './format.ts';
import { readPart } from './reading.ts';
import type { FileLine, MappingLine, OriginLine, PartLines } from './records.ts';
import { packageFault } from '../shapes/json-shape.ts';

export interface ImportedPackage {
  /** ids of all versions as they are numbered here, oldest first */
  readonly origins: readonly number[];
}

/** most names that are tried beside the one the package has */
const maxNames = 1000;

/**
 * `idJob`: the job that makes the origins, and is completed with them. AppError `unprocessable_input` for an incomplete package,
 * `not_found` if the organisation does not exist, `conflict` if the job was killed meanwhile. A name that is in use gets a number.
 */
export async function importPackage(
  store: TransferStore,
  folder: PackageFolder,
  into: { readonly idOrg: number; readonly idJob: number | null },
): Promise<ImportedPackage> {
  const manifest = await checkPackage(folder);
  return store.write(async (changes) => {
    if (!(await changes.hasOrganisation(into.idOrg)))
      throw new AppError('not_found', `there is no organisation ${into.idOrg} in that database`);
    const each = <Part extends PartName>(name: Part): AsyncGenerator<PartLines[Part]> =>
      readPart(folder, name, manifest.parts);
    const origins = await importOrigins(changes, into, each);
    for await (const { origin, statistics } of each('statistics.ndjson'))
      await changes.setStatistics(origins.get(origin)!, statistics);
    for await (const { origin, statistics, created } of each('job_statistics.ndjson'))
      await changes.addJobStatistics(origins.get(origin)!, statistics, created);
    await importNaturalKeys(changes, into.idOrg, origins.values().next().value!, manifest, each);
    const logicalSchemas = await importLogicalSchemas(changes, into, origins, each);
    for await (const { logical_schema: id, svg, saved } of each('diagrams.ndjson')) {
      const idLschma = logicalSchemas.get(id)!;
      await changes.catalog.saveDiagram(into.idOrg, idLschma, checkSvg(svg));
      await changes.setDiagramSaved(idLschma, saved);
    }
    const imported = [...origins.values()];
    // Last, and in the same transaction: the record then matches the stored data, whatever fails afterwards
    if (into.idJob !== null && !(await changes.completeJob(into.idJob, imported.at(-1)!)))
      throw new AppError('conflict', 'the job was killed, or given up, meanwhile: nothing was imported');
    return { origins: imported };
  });
}

type Parts = <Part extends PartName>(name: Part) => AsyncGenerator<PartLines[Part]>;
type Target = { readonly idOrg: number; readonly idJob: number | null };
/** Maps the ids of the package to the new ones. */
type NewIds = ReadonlyMap<number, number>;

async function importOrigins(changes: TransferChanges, into: Target, each: Parts): Promise<NewIds> {
  const lines = new Map<number, OriginLine>();
  for await (const line of each('origins.ndjson')) lines.set(line.origin, line);
  const files = new Map<number, NewOriginFile[]>();
  for await (const line of each('files.ndjson')) {
    const same = files.get(line.origin);
    if (same === undefined) files.set(line.origin, [fileOf(line)]);
    else same.push(fileOf(line));
  }

  const ids = new Map<number, number>();
  const names = new Map<string, string>();
  let newest: number | null = null;
  for await (const { origin, model } of each('source_models.ndjson')) {
    const line = lines.get(origin)!;
    const created = await createUnderFreeName(
      names.get(line.name) ?? line.name,
      names.has(line.name),
      (name) =>
        changes.catalog.createOrigin({
          idOrg: into.idOrg,
          // versions of an imported family follow one another, whichever parent they had
          idParentSch: newest,
          idJob: into.idJob,
          name,
          sourceType: line.source_type,
          model,
          files: files.get(origin) ?? [],
        }),
    );
    names.set(line.name, created.name);
    const idParentSch = line.parent === null ? null : ids.get(line.parent)!;
    await changes.placeOrigin(created.id_sch, { idParentSch, version: line.version, created: line.created });
    ids.set(origin, created.id_sch);
    newest = created.id_sch;
  }
  return ids;
}

function fileOf({ name, bytes, sha256, content, entry }: FileLine): NewOriginFile {
  const held = content === undefined ? null : fromBase64(content);
  return {
    name,
    bytes,
    sha256,
    ...(held === null ? {} : { content: held }),
    ...(entry === undefined ? {} : { entry }),
  };
}

async function createUnderFreeName<T>(
  wanted: string,
  given: boolean,
  create: (name: string) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await create(number === 1 ? wanted : `${wanted}-${number}`);
    } catch (error) {
      if (given || !(error instanceof AppError) || error.code !== 'conflict' || number === maxNames)
        throw error;
    }
  }
}

async function importNaturalKeys(
  changes: TransferChanges,
  idOrg: number,
  idSch: number,
  manifest: PackageManifest,
  each: Parts,
): Promise<void> {
  if (manifest.parts.find(({ name }) => name === 'natural_keys.ndjson')!.records === 0) return;
  const keys = [];
  for await (const { table, column, position } of each('natural_keys.ndjson'))
    keys.push({ tableName: table, columnName: column, position });
  await changes.catalog.saveNaturalKeys(idOrg, idSch, keys);
}

/** Imports logical schemas in the order of their creation, each with the activation of its own map before the next one is made. */
async function importLogicalSchemas(
  changes: TransferChanges,
  into: Target,
  origins: NewIds,
  each: Parts,
): Promise<NewIds> {
  const ids = new Map<number, number>();
  const seen = new Set<number>();
  for await (const { logical_schema: id, origin, model, created, variant } of each(
    'logical_schemas.ndjson',
  )) {
    const stored = await changes.catalog.createLogicalSchema(
      into.idOrg,
      origins.get(origin)!,
      model,
      into.idJob,
      variant,
    );
    if (seen.has(stored.idLschma)) throw packageFault(`logical schema ${id} is that before it once more`);
    await changes.setLogicalSchemaCreated(stored.idLschma, created);
    seen.add(stored.idLschma);
    ids.set(id, stored.idLschma);
  }
  let idLschma: number | null = null;
  let lines: MappingLine[] = [];
  const flush = async (): Promise<void> => {
    if (idLschma !== null) await switchMappings(changes, into.idOrg, ids.get(idLschma)!, lines);
    lines = [];
  };
  for await (const line of each('mappings.ndjson')) {
    if (line.logical_schema !== idLschma) await flush();
    idLschma = line.logical_schema;
    lines.push(line);
  }
  await flush();
  return ids;
}

/** Distinguishes lines by the paths that they map; equal ones by their order. */
async function switchMappings(
  changes: TransferChanges,
  idOrg: number,
  idLschma: number,
  lines: readonly MappingLine[],
): Promise<void> {
  const stored = new Map<string, { readonly id_map: number; readonly active: boolean }[]>();
  for (const { id_map, active, xpath, table_name, column_name } of await changes.catalog.listMappings(
    idOrg,
    idLschma,
  )) {
    const key = JSON.stringify([xpath, table_name, column_name]);
    const same = stored.get(key);
    if (same === undefined) stored.set(key, [{ id_map, active }]);
    else same.push({ id_map, active });
  }
  const toSwitch: { readonly [State in 'on' | 'off']: number[] } = { on: [], off: [] };
  for (const { line, xpath, table, column, active } of lines) {
    const found = stored.get(JSON.stringify([xpath, table, column]))?.shift();
    if (found === undefined) throw packageFault(`mapping ${line} is none of its logical schema`);
    if (found.active !== active) toSwitch[active ? 'on' : 'off'].push(found.id_map);
  }
  for (const [state, ids] of Object.entries(toSwitch)) {
    if (ids.length > 0) await changes.catalog.setMappingsActive(idOrg, idLschma, ids, state === 'on');
  }
}
