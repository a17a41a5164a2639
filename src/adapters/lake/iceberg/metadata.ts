/**
 * The metadata of an Iceberg table in a folder (Iceberg table specification, version 2, "Table Metadata"): a file for each version, of
 * which the newest counts ("File System Tables").
 */
import { gunzipSync } from 'node:zlib';
import { AppError } from '../../../errors.ts';
import { isList, isObject } from '../../folder/contents/manifest.ts';
import type { LakeFiles } from '../store/files.ts';
import { pathBelow } from '../store/plain-paths.ts';
import { parseExact } from './exact-json.ts';
import type { IcebergField } from './types.ts';

export const metadataFolder = 'metadata';

export interface Schema {
  readonly type: 'struct';
  readonly 'schema-id': number;
  readonly 'identifier-field-ids'?: readonly number[];
  readonly fields: readonly IcebergField[];
}

export interface Snapshot {
  readonly 'snapshot-id': number | bigint;
  readonly 'parent-snapshot-id'?: number | bigint | null;
  readonly 'sequence-number': number;
  readonly 'timestamp-ms': number;
  readonly 'manifest-list': string;
  readonly summary: Readonly<Record<string, string>>;
  readonly 'schema-id'?: number;
}

export interface TableMetadata {
  readonly 'format-version': number;
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'last-sequence-number': number;
  readonly 'last-updated-ms': number;
  readonly 'last-column-id': number;
  readonly schemas: readonly Schema[];
  readonly 'current-schema-id': number;
  readonly 'partition-specs': readonly { readonly 'spec-id': number; readonly fields: readonly unknown[] }[];
  readonly 'default-spec-id': number;
  readonly properties?: Readonly<Record<string, string>>;
  readonly 'current-snapshot-id'?: number | bigint | null;
  readonly snapshots?: readonly Snapshot[];
  readonly 'snapshot-log'?: readonly unknown[];
  readonly 'metadata-log'?: readonly unknown[];
  readonly refs?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

export interface FoundMetadata {
  readonly version: number;
  readonly fileName: string;
  readonly metadata: TableMetadata;
}

/** The newest version, or that one; null where there is no table. AppError `not_found` for a version that is not there. */
export async function readMetadata(
  files: LakeFiles,
  directory: string,
  label: string,
  version = Infinity,
): Promise<FoundMetadata | null> {
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
    // manifests of an attempt that ended before it made the first version
    if (version === Infinity && names.every((name) => name.endsWith('.avro'))) return null;
    throw new AppError('not_found', `${label}: the table has no version ${version} in ${metadataFolder}.`);
  }
  const bytes = (await files.read(`${folder}/${found.name}`)) ?? new Uint8Array(0);
  const text = new TextDecoder().decode(found.name.includes('.gz.') ? gunzipSync(bytes) : bytes);
  return {
    version: found.version,
    fileName: found.name,
    metadata: checked(text, `${label}: ${metadataFolder}/${found.name}`),
  };
}

function checked(text: string, label: string): TableMetadata {
  let metadata: unknown;
  try {
    metadata = parseExact(text);
  } catch {
    metadata = null;
  }
  if (
    !isObject(metadata) ||
    typeof metadata['location'] !== 'string' ||
    !isList(metadata['schemas'], isSchema)
  )
    throw new AppError('conflict', `${label} is not metadata of an Iceberg table.`);
  if (metadata['format-version'] !== 2)
    throw new AppError(
      'conflict',
      `${label}: the table has version ${String(metadata['format-version'])} of the format, and this version keeps to 2; take another folder.`,
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

/** Below the table's folder, wherever that lies by now. AppError `conflict` for a file elsewhere. */
export function pathInTable({ location }: TableMetadata, path: string, label: string): string {
  const [whole, root] = [path, location].map((text) =>
    text.replace(/^file:\/*(?=\/)/, '').replace(/^s3[an]:/, 's3:'),
  );
  const isBelow = whole!.startsWith(`${root!.replace(/\/$/, '')}/`);
  return pathBelow(isBelow ? whole!.slice(root!.replace(/\/$/, '').length + 1) : null, label);
}
