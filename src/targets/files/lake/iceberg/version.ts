/** A version of an Iceberg table, from its metadata and its manifests. */
import { AppError } from '../../../../errors.ts';
import { eachAtOnce } from '../../place/journal.ts';
import type { LakeFiles, LakeFile, TableVersion } from '../table-format.ts';
import {
  readAvro,
  listedManifest,
  type ManifestEntry,
  type ListedManifest,
  nullsIn,
  rangeIn,
} from './manifests.ts';
import {
  currentSchema,
  currentSnapshot,
  pathInTable,
  readMetadata,
  type FoundMetadata,
  isUnused,
  jobMember,
  lastJobProperty,
  retiredIds,
} from './metadata.ts';
import { currentSpec, partitioningOf, partitionTypes, partitionValues, lakeFieldOf } from './types.ts';
import type { Snapshot } from './shape.ts';
import { parsed } from '../../json.ts';
import type { LakePlace } from '../place.ts';

/**
 * Returns the newest version, or the one with that number; null if there is no table. Lists and manifests that `known` has read are not
 * read again.
 */
export async function readIcebergTable(
  files: LakeFiles,
  directory: string,
  label: string,
  version?: number,
  known?: IcebergVersion,
): Promise<IcebergVersion | null> {
  const found = await readMetadata(files, directory, label, version);
  if (found === null) return null;
  const { metadata } = found;
  const seen = known?.found.metadata.location === metadata.location ? known : undefined;
  const snapshot = currentSnapshot(metadata);
  const list = snapshot?.['manifest-list'] ?? null;
  const manifests =
    seen !== undefined && list === (currentSnapshot(seen.found.metadata)?.['manifest-list'] ?? null)
      ? seen.manifests
      : snapshot === null
        ? []
        : await readList(files, directory, label, found, snapshot);
  const ofRows = manifests.filter(({ content }) => content === 0);
  const live = await eachAtOnce(
    ofRows,
    async (manifest): Promise<readonly LiveEntry[]> =>
      seen?.live.get(manifest.manifest_path) ??
      (await readManifest(files, directory, label, found, manifest)).flatMap((entry) =>
        entry.status === 2
          ? []
          : [{ ...entry, path: pathInTable(metadata, entry.data_file.file_path, label) }],
      ),
  );
  const byManifest = new Map(ofRows.map((manifest, at) => [manifest.manifest_path, live[at]!]));
  return new IcebergVersion({ files, directory, label }, found, manifests, byManifest);
}

interface TablePlace {
  readonly files: LakeFiles;
  readonly directory: string;
  readonly label: string;
}

/** A file of the table, with its `path` below the table's folder. */
interface LiveEntry extends ManifestEntry {
  readonly path: string;
}

export class IcebergVersion implements TableVersion {
  readonly found: FoundMetadata;
  readonly manifests: readonly ListedManifest[];
  /** the entries by path of their manifest */
  readonly live: ReadonlyMap<string, readonly LiveEntry[]>;
  readonly entries: readonly LiveEntry[];
  readonly version: number;
  readonly fields;
  readonly partitioning;
  readonly files: ReadonlyMap<string, LakeFile>;
  readonly recordedVersions;
  readonly isAppendOnly = false;
  readonly isUnused: boolean;
  readonly #files: LakeFiles;
  readonly #directory: string;
  readonly #label: string;
  readonly #isPartitionedOtherwise: boolean;

