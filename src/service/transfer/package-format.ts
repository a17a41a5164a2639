/**
 * The package: `manifest.json`, and parts with one JSON value per line. Data only; nothing in it is ever executed. It contains every
 * version of a schema, with everything that was made from it.
 */
import { z } from 'zod';
import { isDeeperThan } from '../files/strict-json.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { PackageFolder, PartDigest } from '../../ports/files.ts';
import {
  packageFault,
  sha256Text,
  shapeOf,
  storableText,
  wholeNumber,
  object,
  type Shape,
  checkRelationalModel,
  checkSourceModel,
  checkStatistics,
} from './model-shapes.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { OriginFile } from '../../ports/stores/catalog.ts';

export const manifestName = 'manifest.json';

/** Raised when a package of this program could not be read by an earlier one. */
const formatVersion = 1;

const formatName = 'conversion-job-service/schema';

/** Parts in the order in which they are written and read: referenced parts come first. */
export const partNames = [
  'origins.ndjson',
  'source_models.ndjson',
  'files.ndjson',
  'statistics.ndjson',
  'job_statistics.ndjson',
  'natural_keys.ndjson',
  'logical_schemas.ndjson',
  'mappings.ndjson',
  'diagrams.ndjson',
] as const;
export type PartName = (typeof partNames)[number];

const partEntry = z.object({
  name: storableText(),
  records: wholeNumber(0),
  bytes: wholeNumber(0),
  sha256: sha256Text,
});
export type PartEntry = PartDigest & { readonly name: PartName };

const manifestSchema = z.object({
  format: storableText(),
  format_version: wholeNumber(1),
  /** epoch milliseconds */
  created: wholeNumber(0),
  /** the installation it was made by, as its database names itself */
  installation: storableText(),
  /** the origin that was asked for, as it was numbered there */
  origin_id: storableText(/^\d{1,16}$/),
  parts: z.array(partEntry, { error: 'is not a list' }),
  /** SHA-256 of the manifest itself, without this member */
  sha256: sha256Text,
});
export type PackageManifest = Readonly<Omit<z.infer<typeof manifestSchema>, 'parts'>> & {
  readonly parts: readonly PartEntry[];
};

const checkManifest = shapeOf(manifestSchema);

/** manifests that this program writes are much smaller */
const maxManifestBytes = 64 * 1024;

export async function writeManifest(
  folder: PackageFolder,
  content: Pick<PackageManifest, 'created' | 'installation' | 'origin_id' | 'parts'>,
): Promise<void> {
  const manifest = { format: formatName, format_version: formatVersion, ...content };
  const whole: PackageManifest = { ...manifest, sha256: await sha256(JSON.stringify(manifest)) };
  await folder.write(manifestName, [JSON.stringify(whole, null, 2)]);
}

/** AppError `unprocessable_input` unless the manifest is complete and the folder holds exactly its parts. */
export async function readManifest(folder: PackageFolder): Promise<PackageManifest> {
  const found = new Map((await folder.listFiles()).map(({ name, bytes }) => [name, bytes]));
  const size = found.get(manifestName);
  if (size === undefined) throw packageFault(`there is no ${manifestName}`);
  if (size > maxManifestBytes) throw packageFault(`${manifestName} is too large for a manifest`);
  const manifest = await parseManifest(folder);
  for (const { name, bytes } of manifest.parts) {
    if (found.get(name) !== bytes)
      throw packageFault(`${name} is missing, or its length differs from the manifest`);
    found.delete(name);
  }
  found.delete(manifestName);
  const [stranger] = found.keys();
  if (stranger !== undefined) throw packageFault(`${JSON.stringify(stranger)} is not part of it`);
  return manifest;
}

async function parseManifest(folder: PackageFolder): Promise<PackageManifest> {
  const lines: string[] = [];
  for await (const line of folder.read(manifestName).lines) lines.push(line);
  const value = parseJson(lines.join('\n'), manifestName);
  checkManifest(value, manifestName);
  const { sha256: stated, ...content } = value as PackageManifest;
  if (content.format !== formatName) throw packageFault('its manifest is of another format');
  if (content.format_version !== formatVersion)
    throw packageFault(
      `its format version is ${content.format_version}, this program reads ${formatVersion}`,
    );
  if ((await sha256(JSON.stringify(content))) !== stated) throw packageFault('its manifest was modified');
  const names = content.parts.map(({ name }) => name);
  if (names.join() !== partNames.join())
    throw packageFault('its manifest does not list the parts of its format');
  return value as PackageManifest;
}

/** AppError `unprocessable_input` if the text is not JSON, or is nested so deeply that recursive code would exhaust the stack. */
function parseJson(line: string, at: string): unknown {
  if (isDeeperThan(line, fixedLimits.jsonDepth)) throw packageFault(`${at} is nested too deeply`);
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw packageFault(`${at} is not JSON`);
  }
}

