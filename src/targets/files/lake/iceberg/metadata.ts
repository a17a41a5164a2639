/**
 * The metadata of an Iceberg table in a folder (Iceberg table specification, version 2, "Table Metadata"): one file for each version, of
 * which the newest is current ("File System Tables").
 */
import { gunzipSync } from 'node:zlib';
import { AppError } from '../../../../errors.ts';
import { isList, isObject, parseExact, pathBelow } from '../../json.ts';
import { type LakeFiles, ownNamespace } from '../table-format.ts';
import type { Schema, Snapshot, TableMetadata } from './shape.ts';

export const metadataFolder = 'metadata';

export interface FoundMetadata {
  /** for a table of a catalogue: the sequence number of its snapshot */
  readonly version: number;
  readonly fileName: string;
  readonly metadata: TableMetadata;
}

/**
 * Returns the newest version, or the one with that number; null if there is no table. AppError `not_found` if the version does not exist.
 */
export async function readMetadata(
  files: LakeFiles,
  directory: string,
  label: string,
  version = Infinity,
): Promise<FoundMetadata | null> {
  if (files.catalogue !== undefined) {
    const metadata = await files.catalogue.read(directory);
    return metadata === null ? null : versionOf(checkedMetadata(metadata, label), label, version);
  }
  const folder = `${directory}/${metadataFolder}`;
  const names = await files.list(folder);
  const versions = names
    .flatMap((name) => {
      const match = /^v(\d+)(?:\.gz)?\.metadata\.json$/.exec(name);
      return match === null ? [] : [{ name, version: Number(match[1]) }];
    })
    .toSorted((a, b) => b.version - a.version);
  const found = version === Infinity ? versions[0] : versions.find((one) => one.version === version);
  if (found === undefined) {
    // manifests of an attempt that died before it made the first version
    if (version === Infinity && names.every((name) => name.endsWith('.avro'))) return null;
    throw new AppError('not_found', `${label}: the table has no version ${version} in ${metadataFolder}.`);
  }
  const bytes = (await files.read(`${folder}/${found.name}`)) ?? new Uint8Array(0);
  const text = new TextDecoder().decode(found.name.includes('.gz.') ? gunzipSync(bytes) : bytes);
  return {
    version: found.version,
    fileName: found.name,
    metadata: checkedMetadata(readJson(text), `${label}: ${metadataFolder}/${found.name}`),
  };
}

/** Returns a catalogue's metadata as it was when the snapshot with that sequence number was the newest. */
function versionOf(metadata: TableMetadata, label: string, version: number): FoundMetadata {
  const newest = metadata['last-sequence-number'];
  if (version === Infinity || version === newest) return { version: newest, fileName: '', metadata };
  if (version === 0) return { version, fileName: '', metadata: { ...metadata, 'current-snapshot-id': -1 } };
  const snapshot = metadata.snapshots?.find((one) => one['sequence-number'] === version);
  if (snapshot === undefined)
    throw new AppError(
      'not_found',
      `${label}: the table has no version ${version}; the newest is ${newest}.`,
    );
  return {
    version,
    fileName: '',
    metadata: {
      ...metadata,
      'current-snapshot-id': snapshot['snapshot-id'],
      'current-schema-id': snapshot['schema-id'] ?? metadata['current-schema-id'],
    },
  };
}

function readJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

/** AppError `conflict` if the metadata are not valid for a supported version. */
export function checkedMetadata(metadata: unknown, label: string): TableMetadata {
  if (
    !isObject(metadata) ||
    typeof metadata['location'] !== 'string' ||
    !isList(metadata['schemas'], isSchema)
  )
    throw new AppError('conflict', `${label} is not metadata of an Iceberg table.`);
  if (metadata['format-version'] !== 2)
    throw new AppError(
      'conflict',
      `${label}: the table has version ${String(metadata['format-version'])} of the format, but only version 2 is supported; use another folder.`,
    );
  return metadata as unknown as TableMetadata;
}

function isSchema(schema: unknown): boolean {
  return (
    isObject(schema) &&
    isList(
      schema['fields'],
      (field) => isObject(field) && typeof field['name'] === 'string' && Number.isSafeInteger(field['id']),
    )
  );
}

export function currentSchema(metadata: TableMetadata): Schema {
  return metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id'])!;
}

export function currentSnapshot(metadata: TableMetadata): Snapshot | null {
  const id = metadata['current-snapshot-id'] ?? -1;
  return metadata.snapshots?.find((snapshot) => String(snapshot['snapshot-id']) === String(id)) ?? null;
}

/** Returns the path below the table's current folder. AppError `conflict` if the file is elsewhere. */
export function pathInTable({ location }: TableMetadata, path: string, label: string): string {
  const [whole, root] = [path, location].map((text) =>
    text.replace(/^file:\/*(?=\/)/, '').replace(/^s3[an]:/, 's3:'),
  );
  const isBelow = whole!.startsWith(`${root!.replace(/\/$/, '')}/`);
  return pathBelow(isBelow ? whole!.slice(root!.replace(/\/$/, '').length + 1) : null, label);
}

/** The property of a table that was created in a catalogue for a job that has not written yet. */
export const madeProperty = 'conversion-job-service.made';

/** The property with the UUID of the last job that wrote into the table. */
export const lastJobProperty = `${ownNamespace}last-job`;

/** The member of a snapshot's summary with the job's UUID. */
export const jobMember = 'svc.job-uuid';

/** Returns whether the job for which the table was created has not written yet. */
export function isOfAttempt({ properties = {} }: TableMetadata): boolean {
  return properties[madeProperty] !== undefined && properties[lastJobProperty] === undefined;
}

/** Returns whether no other program has added rows, either. */
export function isUnused(metadata: TableMetadata): boolean {
  return isOfAttempt(metadata) && (metadata.snapshots ?? []).length === 0;
}

/** Field ids of columns that a job removed from the table with all files that had them. */
const retiredProperty = 'conversion-job-service.retired-field-ids';

export function retiredIds(properties: Readonly<Record<string, string>> | undefined): ReadonlySet<number> {
  const text = properties?.[retiredProperty] ?? '';
  return new Set(text === '' ? [] : text.split(',').map(Number));
}

export function withRetired(
  properties: Readonly<Record<string, string>>,
  ids: readonly number[],
): Record<string, string> {
  if (ids.length === 0) return { ...properties };
  return { ...properties, [retiredProperty]: [...new Set([...retiredIds(properties), ...ids])].join(',') };
}
