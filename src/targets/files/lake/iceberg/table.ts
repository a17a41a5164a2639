/**
 * The table format Iceberg, version 2, and the creation of a table's next version. The metadata is beside the rows, and no catalogue is
 * needed.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  checkCase,
  type TableFormat,
  type LakeFiles,
  fieldOf,
  type FieldIds,
  type LakeColumn,
  type LakeField,
  type TableChange,
  dataFolder,
} from '../table-format.ts';
import {
  metadataFolder,
  currentSchema,
  currentSnapshot,
  lastJobProperty,
  madeProperty,
  withRetired,
  jobMember,
} from './metadata.ts';
import {
  numbered,
  promotes,
  storedType,
  addedSpec,
  avroTypeOf,
  currentSpec,
  partitionRecord,
  partitionTypes,
  specsOf,
  icebergType,
} from './types.ts';
import { IcebergVersion, readIcebergTable } from './version.ts';
import { AppError } from '../../../../errors.ts';
import { jobMark } from '../../folder/place.ts';
import {
  writeAvro,
  entrySchema,
  listSchema,
  plainDataFile,
  type ManifestEntry,
  type ListedManifest,
  dataFileOf,
} from './manifests.ts';
import { exactText } from '../../json.ts';
import type { Schema, Snapshot, TableMetadata } from './shape.ts';

export const icebergFormat: TableFormat = {
  name: 'iceberg',
  title: 'Iceberg',
  folder: metadataFolder,
  storedType,
  promotes,
  checkColumnNames: (table, names) => checkCase('iceberg', table, names),
  fieldIds: (before, fields) => {
    const last = before instanceof IcebergVersion ? before.found.metadata['last-column-id'] : 0;
    return numbered(before?.fields ?? [], last, fields).ids;
  },
  readTable: readIcebergTable,
  readSince: (files, directory, label, known) =>
    readIcebergTable(files, directory, label, Infinity, known instanceof IcebergVersion ? known : undefined),
  commit: (files, directory, label, before, change) =>
    commitIceberg(files, directory, label, before instanceof IcebergVersion ? before : null, change),
  sweep: async (files, directory, version, job) => {
    const named = version instanceof IcebergVersion ? await version.manifestNames(job.jobUuid) : null;
    if (named !== null) await sweepManifests(files, directory, ownerOf(job), named);
  },
};

/** the number of manifests above which a version merges them into one */
const maxManifests = 32;

/** Returns the number of the version; null if another writer made it first. */
async function commitIceberg(
  files: LakeFiles,
  directory: string,
  label: string,
  before: IcebergVersion | null,
  change: TableChange,
): Promise<number | null> {
  if (files.catalogue !== undefined && before === null)
    throw new AppError(
      'conflict',
      `${label}: another program removed the table from the catalogue while a job was being published; register its newest metadata again, or use another namespace.`,
    );
  const kept = (await files.catalogue?.kept(directory, before!.found.metadata)) ?? null;
  if (kept !== null) {
    await files.catalogue!.commit(kept);
    return kept.next['last-sequence-number'];
  }
  const folder = `${directory}/${metadataFolder}`;
  const version = (before?.version ?? 0) + 1;
  const owner = ownerOf(change);
  const mark = `${owner}${randomBytes(8).toString('hex')}`;
  const now = Math.max(Date.now(), (before?.found.metadata['last-updated-ms'] ?? 0) + 1);
  const metadata = startOf(await files.locationOf(directory), before, change, now);
  const { fields, ids, ...numbers } = columnsOf(before, change);
  const withColumns = {
    ...metadata,
    ...numbers,
    ...newSpecs(before, change.partitioning, ids),
  };
  const made: string[] = [];
  const discard = async (): Promise<void> => {
    for (const name of made) await files.remove(`${folder}/${name}`);
  };
  let next: TableMetadata;
  try {
    const place = { files, folder, mark, made, now };
    const snapshot = await snapshotOf(place, withColumns, before, change, fields, ids);
    next = snapshot === null ? withColumns : withSnapshot(withColumns, snapshot);
  } catch (error) {
    await discard();
    throw error;
  }
  if (files.catalogue !== undefined) {
    const isTaken = await files.catalogue.commit({
      directory,
      before: before!.found.metadata,
      next,
      settled: () => sweepManifests(files, directory, owner, new Set(made)),
      discard,
    });
    return isTaken ? next['last-sequence-number'] : null;
  }
  // if the outcome is unknown, the files that the metadata names stay
  if (!(await files.create(`${folder}/v${version}.metadata.json`, exactText(next)))) {
    await discard();
    return null;
  }
  await sweepManifests(files, directory, owner, new Set(made));
  // readers without a catalogue begin with the hint; a reader that finds an older number continues from it
  await files.write(`${folder}/version-hint.text`, String(version));
  return version;
}

