/** A version of an Iceberg table: what its metadata and its manifests say. */
import { AppError } from '../../../errors.ts';
import type { LakeFiles } from '../store/files.ts';
import { applicationId, type LakeFile, type TableVersion } from '../table-format.ts';
import { readAvro } from './avro.ts';
import { listedManifest, type ManifestEntry, type ListedManifest } from './manifests.ts';
import { currentSchema, currentSnapshot, pathInTable, readMetadata, type FoundMetadata } from './metadata.ts';
import { currentSpec, partitioningOf, partitionTypes, partitionValues } from './partitions.ts';
import type { Snapshot } from './shape.ts';
import { rangeIn } from './statistics.ts';
import { lakeFieldOf } from './types.ts';
import { isUnused, retiredIds } from './properties.ts';
import { parsed } from '../../folder/contents/manifest.ts';

/** The newest version, or that one; null where there is no table. */
export async function readIcebergTable(
  files: LakeFiles,
  directory: string,
  label: string,
  version?: number,
): Promise<IcebergVersion | null> {
  const found = await readMetadata(files, directory, label, version);
  if (found === null) return null;
  const snapshot = currentSnapshot(found.metadata);
  const manifests = snapshot === null ? [] : await readList(files, directory, label, found, snapshot);
  const entries: LiveEntry[] = [];
  for (const manifest of manifests)
    if (manifest.content === 0)
      for (const entry of await readManifest(files, directory, label, found, manifest))
        if (entry.status !== 2)
          entries.push({ ...entry, path: pathInTable(found.metadata, entry.data_file.file_path, label) });
  return new IcebergVersion(files, directory, label, found, manifests, entries);
}

/** A file of the table: `path` below its folder. */
export interface LiveEntry extends ManifestEntry {
  readonly path: string;
}

export class IcebergVersion implements TableVersion {
  readonly found: FoundMetadata;
  readonly manifests: readonly ListedManifest[];
  readonly entries: readonly LiveEntry[];
  readonly version: number;
  readonly fields;
  readonly partitioning;
  readonly files: ReadonlyMap<string, LakeFile>;
  readonly versionsTold;
  readonly isAppendOnly = false;
  readonly isUnused: boolean;
  readonly #files: LakeFiles;
  readonly #directory: string;
  readonly #label: string;
  readonly #isPartitionedOtherwise: boolean;

  constructor(
    files: LakeFiles,
    directory: string,
    label: string,
    found: FoundMetadata,
    manifests: readonly ListedManifest[],
    entries: readonly LiveEntry[],
  ) {
    const { metadata } = found;
    const schema = currentSchema(metadata);
    this.#files = files;
    this.#directory = directory;
    this.#label = label;
    this.found = found;
    this.manifests = manifests;
    this.entries = entries;
    this.version = found.version;
    this.isUnused = isUnused(metadata);
    this.fields = schema.fields.map((field) => lakeFieldOf(field, schema['identifier-field-ids'] ?? []));
    const spec = currentSpec(metadata);
    const partitioning = partitioningOf(spec, this.fields);
    this.partitioning = partitioning ?? [];
    this.#isPartitionedOtherwise =
      partitioning === null || manifests.some((one) => one.partition_spec_id !== spec['spec-id']);
    const types = partitionTypes(this.partitioning, this.fields);
    this.files = new Map(
      entries.map(({ path, data_file: file }) => [
        path,
        {
          bytes: Number(file.file_size_in_bytes),
          rows: Number(file.record_count),
          partition: this.#isPartitionedOtherwise
            ? []
            : partitionValues(spec.fields, types, file['partition'] as Record<string, unknown>),
          told: [],
          rangeOf: (column) => rangeIn(file, this.fields, column),
        },
      ]),
    );
    const told = currentSnapshot(metadata)?.summary['svc.tables'];
    this.versionsTold = told === undefined ? null : (parsed<Record<string, unknown>>(told) ?? null);
  }

  lastJob = (installation: string): number | null => {
    const job = this.found.metadata.properties?.[applicationId(installation)];
    return job === undefined ? null : Number(job);
  };

