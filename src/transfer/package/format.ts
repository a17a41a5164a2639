/**
 * The package: `manifest.json`, and parts with one JSON value per line. Data only; nothing in it is ever executed. It contains every
 * version of a schema, with everything that was made from it.
 */
import { z } from 'zod';
import { isDeeperThan } from '../../files/strict-json.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { PackageFolder, PartDigest } from '../../ports/files/package-folder.ts';
import { packageFault, sha256Text, shapeOf, storableText, wholeNumber } from '../shapes/json-shape.ts';

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

/** no manifest of ours comes near */
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
  if (size > maxManifestBytes) throw packageFault(`${manifestName} is larger than any manifest`);
  const manifest = await parseManifest(folder);
  for (const { name, bytes } of manifest.parts) {
    if (found.get(name) !== bytes)
      throw packageFault(`${name} is missing or not as long as the manifest says`);
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
  if ((await sha256(JSON.stringify(content))) !== stated) throw packageFault('its manifest was changed');
  const names = content.parts.map(({ name }) => name);
  if (names.join() !== partNames.join())
    throw packageFault('its manifest does not list the parts of its format');
  return value as PackageManifest;
}

/** AppError `unprocessable_input` if the text is not JSON, or is nested so deeply that recursive code would exhaust the stack. */
export function parseJson(line: string, at: string): unknown {
  if (isDeeperThan(line, fixedLimits.jsonDepth))
    throw packageFault(`${at} is nested deeper than anything of ours`);
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