function newSpecs(
  before: IcebergVersion | null,
  partitioning: TableChange['partitioning'],
  ids: FieldIds,
): Partial<TableMetadata> {
  if (before === null) return specsOf(partitioning, ids);
  return before.isUnused && partitioning.length > 0
    ? addedSpec(before.found.metadata, partitioning, ids)
    : {};
}

/** Returns the schema and the properties with which a catalogue creates a table that a job needs. */
export function newTable(
  columns: readonly LakeColumn[],
  comment: string,
): { readonly schema: Schema; readonly properties: Readonly<Record<string, string>> } {
  const { schemas } = columnsOf(null, { fields: columns.map(fieldOf), comment, jobUuid: '' });
  return {
    schema: schemas[0]!,
    properties: { 'format-version': '2', ...firstProperties(comment), [madeProperty]: 'true' },
  };
}

/** Returns the prefix of the names of manifests that a job writes. */
function ownerOf({ job, jobUuid }: Pick<TableChange, 'job' | 'jobUuid'>): string {
  return `${jobMark(job, jobUuid)}-`;
}

/** Removes manifests of dead attempts of the job. Called once the job has a version, so that no later version can refer to them. */
async function sweepManifests(
  files: LakeFiles,
  directory: string,
  owner: string,
  named: ReadonlySet<string>,
): Promise<void> {
  const folder = `${directory}/${metadataFolder}`;
  const own = new RegExp(`^(?:snap-\\d+-)?${owner}[0-9a-f]{16}(?:-m0)?\\.avro$`);
  for (const name of await files.list(folder))
    if (own.test(name) && !named.has(name)) await files.remove(`${folder}/${name}`);
}

type DescribedChange = Pick<TableChange, 'fields' | 'comment' | 'jobUuid'>;

/** Returns the next metadata without columns and snapshots. */
function startOf(
  location: string,
  before: IcebergVersion | null,
  change: DescribedChange,
  now: number,
): TableMetadata {
  const base = before?.found.metadata;
  const properties = {
    ...(base?.properties ?? firstProperties(change.comment)),
    [lastJobProperty]: change.jobUuid,
  };
  if (base !== undefined) {
    const entry = {
      'timestamp-ms': base['last-updated-ms'],
      'metadata-file': `${base.location}/${metadataFolder}/${before!.found.fileName}`,
    };
    const isMoved = base.location !== location;
    return {
      ...base,
      location,
      'last-updated-ms': now,
      properties,
      // after a move, readers cannot find the files of the old location
      'metadata-log': isMoved ? [] : [...(base['metadata-log'] ?? []), entry].slice(-100),
      ...(isMoved ? { snapshots: [], 'snapshot-log': [], refs: {}, 'current-snapshot-id': -1 } : {}),
    };
  }
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': 0,
    'last-updated-ms': now,
    'last-column-id': 0,
    schemas: [],
    'current-schema-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'default-spec-id': 0,
    'last-partition-id': 999,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties,
    'current-snapshot-id': -1,
    refs: {},
    snapshots: [],
    statistics: [],
    'partition-statistics': [],
    'snapshot-log': [],
    'metadata-log': [],
  };
}

function firstProperties(comment: string): Readonly<Record<string, string>> {
  return { 'write.parquet.compression-codec': 'zstd', ...(comment === '' ? {} : { comment }) };
}

interface Columns extends Pick<TableMetadata, 'schemas' | 'current-schema-id' | 'last-column-id'> {
  readonly fields: readonly LakeField[];
  readonly ids: FieldIds;
  readonly properties?: Readonly<Record<string, string>>;
}