  everAdded = async (): Promise<ReadonlySet<string> | null> => {
    const lists = await this.#lists();
    if (lists === null) return null;
    const files = new Set<string>();
    const manifests = new Map(lists.flatMap((list) => list.manifests).map((one) => [one.manifest_path, one]));
    for (const manifest of manifests.values())
      for (const { data_file: file } of await readManifest(
        this.#files,
        this.#directory,
        this.#label,
        this.found,
        manifest,
      ))
        files.add(pathInTable(this.found.metadata, file.file_path, this.#label));
    return files;
  };

  /** Names of all lists and manifests of any snapshot; null where the table does not tell. */
  async manifestNames(): Promise<ReadonlySet<string> | null> {
    const lists = await this.#lists();
    if (lists === null) return null;
    const paths = lists.flatMap(({ path, manifests }) => [
      path,
      ...manifests.map(({ manifest_path: manifest }) => manifest),
    ]);
    return new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  }

  /** Of all snapshots; null: somebody cleaned up, and what an older version had is not told. */
  async #lists(): Promise<
    readonly { readonly path: string; readonly manifests: readonly ListedManifest[] }[] | null
  > {
    const lists: { path: string; manifests: readonly ListedManifest[] }[] = [];
    for (const snapshot of this.found.metadata.snapshots ?? []) {
      const manifests = await readList(this.#files, this.#directory, this.#label, this.found, snapshot).catch(
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'conflict') return null;
          throw error;
        },
      );
      if (manifests === null) return null;
      lists.push({ path: snapshot['manifest-list'], manifests });
    }
    return lists;
  }

  checkReadable = (): void => {
    const { metadata } = this.found;
    if (this.manifests.some(({ content }) => content !== 0))
      this.#refuse('rows deleted beside the files; rewrite_data_files writes them without');
    if (this.entries.some(({ data_file: file }) => file.file_format.toUpperCase() !== 'PARQUET'))
      this.#refuse('files of another format than Parquet');
    const now = new Map(this.fields.map((field) => [(field.stored as { id: number }).id, field.name]));
    const names = new Map(this.fields.map((field) => [field.name, (field.stored as { id: number }).id]));
    const retired = retiredIds(metadata.properties);
    for (const { id, name } of metadata.schemas.flatMap((schema) => schema.fields)) {
      if (now.has(id) && now.get(id) !== name) this.#refuse(`another name for the column ${name}`);
      if (names.has(name) && names.get(name) !== id && !retired.has(id))
        this.#refuse(`another column called ${name} than the one that was there`);
    }
  };

  checkWritable = (): void => {
    this.checkReadable();
    const { metadata } = this.found;
    if (this.#isPartitionedOtherwise) this.#refuse('partitions of another kind');
    if (metadata.properties?.['write.object-storage.enabled'] === 'true') this.#refuse('paths by hash');
  };

  #refuse(feature: string): never {
    throw new AppError(
      'conflict',
      `${this.#label}: somebody gave the table what this version cannot keep to (${feature}); take that away again, or take another folder.`,
    );
  }
}

async function readList(
  files: LakeFiles,
  directory: string,
  label: string,
  { metadata }: FoundMetadata,
  snapshot: Snapshot,
): Promise<readonly ListedManifest[]> {
  const path = pathInTable(metadata, snapshot['manifest-list'], label);
  const records = await avroAt(files, `${directory}/${path}`, `${label}: ${path}`);
  return records.map(listedManifest);
}

async function readManifest(
  files: LakeFiles,
  directory: string,
  label: string,
  { metadata }: FoundMetadata,
  manifest: ListedManifest,
): Promise<readonly ManifestEntry[]> {
  const path = pathInTable(metadata, manifest.manifest_path, label);
  const records = await avroAt(files, `${directory}/${path}`, `${label}: ${path}`);
  return (records as unknown as ManifestEntry[]).map((entry) => ({
    ...entry,
    snapshot_id: entry.snapshot_id ?? manifest.added_snapshot_id,
    sequence_number: entry.sequence_number ?? manifest.sequence_number,
    file_sequence_number: entry.file_sequence_number ?? manifest.sequence_number,
  }));
}

async function avroAt(files: LakeFiles, path: string, label: string): Promise<Record<string, unknown>[]> {
  const bytes = await files.read(path);
  if (bytes === null) throw new AppError('conflict', `${label} is not there, and the table names it.`);
  return readAvro(bytes, label);
}
