/** The catalogue of conversions: origins (source schemas), logical schemas, tables, mappings, statistics. */
import type { Diagnostic } from '../../engine/diagnostics.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { ModelSummary } from '../../engine/model/summary.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';

// The rules for the name of a schema, which is a segment of paths, as in `/v2/extensions/cil/mapping/{cfxml}`.

/** `group` is a path of its own there; clients remove `.` and `..` from every address, even escaped. */
const reserved: ReadonlySet<string> = new Set(['group', '.', '..']);

export function isReservedName(name: string): boolean {
  return reserved.has(name);
}

export function maySchemaBeCalled(name: string): boolean {
  return name !== '' && !isReservedName(name) && !/[/\0]/.test(name);
}

// The catalogue.

export interface OriginFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of a new origin. Of XSD files the content is kept, so that documents can be checked against them. */
export interface NewOriginFile extends OriginFile {
  readonly content?: Uint8Array<ArrayBuffer>;
  /** whether this XSD file is an entry of the set; absent if this follows from the set itself */
  readonly entry?: boolean;
}

export interface OriginFileContent {
  readonly name: string;
  /** null: this follows from the set itself */
  readonly entry: boolean | null;
  readonly content: Uint8Array;
}

/** `XMLSchema` as it goes over the wire (docs/decisions/service/catalogue.md). */
export interface OriginRecord {
  readonly id_sch: number;
  readonly id_org: number;
  readonly id_parent_sch: number | null;
  readonly id_lschma: number | null;
  readonly id_job: number | null;
  readonly name: string;
  readonly version: number;
  readonly source_type: 'xsd' | 'xml' | 'xsd+xml';
  readonly root_elements: readonly string[];
  readonly target_namespace: string | null;
  readonly namespaces: Readonly<Record<string, string>>;
  readonly files: readonly OriginFile[];
  readonly map_level: number;
  readonly max_length: number;
  readonly table_count: number;
  readonly mapping_count: number;
  readonly created: number;
}

/** The part of an origin that lists of feeds need. Counts are null without a logical schema. */
export interface OriginVersion extends Pick<
  OriginRecord,
  'id_sch' | 'id_parent_sch' | 'id_lschma' | 'name' | 'version' | 'table_count'
> {
  /** tables with a row key */
  readonly sequence_count: number | null;
  /** `ModelSummary.keyCount` */
  readonly key_count: number | null;
}

export interface ColumnRecord {
  readonly id_col: number;
  readonly name: string;
  readonly data_type: string;
  readonly length: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly nullable: boolean;
  readonly key: 'PK' | 'FK' | null;
  /** `table.column` */
  readonly references: string | null;
  readonly xpath: string | null;
}

export interface TableRecord {
  readonly id_tab: number;
  readonly name: string;
  readonly xpath: string;
  readonly parent_table: string | null;
  readonly columns: readonly ColumnRecord[];
}

/** `Mapping` as it goes over the wire (docs/decisions/service/catalogue.md). */
export interface MappingRecord {
  readonly id_map: number;
  readonly id_sch: number;
  readonly id_lschma: number;
  readonly xpath: string | null;
  /** null: a column of structure, such as a key, a position or the name of the element; the line has no content of documents */
  readonly node_type: 'element' | 'attribute' | 'text' | 'mixed' | 'any' | null;
  readonly source_type: string;
  readonly min_occurs: number;
  readonly max_occurs: number | null;
  readonly id_tab: number;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly data_type: string | null;
  readonly length: number | null;
  readonly nullable: boolean;
  readonly key: 'PK' | 'FK' | null;
  readonly active: boolean;
  readonly documentation: string | null;
}

export interface NewOrigin {
  readonly idOrg: number;
  readonly idParentSch: number | null;
  readonly idJob: number | null;
  readonly name: string;
  readonly sourceType: 'xsd' | 'xml' | 'xsd+xml';
  readonly model: SourceModel;
  readonly files: readonly NewOriginFile[];
}

export interface StoredOrigin {
  readonly record: OriginRecord;
  readonly model: SourceModel;
  /** statistics as the inference engine writes them (engine/infer), merged over runs; null if none were gathered */
  readonly statistics: unknown;
}