  constructor(
    { files, directory, label }: TablePlace,
    found: FoundMetadata,
    manifests: readonly ListedManifest[],
    live: ReadonlyMap<string, readonly LiveEntry[]>,
  ) {
    const { metadata } = found;
    const schema = currentSchema(metadata);
    this.#files = files;
    this.#directory = directory;
    this.#label = label;
    this.found = found;
    this.manifests = manifests;
    this.live = live;
    this.entries = [...live.values()].flat();
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
      this.entries.map(({ path, data_file: file }) => [
        path,
        {
          bytes: Number(file.file_size_in_bytes),
          rows: Number(file.record_count),
          partition: this.#isPartitionedOtherwise
            ? []
            : partitionValues(spec.fields, types, file['partition'] as Record<string, unknown>),
          told: [],
          rangeOf: (column) => rangeIn(file, this.fields, column),
          nullsOf: (column) => nullsIn(file, this.fields, column),
        },
      ]),
    );
    const told = currentSnapshot(metadata)?.summary['svc.tables'];
    this.recordedVersions = told === undefined ? null : (parsed<Record<string, unknown>>(told) ?? null);
  }

  isOfJob = (jobUuid: string): boolean => this.found.metadata.properties?.[lastJobProperty] === jobUuid;

  addedBy = async (jobUuid: string): Promise<ReadonlySet<string> | null> => {
    const lists = await this.#listsOf(jobUuid);
    if (lists === null) return null;
    const files = new Set<string>();
    for (const { id, manifests } of lists)
      // the manifests that the snapshot itself added
      for (const manifest of manifests.filter((one) => one.added_snapshot_id === id))
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

  /** Returns the names of all lists and manifests of snapshots that the job made; null if the table does not record them. */
  async manifestNames(jobUuid: string): Promise<ReadonlySet<string> | null> {
    const lists = await this.#listsOf(jobUuid);
    if (lists === null) return null;
    const paths = lists.flatMap(({ path, manifests }) => [
      path,
      ...manifests.map(({ manifest_path: manifest }) => manifest),
    ]);
    return new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  }

  /**
   * Returns the manifests of snapshots that the job made. Returns null if another program removed snapshots, because the files of those are
   * unknown.
   */
  async #listsOf(jobUuid: string): Promise<readonly SnapshotList[] | null> {
    const { snapshots = [] } = this.found.metadata;
    const own = snapshots.filter(({ summary }) => summary[jobMember] === jobUuid);
    const known = new Set(snapshots.map((snapshot) => String(snapshot['snapshot-id'])));
    const isWhole = snapshots.every(
      ({ 'parent-snapshot-id': parent = null }) => parent === null || known.has(String(parent)),
    );
    if (own.length === 0 && !isWhole) return null;
    const lists: SnapshotList[] = [];
    for (const snapshot of own) {
      const manifests = await readList(this.#files, this.#directory, this.#label, this.found, snapshot).catch(
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'conflict') return null;
          throw error;
        },
      );
      if (manifests === null) return null;
      lists.push({ id: BigInt(snapshot['snapshot-id']), path: snapshot['manifest-list'], manifests });
    }
    return lists;
  }

  checkReadable = (): void => {
    const { metadata } = this.found;
    if (this.manifests.some(({ content }) => content !== 0))
      this.#refuse('delete files; rewrite_data_files removes them');
    if (this.entries.some(({ data_file: file }) => file.file_format.toUpperCase() !== 'PARQUET'))
      this.#refuse('files of another format than Parquet');
    const now = new Map(this.fields.map((field) => [(field.stored as { id: number }).id, field.name]));
    const names = new Map(this.fields.map((field) => [field.name, (field.stored as { id: number }).id]));
    const retired = retiredIds(metadata.properties);
    for (const { id, name } of metadata.schemas.flatMap((schema) => schema.fields)) {
      if (now.has(id) && now.get(id) !== name) this.#refuse(`a renamed column ${name}`);
      if (names.has(name) && names.get(name) !== id && !retired.has(id))
        this.#refuse(`a replaced column ${name}`);
    }
  };

  checkWritable = (): void => {
    this.checkReadable();
    const { metadata } = this.found;
    if (this.#isPartitionedOtherwise) this.#refuse('changed partitioning');
    if (metadata.properties?.['write.object-storage.enabled'] === 'true') this.#refuse('hashed file paths');
  };

  #refuse(feature: string): never {
    throw new AppError(
      'conflict',
      `${this.#label}: the table has a feature that this version does not support (${feature}); remove the feature, or use another folder.`,
    );
  }
}

interface SnapshotList {
  readonly id: bigint;
  readonly path: string;
  readonly manifests: readonly ListedManifest[];
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
  if (bytes === null)
    throw new AppError('conflict', `${label} does not exist, although the table refers to it.`);
  return readAvro(bytes, label);
}

/**
 * Returns, by table, the version that the version of `_loads` records. For tables that the catalogue skipped in its change, returns the
 * version that has the job's rows. `loads`: that version.
 */
export async function versionsPutRight(
  place: LakePlace,
  tables: readonly { readonly name: string; readonly directory: string }[],
  loads: unknown,
  told: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  if (place.catalogue === undefined || !(loads instanceof IcebergVersion)) return told;
  const made = currentSnapshot(loads.found.metadata)?.summary;
  if (made === undefined) return told;
  const right = new Map(told);
  for (const { name, directory } of tables) {
    const version = told.get(name);
    if (version === undefined) continue;
    const found = await readMetadata(place, directory, `${place.label}: ${name}`);
    const own = (found?.metadata.snapshots ?? []).filter((snapshot) => isOfJob(snapshot, made));
    for (const { 'sequence-number': number } of own) if (number > right.get(name)!) right.set(name, number);
  }
  return right;
}

/** Returns whether both snapshots are of one job. A compaction, which a job may end with, does not count, because it changes no rows. */
function isOfJob({ summary }: Snapshot, made: Snapshot['summary']): boolean {
  return summary['operation'] !== 'replace' && summary[jobMember] === made[jobMember];
}
