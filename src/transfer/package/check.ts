/** Everything in a package is looked at before anything is written: hashes, shapes, and that the parts fit together. */
import { checkSvg } from '../../catalog/diagrams/svg-check.ts';
import { AppError } from '../../errors.ts';
import type { PackageFolder } from '../../ports/files/package-folder.ts';
import { fromBase64 } from '../shapes/base64.ts';
import { readManifest } from './format.ts';
import type { PackageManifest, PartName } from './format.ts';
import { readPart } from './reading.ts';
import type { FileLine, PartLines } from './records.ts';
import { packageFault } from '../shapes/json-shape.ts';

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
      throw packageFault(`origin ${origin} follows one that is not there`);
    origins.add(origin);
    if (type === 'xsd') xsdOrigins.add(origin);
    newest = version;
  }
  if (origins.size === 0) throw packageFault('it holds no origin');

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
    if (logicalSchemas.has(idLschma)) throw packageFault(`logical schema ${idLschma} is there twice`);
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
  if (!ids.has(id)) throw packageFault(`${what} of something that is not there: ${id}`);
}

/** Takes an id each time, and each id once. */
function once(what: string, ids: Ids): (id: number) => void {
  const seen = new Set<number>();
  return (id) => {
    known(what, ids, id);
    if (seen.has(id)) throw packageFault(`${what} of ${id} is there twice`);
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
    throw packageFault(`the content of ${JSON.stringify(name)} is not as long as it should be`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', held));
  if (Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') !== sha256)
    throw packageFault(`the content of ${JSON.stringify(name)} is not what its hash says`);
}