async function sha256(content: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// The lines of a package's parts. Ids are those of the installation that wrote it: they only tie the parts together.

const id = wholeNumber(1);
const position = wholeNumber(0, 2_147_483_647);
const number = wholeNumber(1, 2_147_483_647);
const moment = storableText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const name = storableText(/./);
const flag = z.boolean({ error: 'is neither true nor false' });

const originLine = z.object({
  origin: id,
  parent: id.nullable(),
  name: storableText(/^[^/]+$/),
  version: number,
  source_type: z.enum(['xsd', 'xml', 'xsd+xml'], { error: 'is not one of the known values' }),
  created: moment,
});
export type OriginLine = Readonly<z.infer<typeof originLine>>;

/** `content`: base64, of the files whose content is kept with the origin. */
const fileLine = z.object({
  origin: id,
  position,
  name: storableText(),
  bytes: wholeNumber(0),
  sha256: storableText(),
  content: storableText(/^[A-Za-z0-9+/]*={0,2}$/).optional(),
  entry: flag.optional(),
});
export type FileLine = OriginFile & Readonly<z.infer<typeof fileLine>>;

const naturalKeyLine = z.object({ table: name, column: name, position: number });
type NaturalKeyLine = Readonly<z.infer<typeof naturalKeyLine>>;

/** `line`: index in the map, from 0. The model makes the line; this record holds only its activation by people. */
const mappingLine = z.object({
  logical_schema: id,
  line: wholeNumber(0),
  xpath: storableText().nullable(),
  table: storableText(),
  column: storableText().nullable(),
  active: flag,
});
export type MappingLine = Readonly<z.infer<typeof mappingLine>>;

const diagramLine = z.object({ logical_schema: id, saved: moment, svg: name });
type DiagramLine = Readonly<z.infer<typeof diagramLine>>;

interface SourceModelLine {
  readonly origin: number;
  readonly model: SourceModel;
}

interface StatisticsLine {
  readonly origin: number;
  readonly statistics: unknown;
}

interface JobStatisticsLine extends StatisticsLine {
  readonly created: string;
}

interface LogicalSchemaLine {
  readonly logical_schema: number;
  readonly origin: number;
  readonly created: string;
  readonly model_hash: string;
  readonly model: RelationalModel;
  /** absent: no variant */
  readonly variant?: boolean;
}

export interface PartLines {
  readonly 'origins.ndjson': OriginLine;
  readonly 'source_models.ndjson': SourceModelLine;
  readonly 'files.ndjson': FileLine;
  readonly 'statistics.ndjson': StatisticsLine;
  readonly 'job_statistics.ndjson': JobStatisticsLine;
  readonly 'natural_keys.ndjson': NaturalKeyLine;
  readonly 'logical_schemas.ndjson': LogicalSchemaLine;
  readonly 'mappings.ndjson': MappingLine;
  readonly 'diagrams.ndjson': DiagramLine;
}

const owner = shapeOf(id);

const lineShapes: { readonly [Part in PartName]: Shape } = {
  'origins.ndjson': shapeOf(originLine),
  'source_models.ndjson': object<SourceModelLine>({ origin: owner, model: checkSourceModel }),
  'files.ndjson': shapeOf(fileLine),
  'statistics.ndjson': object<StatisticsLine>({ origin: owner, statistics: checkStatistics }),
  'job_statistics.ndjson': object<JobStatisticsLine>({
    origin: owner,
    statistics: checkStatistics,
    created: shapeOf(moment),
  }),
  'natural_keys.ndjson': shapeOf(naturalKeyLine),
  'logical_schemas.ndjson': object<LogicalSchemaLine>(
    {
      logical_schema: owner,
      origin: owner,
      created: shapeOf(moment),
      model_hash: shapeOf(sha256Text),
      model: checkRelationalModel,
    },
    { variant: shapeOf(flag) },
  ),
  'mappings.ndjson': shapeOf(mappingLine),
  'diagrams.ndjson': shapeOf(diagramLine),
};

// Reads a part line by line and compares it with the manifest, each time it is read: a folder may change between two readings.

/** AppError `unprocessable_input` at a line of another shape; at the end, if the part differs from the manifest. */
export async function* readPart<Part extends PartName>(
  folder: PackageFolder,
  name: Part,
  parts: readonly PartEntry[],
): AsyncGenerator<PartLines[Part]> {
  const entry = parts.find((part) => part.name === name)!;
  const reading = folder.read(name);
  const shape = lineShapes[name];
  let number = 0;
  for await (const line of reading.lines) {
    number += 1;
    if (number > entry.records) throw changed(name);
    const at = `${name} line ${number}`;
    const value = parseJson(line, at);
    shape(value, at);
    yield value as PartLines[Part];
  }
  const found = reading.digest();
  if (found.sha256 !== entry.sha256 || found.records !== entry.records || found.bytes !== entry.bytes)
    throw changed(name);
}

function changed(name: string): Error {
  return packageFault(`${name} does not match its manifest: it was modified or truncated`);
}