export interface StoredLogicalSchema {
  readonly idSch: number;
  readonly idLschma: number;
  readonly model: RelationalModel;
  /** SHA-256 of the model, with which targets identify the logical schema; '' if it is not stored */
  readonly modelHash: string;
  /** one load shaped it for its own target: never the origin's default while there is another */
  readonly variant: boolean;
}

/** The result of compiling an XSD set. */
export interface CachedSet {
  readonly source: SourceModel;
  readonly model: RelationalModel;
  readonly diagnostics: readonly Diagnostic[];
}

/** A column of a table's natural key: people declare them; tables and columns by their names in the target. */
export interface NaturalKeyColumn {
  readonly tableName: string;
  readonly columnName: string;
  /** place within the key, from 1 */
  readonly position: number;
}

/** A part of a list. */
export interface ListSlice {
  /** index from 0 */
  readonly offset: number;
  readonly limit: number;
}

/** Origins: XSD sets and inferred schemas, with their files. */
export interface OriginStore {
  /** Name clash within the organisation: AppError `conflict`. A parent of another organisation or absent: `not_found`. */
  createOrigin(origin: NewOrigin): Promise<OriginRecord>;
  /** Returns each origin with the logical schema that is shown for it: the one that the last load used, otherwise its default. */
  listOrigins(idOrg: number, slice?: ListSlice): Promise<readonly OriginRecord[]>;
  /** `listOrigins`, with less of each origin: quick for thousands of them. */
  listOriginVersions(idOrg: number): Promise<readonly OriginVersion[]>;
  findOrigin(idOrg: number, idSch: number, idLschma?: number): Promise<OriginRecord | null>;
  loadOrigin(idOrg: number, idSch: number): Promise<StoredOrigin | null>;
  /** The XSD files of an origin in their order; empty if it has none. */
  loadOriginFiles(idOrg: number, idSch: number): Promise<readonly OriginFileContent[]>;
  /** Replaces the source model of an origin by one that knows more of its documents. AppError `not_found`. */
  refineOrigin(idOrg: number, idSch: number, model: SourceModel): Promise<void>;
  /** Removes an origin with all that was made of it. False: there is none. AppError `conflict` while a job uses it. */
  removeOrigin(idOrg: number, idSch: number): Promise<boolean>;
}

