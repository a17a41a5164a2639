/**
 * Writes rows into PostgreSQL: COPY into staging tables, then one transaction that makes them the target's and writes the ledger, so that a
 * job is there once or not at all (docs/decisions/loading/staging-and-publishing.md). A new or overwritten table is its staging table,
 * renamed.
 */
import { randomBytes } from 'node:crypto';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { keyIndexes } from '../../../engine/sql/ddl.ts';
import { physicalTables, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { ownPrefix, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type {
  MergeOrder,
  Fence,
  UnconvertedValue,
  Published,
  RowSink,
  SideTable,
  SinkPlan,
  ExistingZones,
  ZoneTable,
  TargetLoad,
  UnitTarget,
} from '../../../ports/row-sink.ts';
import type { Sql, TransactionSql } from '../../../postgres/connect.ts';
import {
  addressLabel,
  connectTarget,
  stoppedSeconds,
  targetLock,
  extensionNotes,
  backendAfter,
  beginSession,
  quickCompression,
  sessionSettings,
  watchPostgres,
  targetFault,
  type TargetAddress,
} from './connection.ts';
import {
  dropStaging,
  endBackends,
  removeDeadStaging,
  stagingLock,
  stagingMark,
  dropJobRoles,
  endJobRole,
  defineStaged,
  StagingArea,
} from './staging-area.ts';
import type { SqlDatabase, SilenceWatch } from '../database.ts';
import type { AskedTarget } from '../ledger.ts';
import { nothingPublished, SqlRowSink } from '../sink.ts';
import { databaseOf, namesIn, readTargetLoads } from './driver.ts';
import { unconvertedRow, unconvertedValues } from './staged-table.ts';
import { givenKeys } from '../keys.ts';
import { reportOf } from '../publication.ts';
import { keyFault, postgresPublication, type StartedPublication } from './publish.ts';
import { publishRows } from '../publish.ts';
import { keyAlterations, primaryKey, makeTablesAhead } from './tables.ts';
import { createUnitTarget, type PostgresUnitTarget } from './units.ts';
import {
  readCounters,
  readTarget,
  readZones,
  type ExistingTarget,
  type TargetTable,
} from './existing-tables.ts';
import { passFence } from '../../rows/staged-rows.ts';

export interface PostgresRowSinkOptions extends TargetAddress {
  readonly sqlSchema: string;
  /** shown in messages instead of the address */
  readonly label?: string;
  /** makes the SQL schema if it is missing (false: AppError `not_found`) */
  readonly createSchema?: boolean;
  /** connections for COPY in addition to the one that publishes (4) */
  readonly maxConnections?: number;
  /** connections of all executors together that write units (32) */
  readonly unitConnections?: number;
  /** time between two probes whether the target's answers were lost in transit (10 s) */
  readonly probeIntervalMs?: number;
}

export function createPostgresRowSink(options: PostgresRowSinkOptions): RowSink {
  return new PostgresRowSink(options);
}

interface AskedPostgresTarget extends AskedTarget<SqlDatabase> {
  readonly known: ExistingTarget['tables'];
}

class PostgresRowSink extends SqlRowSink<SqlDatabase> implements RowSink {
  readonly encoding = 'copy-text';
  readonly widensInPlace = true;
  readonly scalesDecimals = false;
  protected override readonly decimalRoom = { digits: Infinity, fraction: Infinity };
  readonly label: string;
  readonly #options: PostgresRowSinkOptions;
  #tables: readonly PhysicalTable[] = [];
  #control: Sql | null = null;
  #controlPid = 0;
  readonly #watch: SilenceWatch;
  #staging: StagingArea | null = null;
  #token = '';
  #stagingSchema = '';
  /** the staging schema exists outside of any transaction */
  #stagingExists = false;
  #countedFrom: ReadonlyMap<string, number> = new Map();
  #closed = false;
  #units: PostgresUnitTarget | null = null;

  constructor(options: PostgresRowSinkOptions) {
    super();
    this.#options = options;
    this.#watch = watchPostgres({
      address: options,
      backends: () => [this.#controlPid, ...(this.#staging?.backends ?? [])],
      everyMs: options.probeIntervalMs,
    });
    this.label = options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return this.guarded(async () =>
      readTargetLoads(await this.#connect(), this.#options.sqlSchema, this.label),
    );
  }

  async existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones> {
    return this.guarded(async () => readZones(await this.#connect(), this.#options.sqlSchema, tables));
  }

  protected override prepare({ model }: SinkPlan): void {
    this.#tables = physicalTables(model, postgresql);
  }

  /**
   * Returns the offsets for tables that are made again: rows that already have their final numbers need not be rewritten to be published.
   */
  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    const offsetOf = (physical: string): number => this.#countedFrom.get(physical) ?? 0;
    const { documents } = sideTableNames;
    const { tables } = this.plan.model;
    const offsets = tables.map(({ name }, at) => [name, offsetOf(this.#tables[at]!.name)] as const);
    return new Map([...offsets, [documents, offsetOf(documents)]]);
  }

  protected override async *ask<T>(
    question: (target: AskedTarget<SqlDatabase>) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    try {
      const target = await readTarget(this.#control!, this.#options.sqlSchema, this.#names());
      yield* question(this.#asked(this.#control!, target));
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  #asked(sql: Sql | TransactionSql, { tables: known }: ExistingTarget): AskedPostgresTarget {
    const { plan } = this;
    const drawn = { model: plan.model, tables: this.#tables, lists: [] };
    return { database: databaseOf(sql), driver: namesIn(this.#options.sqlSchema), plan, drawn, known };
  }

  async write(
    table: number,
    rows: Uint8Array,
    rowCount: number,
    release?: (rows: Uint8Array) => void,
  ): Promise<void> {
    await this.guarded(() => this.#staging!.write(this.#staging!.get(table)!, rows, rowCount, release));
  }

  async writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    await this.guarded(() => this.#staging!.write(this.#staging!.get(table)!, rows, rowCount));
  }

  override async unconverted(value: UnconvertedValue): Promise<void> {
    await super.unconverted(value);
    this.#staging?.get(value.table)!.loosen(value.column);
    const row = unconvertedRow(value);
    await this.guarded(() => this.#staging!.write(this.#staging!.get(unconvertedValues)!, row, 1));
  }

  override get units(): UnitTarget {
    return (this.#units ??= createUnitTarget({
      sql: this.#control!,
      address: this.#options,
      staging: this.#staging!,
      token: this.#token,
      hasSchema: this.#stagingSchema === this.#token,
      maxConnections: this.#options.unitConnections ?? 32,
      nullAllowed: this.nullAllowed,
      unfit: this.unfit,
      guarded: (work) => this.guarded(work),
    }));
  }

  override allowNull(table: number, column: number): void {
    super.allowNull(table, column);
    this.#staging?.get(table)!.loosen(column);
  }

  protected override async publishStaged(fence: Fence, _: unknown, merge: MergeOrder): Promise<Published> {
    await this.#staging!.drain();
    await makeTablesAhead(this.#control!, this.plan, this.#staging!, async (tx) =>
      postgresPublication(await this.#begin(tx, merge)),
    );
    const published = await this.#control!.begin((tx) =>
      this.#publish(tx as unknown as TransactionSql, fence, merge),
    );
    this.outcome = published.already ? 'already' : 'nothing';
    // Staging that cannot be dropped now is dropped by the next job on this target.
    if (this.#stagingExists) await this.#dropStaging(this.#control!).catch(() => undefined);
    this.#stagingExists = false;
    return published;
  }

  async abort(): Promise<void> {
    this.outcome = 'nothing';
    this.#units?.stop();
    await this.#staging?.destroy();
    await this.#control?.end({ timeout: 0 });
    this.#control = null;
    // The next job with this target removes the staging that cannot be removed now.
    if (this.#stagingExists) await this.#removeStaging().catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#staging?.destroy();
    if (this.#stagingExists) await this.abort();
    await this.#control?.end({ timeout: 5 });
    this.#control = null;
  }

  /**
   * Removes staging over a connection of its own, after the server has ended the connections that were cut: one of them may be committing
   * at this moment.
   */
  async #removeStaging(): Promise<void> {
    const sql = connectTarget(this.#options);
    try {
      await sql.unsafe(sessionSettings);
      await endBackends(sql, [this.#controlPid, ...this.#staging!.backends], this.#options.setRole);
      await this.#dropStaging(sql);
      this.#stagingExists = false;
    } finally {
      await sql.end({ timeout: 5 });
    }
  }

  async #dropStaging(sql: Sql): Promise<void> {
    const { sqlSchema, setRole } = this.#options;
    if (this.#units !== null) await endJobRole(sql, setRole, this.#token);
    await dropStaging(sql, this.#token, sqlSchema);
    if (this.#units !== null) await dropJobRoles(sql, setRole, this.#token);
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const { sqlSchema } = this.#options;
    const plan = this.plan;
    const control = await this.#connect();
    const target = await readTarget(control, sqlSchema, this.#names());
    if (!target.schemaExists && this.#options.createSchema !== true) {
      throw new AppError('not_found', `${this.label}: there is no SQL schema ${sqlSchema}.`);
    }
    const asked = this.#asked(control, target);
    this.check(asked);
    await removeDeadStaging(control, sqlSchema, this.#options.setRole);
    this.#token = `${ownPrefix}staging_${plan.idJob}_${randomBytes(4).toString('hex')}`;
    this.#stagingSchema = target.mayCreateSchemas ? this.#token : sqlSchema;
    this.#staging = this.#createStaging(target);
    this.outcome = await this.findOutcome(asked);
    if (this.outcome !== 'load') return 'skip';
    if (plan.saveMode === 'overwrite' && plan.keys === 'sequence')
      this.#countedFrom = await readCounters(control, sqlSchema, target);
    return plan.saveMode === 'write-schema' ? 'skip' : 'load';
  }

  /** Returns the connection that publishes, which is made when it is first needed. */
  async #connect(): Promise<Sql> {
    if (this.#control !== null) return this.#control;
    this.#control = connectTarget(this.#options, { all: this.#watch.sockets });
    this.#controlPid = await beginSession(this.#control, this.#options, quickCompression);
    return this.#control;
  }

  #names(): string[] {
    return [...this.#tables.map((table) => table.name), ...Object.values(sideTableNames)];
  }

  /** A table that is dropped and made again keeps no rows. */
  protected override keepsRows(table: TargetTable): boolean {
    return super.keepsRows(table) || !table.plain;
  }

  #createStaging(target: ExistingTarget): StagingArea {
    const { sqlSchema } = this.#options;
    const staging = new StagingArea({
      token: this.#token,
      sqlSchema: this.#stagingSchema,
      mark: this.#stagingSchema === sqlSchema ? stagingMark(this.#token) : null,
      maxConnections: this.#options.maxConnections ?? 4,
      connect: (onPlain) => connectTarget(this.#options, { onPlain, all: this.#watch.sockets }),
      keys: (key) => {
        if (key === 'documents') return `ADD ${primaryKey(sideTableDefinitions.documents)}`;
        if (typeof key === 'string' || this.unfit.columns.some(([table]) => table === key)) return '';
        return keyAlterations(this.#tables[key]!, key, { hasKey: false, nullAllowed: this.nullAllowed });
      },
      prepare: async () => {
        // the lock first: staging without a lock counts as dead
        await this.#control!.unsafe(`SELECT pg_advisory_lock(${stagingLock(this.#token)})`);
        this.#stagingExists = true;
        if (this.#stagingSchema !== sqlSchema)
          await this.#control!.unsafe(
            `CREATE SCHEMA ${doubleQuoted(this.#token)}; COMMENT ON SCHEMA ${doubleQuoted(this.#token)} IS ${stagingMark(this.#token)}`,
          );
        else await this.#makeSchema(this.#control!, target);
      },
    });
    const { saveMode, keys, indexes = 'keys' } = this.plan;
    const { tables, hasDefaultGrants } = target;
    const mayMove = {
      table: (name: string) => !hasDefaultGrants && (saveMode === 'overwrite' || !tables.has(name)),
      documents: !hasDefaultGrants && keys === 'sequence' && !tables.has(sideTableNames.documents),
    };
    defineStaged(staging, this.#tables, mayMove, (table) =>
      keyIndexes(this.plan.model, table, this.#tables[table]!, indexes),
    );
    return staging;
  }

  async #makeSchema(sql: Sql | TransactionSql, target: ExistingTarget): Promise<void> {
    if (!target.schemaExists) await sql.unsafe(postgresql.createSchema(this.#options.sqlSchema)!);
  }

  /** Takes the target's lock and reads the existing tables. */
  async #begin(tx: TransactionSql, merge: MergeOrder): Promise<StartedPublication> {
    const { sqlSchema } = this.#options;
    const pid = await backendAfter(
      tx,
      `${targetLock(sqlSchema)};
       SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '${stoppedSeconds}s'`,
    );
    if (pid !== this.#controlPid) {
      // after a crash of the server, unlogged staging tables would be found empty
      throw new AppError(
        'service_unavailable',
        `${this.label}: the connection was lost while rows were written.`,
        { outage: { of: 'server', label: this.label } },
      );
    }
    const target = await readTarget(tx, sqlSchema, this.#names());
    this.check(this.#asked(tx, target));
    await this.#makeSchema(tx, target);
    return {
      ...this.#asked(tx, target),
      tx,
      sqlSchema,
      staging: this.#staging!,
      merge,
      countedFrom: this.#countedFrom,
      target,
      nullAllowed: this.nullAllowed,
      widened: this.widened,
    };
  }

  async #publish(tx: TransactionSql, fence: Fence, merge: MergeOrder): Promise<Published> {
    const started = await this.#begin(tx, merge);
    const outcome = await this.findOutcome(this.#asked(tx, started.target));
    if (outcome !== 'load') return nothingPublished(outcome);
    const staging = this.#staging!;
    const within = !staging.usesConnections;
    const ownSchema = within && this.#stagingSchema === this.#token && !this.#stagingExists;
    if (ownSchema) await tx.unsafe(`CREATE SCHEMA ${doubleQuoted(this.#token)}`);
    await staging.copyWithin(tx);
    const publication = postgresPublication(started);
    const rows = await publishRows(publication);
    if (publication.createdTables.size > 0) publication.changes.push(...(await extensionNotes(tx)));
    if (within) {
      const rest = [...staging.entries()].flatMap(([, table]) =>
        table.created && !publication.moved.has(table) ? [table.relation] : [],
      );
      if (rest.length > 0) await tx.unsafe(`DROP TABLE ${rest.join(', ')}`);
      if (ownSchema) await tx.unsafe(`DROP SCHEMA ${doubleQuoted(this.#token)}`);
    }
    const report = reportOf(publication, await givenKeys(publication));
    await tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
    await passFence(fence, publication.merging?.counts);
    return { rows, already: false, ...report };
  }

  protected override guarded<T>(work: () => Promise<T>): Promise<T> {
    return super.guarded(() => this.#watch.during(work));
  }

  protected override faultOf(error: unknown): unknown {
    const nameOf = (table: string): string => this.#staging?.targetName(table) ?? table;
    const fault = this.plan?.keys === 'hash' ? keyFault(error, nameOf) : error;
    return targetFault(fault, this.label);
  }
}