/** Returns the next schema: an existing one, or a new one. */
function columnsOf(before: IcebergVersion | null, change: DescribedChange): Columns {
  const { fields } = change;
  const base = before?.found.metadata;
  const { ids, lastId } = numbered(before?.fields ?? [], base?.['last-column-id'] ?? 0, fields);
  const struct = fields.map(({ name, sqlType, nullable, comment, stored }) => ({
    ...stored,
    id: ids[name]![0],
    name,
    required: !nullable,
    type: sqlType === null ? stored!['type'] : icebergType(sqlType, ids[name]!),
    ...(comment === '' ? {} : { doc: comment }),
  }));
  const keys = fields.flatMap(({ name, isKey, nullable }) => (isKey && !nullable ? [ids[name]![0]] : []));
  const isSame = ({ fields: there, 'identifier-field-ids': known = [] }: Schema): boolean =>
    exactText([there, known]) === exactText([struct, keys]);
  const present = base?.schemas.find(isSame);
  if (present !== undefined)
    return {
      fields,
      ids,
      schemas: base!.schemas,
      'current-schema-id': present['schema-id'],
      'last-column-id': base!['last-column-id'],
    };
  const id = 1 + Math.max(-1, ...(base?.schemas ?? []).map((schema) => schema['schema-id']));
  const numbersNow = new Set(struct.map((field) => field.id));
  const gone =
    base === undefined ? [] : currentSchema(base).fields.filter((field) => !numbersNow.has(field.id));
  const properties = startOf('', before, change, 0).properties!;
  return {
    fields,
    ids,
    schemas: [
      ...(base?.schemas ?? []),
      { type: 'struct', 'schema-id': id, 'identifier-field-ids': keys, fields: struct },
    ],
    'current-schema-id': id,
    'last-column-id': lastId,
    properties: withRetired(
      properties,
      gone.map((field) => field.id),
    ),
  };
}

interface SnapshotPlace {
  readonly files: LakeFiles;
  readonly folder: string;
  readonly mark: string;
  /** the names of the files made so far */
  readonly made: string[];
  readonly now: number;
}

/** Returns null if no file is added or removed. */
async function snapshotOf(
  { files, folder, mark, made, now }: SnapshotPlace,
  metadata: TableMetadata,
  before: IcebergVersion | null,
  change: TableChange,
  fields: readonly LakeField[],
  ids: FieldIds,
): Promise<Snapshot | null> {
  const base = before?.found.metadata;
  const isMoved = base !== undefined && base.location !== metadata.location;
  const removed = new Set(change.removed);
  if (change.added.length === 0 && removed.size === 0 && (!isMoved || before!.entries.length === 0))
    return null;
  const id = BigInt(`0x${randomBytes(6).toString('hex')}`) + 1n;
  const sequence = metadata['last-sequence-number'] + 1;
  const { location } = metadata;
  const spec = currentSpec(metadata);
  const partitioning = before === null || before.isUnused ? change.partitioning : before.partitioning;
  const types = partitionTypes(partitioning, fields);
  const added = change.added.map((file): ManifestEntry => ({
    status: 1,
    snapshot_id: id,
    sequence_number: null,
    file_sequence_number: null,
    data_file: {
      ...dataFileOf(`${location}/${dataFolder}/${file.name}`, file, fields, ids),
      partition: partitionRecord(spec.fields, types, file.partition ?? []),
    },
  }));
  const isRewritten = removed.size > 0 || isMoved || (before?.manifests.length ?? 0) >= maxManifests;
  const there = (before?.entries ?? []).map(({ path, ...entry }): ManifestEntry => ({
    ...entry,
    status: removed.has(path) ? 2 : 0,
    snapshot_id: removed.has(path) ? id : entry.snapshot_id,
    data_file: { ...entry.data_file, file_path: isMoved ? `${location}/${path}` : entry.data_file.file_path },
  }));
  const entries = [...(isRewritten ? there : []), ...added];
  const write = async (name: string, bytes: Uint8Array): Promise<string> => {
    made.push(name);
    await files.write(`${folder}/${name}`, bytes);
    return `${location}/${metadataFolder}/${name}`;
  };
  const manifests: ListedManifest[] = isRewritten ? [] : [...(before?.manifests ?? [])];
  if (entries.length > 0) {
    const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id']);
    const bytes = writeAvro(
      entrySchema(
        spec.fields.map(({ 'field-id': fieldId, name }, at) => ({
          id: fieldId,
          name,
          type: avroTypeOf(partitioning[at]!, types[at]!),
        })),
      ),
      entries.map((entry) => ({ ...entry, data_file: plainDataFile(entry.data_file) })),
      {
        schema: exactText(schema),
        'schema-id': String(metadata['current-schema-id']),
        'partition-spec': exactText(spec.fields),
        'partition-spec-id': String(spec['spec-id']),
        'format-version': '2',
        content: 'data',
      },
    );
    const path = await write(`${mark}-m0.avro`, bytes);
    manifests.push(lineOf(path, bytes.length, entries, { id, sequence, spec: spec['spec-id'] }));
  }
  const parent = isMoved || base === undefined ? null : (currentSnapshot(base)?.['snapshot-id'] ?? null);
  const list = await write(
    `snap-${id}-${mark}.avro`,
    writeAvro(
      listSchema,
      manifests.map((line) => ({ ...line, partitions: line['partitions'] ?? null, key_metadata: null })),
      {
        'snapshot-id': String(id),
        'parent-snapshot-id': parent === null ? 'null' : String(parent),
        'sequence-number': String(sequence),
        'format-version': '2',
      },
    ),
  );
  return {
    'snapshot-id': id,
    ...(parent === null ? {} : { 'parent-snapshot-id': parent }),
    'sequence-number': sequence,
    'timestamp-ms': now,
    'manifest-list': list,
    summary: summaryOf(change, before, added, removed),
    'schema-id': metadata['current-schema-id'],
  };
}