/** Logical schemas: the tables that origins are drawn as, and their mappings. */
export interface LogicalSchemaStore {
  /**
   * Creates a logical schema, unless the origin's default has the same hash, or, for a variant, any that the origin has: then that one
   * is returned. The default is the newest that is not a variant, or the newest of all if there are only variants. A schema that no job
   * makes becomes the one shown for the origin.
   */
  createLogicalSchema(
    idOrg: number,
    idSch: number,
    model: RelationalModel,
    idJob: number | null,
    variant?: boolean,
  ): Promise<StoredLogicalSchema>;
  /** Newest first. */
  listLogicalSchemas(
    idOrg: number,
    idSch: number,
  ): Promise<readonly Pick<StoredLogicalSchema, 'idLschma' | 'variant'>[]>;
  /** Returns the logical schemas whose models have one of the hashes, in no order. */
  findLogicalSchemas(
    idOrg: number,
    modelHashes: readonly string[],
  ): Promise<readonly Omit<StoredLogicalSchema, 'model'>[]>;
  /** The given logical schema, or the default of the origin (of those at a map level when one is given). */
  loadLogicalSchema(
    idOrg: number,
    which: { readonly idLschma: number } | { readonly idSch: number; readonly mapLevel?: number },
  ): Promise<StoredLogicalSchema | null>;
  listTables(idOrg: number, idLschma: number): Promise<readonly TableRecord[]>;
  /** SHA-256 of the models of these logical schemas; those that are not there are left out. */
  listModelHashes(idOrg: number, idLschmas: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Summaries of these logical schemas, without those that do not exist. */
  listModelSummaries(idOrg: number, idLschmas: readonly number[]): Promise<ReadonlyMap<number, ModelSummary>>;
  /** Tables and models of these logical schemas; those that are not there are left out. */
  listModels(
    idOrg: number,
    idLschmas: readonly number[],
  ): Promise<
    ReadonlyMap<number, { readonly tables: readonly TableRecord[]; readonly model: RelationalModel }>
  >;
  /** `inactive`: those alone that are switched off. */
  listMappings(idOrg: number, idLschma: number, which?: 'inactive'): Promise<readonly MappingRecord[]>;
  /**
   * Switches lines of a map on or off, all or none. AppError `not_found` when one of the ids is no line of it.
   * Lines of the same path in later logical schemas of the origin begin as these are.
   */
  setMappingsActive(
    idOrg: number,
    idLschma: number,
    idMaps: readonly number[],
    active: boolean,
  ): Promise<{ readonly changed: number; readonly activeCount: number; readonly inactiveCount: number }>;
}

/** Models that were made before, by the fingerprints of their sources. */
export interface CompiledModels {
  /**
   * Returns the result of compiling the set with that fingerprint (SHA-256, hexadecimal), as long as its logical schema and source
   * model are stored unchanged. Returns null if the set must be compiled.
   */
  findCompiledSet(idOrg: number, fingerprint: string): Promise<CachedSet | null>;
  rememberCompiledSet(
    idOrg: number,
    fingerprint: string,
    idLschma: number,
    diagnostics: readonly Diagnostic[],
  ): Promise<void>;
  /**
   * Finds the logical schema of the origin whose model was drawn from the inputs with that fingerprint (SHA-256, hexadecimal), as long
   * as the source model is unchanged; of several with that model, the one that `createLogicalSchema` returns for a variant. Returns
   * null if the model must be drawn.
   */
  findDrawnSchema(idOrg: number, idSch: number, fingerprint: string): Promise<number | null>;
  /** Remembers what a logical schema was drawn from. The latest 32 fingerprints of each logical schema are kept. */
  rememberDrawnSchema(idOrg: number, idLschma: number, fingerprints: readonly string[]): Promise<void>;
}

/** Statistics of documents. */
export interface StatisticsStore {
  /**
   * Stores a job's statistics; the result of `merge` becomes the origin's. `earlier` are the origin's statistics without them: merged,
   * or, if an earlier attempt of this job had saved its own, those of all other jobs one by one. No other job saves in between.
   */
  saveStatistics(
    idOrg: number,
    idSch: number,
    idJob: number | null,
    statistics: unknown,
    merge: (earlier: readonly unknown[]) => unknown,
  ): Promise<void>;
  /** Returns statistics in the requested order. AppError `not_found` for a job without statistics, or of another organisation. */
  loadStatistics(idOrg: number, idJobs: readonly number[]): Promise<readonly unknown[]>;
  /**
   * Returns the statistics that one job gathered from documents of this origin; for an import, those that came with its package.
   * Returns null if the job left none.
   */
  loadJobStatistics(idOrg: number, idSch: number, idJob: number): Promise<unknown>;
}

/** Diagrams that a person has arranged. */
export interface DiagramStore {
  /** Keeps a drawing of a logical schema, in place of an earlier one. AppError `not_found`. */
  saveDiagram(idOrg: number, idLschma: number, svg: string): Promise<void>;
  /** Returns the diagram of the logical schema, or otherwise that of the newest earlier one of the same origin that has a diagram. */
  loadDiagram(idOrg: number, idLschma: number): Promise<string | null>;
}

/** Natural keys that a person has chosen. */
export interface NaturalKeyStore {
  /** The natural keys of the origin's family; by table, then position. */
  listNaturalKeys(idOrg: number, idSch: number): Promise<readonly NaturalKeyColumn[]>;
  /** `listNaturalKeys` of several origins; those without are left out. */
  listNaturalKeysOf(
    idOrg: number,
    idSchs: readonly number[],
  ): Promise<ReadonlyMap<number, readonly NaturalKeyColumn[]>>;
  /** Replaces all natural keys of the origin's family. AppError `not_found`. */
  saveNaturalKeys(idOrg: number, idSch: number, keys: readonly NaturalKeyColumn[]): Promise<void>;
}

/** SQL schemas of the metadata database that organisations load into. */
export interface TargetSchemaStore {
  /**
   * Returns the highest row key given out, by table, in a SQL schema of the metadata database (`metadb:NAME`), or null if it belongs to
   * another organisation, or nothing was loaded into it.
   */
  targetKeys(idOrg: number, sqlSchema: string): Promise<ReadonlyMap<string, number> | null>;
  /** `targetKeys` of several SQL schemas; those without are left out. */
  targetKeysOf(
    idOrg: number,
    sqlSchemas: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>>;
  /**
   * Returns whether a SQL schema of the metadata database (`metadb:NAME`) belongs to the organisation, as it does while a job of it
   * loads there and while it holds tables. AppError `target_not_owned` if it belongs to another.
   */
  ownsTargetSchema(idOrg: number, name: string): Promise<boolean>;
  /**
   * Claims it for the organisation, for a job that loads into it. AppError `target_not_owned` if it belongs to another, `conflict` if
   * the organisation has `maxNames`, `invalid_parameter` for a reserved name.
   */
  claimTargetSchema(
    idOrg: number,
    name: string,
    claim: { readonly idJob: number; readonly maxNames: number },
  ): Promise<void>;
  /** Lists schemas by name; `created` in epoch milliseconds. */
  listTargetSchemas(idOrg: number): Promise<readonly { readonly name: string; readonly created: number }[]>;
  /** Drops it with its rows, so that the name is nobody's. False: there is none. AppError `conflict` while a job loads into it. */
  removeTargetSchema(idOrg: number, name: string): Promise<boolean>;
}

export interface CatalogStore
  extends
    OriginStore,
    LogicalSchemaStore,
    CompiledModels,
    StatisticsStore,
    DiagramStore,
    NaturalKeyStore,
    TargetSchemaStore {
  /** Identity of this metadata database: two installations may number their jobs alike. */
  installation(): Promise<string>;
}

// The metadata database as a transfer of packages sees it: one state of it to read, one transaction to write.

export interface FamilyMember {
  readonly idSch: number;
  readonly idParentSch: number | null;
  readonly name: string;
  readonly version: number;
  /** microseconds matter to who compares: ISO 8601 with six digits, UTC */
  readonly created: string;
}

interface StoredMoment {
  readonly created: string;
}

/** The state that the catalogue's own port does not return: times, and lists by origin. All reads are in the same transaction. */
export interface TransferState {
  readonly catalog: CatalogStore;
  /** Every version of the origin's family, oldest first; empty: no such origin in the organisation. */
  listFamily(idOrg: number, idSch: number): Promise<readonly FamilyMember[]>;
  /** oldest first */
  listLogicalSchemas(idSch: number): Promise<readonly (StoredMoment & { readonly idLschma: number })[]>;
  /** Returns the statistics of single jobs, oldest first. */
  listJobStatistics(idSch: number): Promise<readonly (StoredMoment & { readonly statistics: unknown })[]>;
  /** null: no drawing was saved */
  diagramSaved(idLschma: number): Promise<string | null>;
}

export interface TransferChanges extends TransferState {
  /** Gives a newly created origin its original's place in the family. */
  placeOrigin(
    idSch: number,
    position: { readonly idParentSch: number | null; readonly version: number; readonly created: string },
  ): Promise<void>;
  setStatistics(idSch: number, merged: unknown): Promise<void>;
  addJobStatistics(idSch: number, statistics: unknown, created: string): Promise<void>;
  setLogicalSchemaCreated(idLschma: number, created: string): Promise<void>;
  setDiagramSaved(idLschma: number, saved: string): Promise<void>;
  /** The job that writes all this is C with it; false: it was killed, or given up, meanwhile. */
  completeJob(idJob: number, idSch: number): Promise<boolean>;
  /** Whether the organisation is there. */
  hasOrganisation(idOrg: number): Promise<boolean>;
}

export interface TransferStore {
  /** One consistent state, whatever others write meanwhile. */
  read<T>(work: (state: TransferState) => Promise<T>): Promise<T>;
  /** Commits all writes of `work`, or none if it throws. */
  write<T>(work: (changes: TransferChanges) => Promise<T>): Promise<T>;
}
