/** Stores the content of a package under new ids: everything in one transaction, after all checks. */
import { checkSvg } from '../catalog/svg-check.ts';
import { AppError } from '../../errors.ts';
import type { NewOriginFile, TransferChanges, TransferStore } from '../../ports/stores/catalog.ts';
import type { PackageFolder } from '../../ports/files.ts';
import { fromBase64, packageFault } from './model-shapes.ts';
import {
  type PackageManifest,
  type PartName,
  readPart,
  type FileLine,
  type MappingLine,
  type OriginLine,
  type PartLines,
  readManifest,
} from './package-format.ts';

interface ImportedPackage {
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
      throw new AppError(
        'conflict',
        'the job was killed or cancelled during the import: nothing was imported',
      );
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
    if (seen.has(stored.idLschma))
      throw packageFault(`logical schema ${id} is the same as the one before it`);
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
    if (found === undefined) throw packageFault(`mapping ${line} does not belong to its logical schema`);
    if (found.active !== active) toSwitch[active ? 'on' : 'off'].push(found.id_map);
  }
  for (const [state, ids] of Object.entries(toSwitch)) {
    if (ids.length > 0) await changes.catalog.setMappingsActive(idOrg, idLschma, ids, state === 'on');
  }
}

// Checks a whole package before anything is written: its hashes, its shapes, and the references between its parts.

/** Checks a package and returns its manifest. AppError `unprocessable_input` describes the fault. */
export async function checkPackage(folder: PackageFolder): Promise<PackageManifest> {
  const manifest = await readManifest(folder);
  const each = <Part extends PartName>(name: Part): AsyncGenerator<PartLines[Part]> =>
    readPart(folder, name, manifest.parts);

  const origins = new Set<number>();
  const xsdOrigins = new Set<number>();
  let newest = 0;
  for await (const { origin, parent, version, source_type: type } of each('origins.ndjson')) {
    if (origins.has(origin) || version <= newest) throw packageFault('its versions are not in their order');
    if (parent !== null && !origins.has(parent))
      throw packageFault(`origin ${origin} follows a version that is missing`);
    origins.add(origin);
    if (type === 'xsd') xsdOrigins.add(origin);
    newest = version;
  }
  if (origins.size === 0) throw packageFault('it has no origin');

  const models = once('a source model', origins);
  for await (const { origin } of each('source_models.ndjson')) models(origin);
  if (manifest.parts[1]!.records !== origins.size) throw packageFault('an origin has no source model');

  const files = consecutive('the files', origins);
  for await (const line of each('files.ndjson')) {
    files(line.origin, line.position);
    if (line.content === undefined && xsdOrigins.has(line.origin))
      throw packageFault(`the XSD file ${JSON.stringify(line.name)} has no content`);
    await checkContent(line);
  }
  const statistics = once('statistics', origins);
  for await (const { origin } of each('statistics.ndjson')) statistics(origin);
  for await (const { origin } of each('job_statistics.ndjson')) known('statistics', origins, origin);

  const keys = new Set<string>();
  for await (const { table, column } of each('natural_keys.ndjson')) {
    const key = JSON.stringify([table, column]);
    if (keys.has(key)) throw packageFault(`a natural key is named twice: ${key}`);
    keys.add(key);
  }

  const logicalSchemas = new Set<number>();
  for await (const { logical_schema: idLschma, origin } of each('logical_schemas.ndjson')) {
    known('a logical schema', origins, origin);
    if (logicalSchemas.has(idLschma)) throw packageFault(`logical schema ${idLschma} occurs twice`);
    logicalSchemas.add(idLschma);
  }
  const lines = consecutive('the mappings', logicalSchemas);
  for await (const { logical_schema: idLschma, line } of each('mappings.ndjson')) lines(idLschma, line);
  const drawings = once('a diagram', logicalSchemas);
  for await (const { logical_schema: idLschma, svg } of each('diagrams.ndjson')) {
    drawings(idLschma);
    checkDrawing(svg);
  }
  return manifest;
}

function checkDrawing(svg: string): void {
  try {
    checkSvg(svg);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw packageFault(`a diagram is refused: ${error.message}`);
  }
}

interface Ids {
  has(id: number): boolean;
}

function known(what: string, ids: Ids, id: number): void {
  if (!ids.has(id)) throw packageFault(`${what} of something that is missing: ${id}`);
}

/** Takes an id each time, and each id once. */
function once(what: string, ids: Ids): (id: number) => void {
  const seen = new Set<number>();
  return (id) => {
    known(what, ids, id);
    if (seen.has(id)) throw packageFault(`${what} of ${id} occurs twice`);
    seen.add(id);
  };
}

/** Takes the places of things in something: each counts from 0 without a gap. */
function consecutive(what: string, ids: Ids): (id: number, position: number) => void {
  const next = new Map<number, number>();
  return (id, position) => {
    known(what, ids, id);
    if (position !== (next.get(id) ?? 0)) throw packageFault(`${what} of ${id} are not in their order`);
    next.set(id, position + 1);
  };
}

/** Checks the hash of content: origins share contents by their hash, so a wrong one would change those of others. */
async function checkContent({ name, content, bytes, sha256 }: FileLine): Promise<void> {
  if (content === undefined) return;
  const held = fromBase64(content);
  if (held === null || held.byteLength !== bytes)
    throw packageFault(`the content of ${JSON.stringify(name)} has the wrong length`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', held));
  if (Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') !== sha256)
    throw packageFault(`the content of ${JSON.stringify(name)} does not match its hash`);
}