function lineOf(
  path: string,
  bytes: number,
  entries: readonly ManifestEntry[],
  { id, sequence, spec }: { readonly id: bigint; readonly sequence: number; readonly spec: number },
): ListedManifest {
  const of = (status: number): readonly ManifestEntry[] => entries.filter((entry) => entry.status === status);
  const rows = (status: number): bigint =>
    of(status).reduce((sum, one) => sum + one.data_file.record_count, 0n);
  const oldest = entries.map((entry) => entry.sequence_number ?? BigInt(sequence));
  return {
    manifest_path: path,
    manifest_length: BigInt(bytes),
    partition_spec_id: spec,
    content: 0,
    sequence_number: BigInt(sequence),
    min_sequence_number: oldest.reduce((least, one) => (one < least ? one : least), BigInt(sequence)),
    added_snapshot_id: id,
    added_files_count: of(1).length,
    existing_files_count: of(0).length,
    deleted_files_count: of(2).length,
    added_rows_count: rows(1),
    existing_rows_count: rows(0),
    deleted_rows_count: rows(2),
  };
}

function withSnapshot(metadata: TableMetadata, snapshot: Snapshot): TableMetadata {
  const id = snapshot['snapshot-id'];
  return {
    ...metadata,
    'last-sequence-number': snapshot['sequence-number'],
    'current-snapshot-id': id,
    refs: { ...metadata.refs, main: { 'snapshot-id': id, type: 'branch' } },
    snapshots: [...(metadata.snapshots ?? []), snapshot],
    'snapshot-log': [
      ...(metadata['snapshot-log'] ?? []),
      { 'timestamp-ms': snapshot['timestamp-ms'], 'snapshot-id': id },
    ],
  };
}

function rowsOf(entries: readonly ManifestEntry[]): bigint {
  return entries.reduce((sum, { data_file: file }) => sum + file.record_count, 0n);
}

function summaryOf(
  { operation, installation, job, jobUuid, versions }: TableChange,
  before: IcebergVersion | null,
  added: readonly ManifestEntry[],
  removed: ReadonlySet<string>,
): Record<string, string> {
  const there = before?.entries ?? [];
  const gone = there.filter(({ path }) => removed.has(path));
  return {
    operation:
      operation === 'compact'
        ? 'replace'
        : operation === 'append' || operation === 'merge'
          ? gone.length > 0
            ? 'overwrite'
            : 'append'
          : operation,
    'added-data-files': String(added.length),
    'added-records': String(rowsOf(added)),
    'deleted-data-files': String(gone.length),
    'deleted-records': String(rowsOf(gone)),
    'total-data-files': String(there.length + added.length - gone.length),
    'total-records': String(rowsOf(there) + rowsOf(added) - rowsOf(gone)),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
    'engine-name': 'conversion-job-service',
    'svc.installation': installation,
    'svc.job': String(job),
    [jobMember]: jobUuid,
    ...(versions === null ? {} : { 'svc.tables': JSON.stringify(versions) }),
  };
}
