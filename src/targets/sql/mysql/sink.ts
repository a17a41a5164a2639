/**
 * Writes rows into MySQL or MariaDB: `LOAD DATA LOCAL` into staging tables, which become the target's in one step
 * (docs/decisions/loading/staging-and-publishing.md). One job at a time holds a target, from open to publish. So its keys continue after
 * the existing ones, and staging that others left is dead.
 */
import { randomBytes } from 'node:crypto';
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import {
  sideTableDefinitions,
  sideTableNames,
  type SideTableName,
} from '../../../engine/model/side-tables.ts';
import { mysql, doubleForReal } from '../../../engine/sql/dialects/mysql.ts';
import { physicalSideTable } from '../../../engine/sql/physical-model.ts';
import type {
  MergeOrder,
  Fence,
  Published,
  RowSink,
  SideTable,
  SinkPlan,
  UnconvertedValue,
  ExistingZones,
  ZoneTable,
  TargetLoad,
} from '../../../ports/row-sink.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import {
  hashedKey,
  withoutLists,
  MysqlStagedTable,
  Staging,
  stagingPrefix,
  takeTargetLock,
  type MysqlListTarget,
} from './staging.ts';
import {
  insertingPublisher,
  renamingPublisher,
  undo,
  type MysqlPublication,
  type MysqlPublisher,
} from './publish.ts';
import { newPublication, reportOf } from '../publication.ts';
import { publishRows } from '../publish.ts';
import { publishViews } from '../views.ts';
import { passFence } from '../../rows/staged-rows.ts';
import { drawModel, type DrawnModel, type FoundTables } from '../found-tables.ts';
import { givenKeys, keyOffsets } from '../keys.ts';
import { targetLoads, type AskedTarget } from '../ledger.ts';
import { SqlRowSink } from '../sink.ts';
import { mysqlDriver, mysqlWays } from './driver.ts';
import { foldedName, readTables, withInstantMarks, zonesOfTables, spareColumn } from './tables.ts';

const { quote } = mysql;

const nothingToMerge: MergeOrder = { documents: [], missing: [], keepsHistory: false };

export function createMysqlRowSink(address: MysqlAddress): RowSink {
  return new MysqlRowSink(address);
}

class MysqlRowSink extends SqlRowSink<Mysql> implements RowSink {
  readonly encoding = 'tsv';
  readonly widensInPlace = false;
  readonly scalesDecimals = true;
  protected override readonly decimalRoom = { digits: 65, fraction: 30 };
  readonly label: string;
  readonly #address: MysqlAddress;
  #database: Mysql | null = null;
  #drawn!: DrawnModel;
  #staging!: Staging;
  #staged: readonly MysqlStagedTable[] = [];
  #sides: ReadonlyMap<SideTableName, MysqlStagedTable> = new Map();
  #listTargets: ReadonlyMap<number, readonly MysqlListTarget[]> = new Map();
  #token = '';
  #offsets: ReadonlyMap<string, bigint> = new Map();

  constructor(address: MysqlAddress) {
    super();
    this.#address = address;
    this.label = address.label;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return this.guarded(async () => {
      const database = await this.#connect();
      const known = await readTables(database);
      return targetLoads(database, (name) => known.get(name)?.columns, quote, this.label);
    });
  }

  async existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones> {
    return this.guarded(async () => zonesOfTables(await readTables(await this.#connect()), tables));
  }

  protected override prepare({ model }: SinkPlan): void {
    const doubles = {
      ...model,
      tables: model.tables.map((table) => ({ ...table, columns: table.columns.map(doubleForReal) })),
    };
    const drawn = drawModel(doubles, mysql);
    const tables = drawn.tables.map((table, index) => withInstantMarks(table, drawn.model.tables[index]!));
    this.#drawn = { ...drawn, tables };
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const { idJob, saveMode, keys } = this.plan;
    const database = await this.#connect();
    await takeTargetLock(database, this.#address);
    const target = await this.#asked(database);
    await removeStaging(database, target.known);
    this.#token = `${stagingPrefix}${idJob}_${randomBytes(4).toString('hex')}`;
    this.#staging = new Staging(database, this.label, keys === 'hash');
    this.#define();
    this.outcome = await this.findOutcome(target);
    if (this.outcome !== 'load') return 'skip';
    if (keys === 'sequence') this.#offsets = await keyOffsets(target);
    return saveMode === 'write-schema' ? 'skip' : 'load';
  }

  #define(): void {
    this.#staged = this.#drawn.tables.map(
      (table, index) =>
        new MysqlStagedTable(
          `${this.#token}_${index}`,
          table,
          this.#drawn.model.tables[index]!.columns.map(({ type, role }, at, columns) => ({
            type,
            isValue: role === 'value',
            hasOffsetBehind: hasOffsetBehind(columns, at),
          })),
        ),
    );
    const sides = (['documents', 'unmapped', 'lexical'] as const).map((side) => {
      const definition = sideTableDefinitions[side];
      const types = definition.columns.map(({ type }) => ({ type, isValue: false, hasOffsetBehind: false }));
      return [
        side,
        new MysqlStagedTable(`${this.#token}_${side}`, physicalSideTable(definition, mysql), types),
      ] as const;
    });
    this.#sides = new Map(sides);
    const targets = new Map<number, MysqlListTarget[]>();
    for (const { owner, column, table } of this.#drawn.lists) {
      if (table === null) continue;
      const staged = this.#staged[table]!;
      const { name } = staged.physical;
      let last: bigint | null = null;
      const isHashed = this.plan.keys === 'hash';
      targets.set(owner, [
        ...(targets.get(owner) ?? []),
        {
          column,
          asText: new Set(),
          add: (rows, count) => this.#staging.add(staged, rows, count, null),
          key: (parent, position) =>
            isHashed
              ? hashedKey(name, parent, position)
              : (last = (last ?? this.#offsets.get(foldedName(name)) ?? 0n) + 1n),
        },
      ]);
    }
    this.#listTargets = targets;
  }

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    const of = (name: string): number => Number(this.#offsets.get(foldedName(name)) ?? 0n);
    const { documents } = sideTableNames;
    const offsets = this.plan.model.tables.map(
      ({ name }, at) => [name, of(this.#drawn.tables[at]!.keysOf)] as const,
    );
    return new Map([...offsets, [documents, of(documents)]]);
  }

  protected override async *ask<T>(
    question: (target: AskedTarget<Mysql>) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    yield* await this.guarded(async () =>
      Array.fromAsync(question(await this.#asked(await this.#connect()))),
    );
  }

  async #asked(database: Mysql): Promise<AskedTarget<Mysql>> {
    const known = await readTables(database);
    return { database, driver: mysqlDriver, plan: this.plan, drawn: this.#drawn, known };
  }

  async write(
    table: number,
    rows: Uint8Array,
    count: number,
    release?: (rows: Uint8Array) => void,
  ): Promise<void> {
    const lists = this.#listTargets.get(table);
    const plain = lists === undefined ? rows : withoutLists(rows, lists);
    await this.guarded(() => this.#staging.write(this.#staged[table]!, plain, count, () => release?.(rows)));
  }

  async writeSide(table: SideTable, rows: Uint8Array, count: number): Promise<void> {
    await this.guarded(() => this.#staging.write(this.#sides.get(table)!, rows, count, null));
  }

  override async unconverted(value: UnconvertedValue): Promise<void> {
    await super.unconverted(value);
    const list = this.#drawn.lists.find(
      ({ owner, column }) => owner === value.table && column === value.column,
    );
    if (list === undefined || list.table === null)
      this.#staging.widen(
        this.#staged[value.table]!,
        value.column,
        this.widened.get(columnId(value.table, value.column))!,
      );
    else {
      const staged = this.#staged[list.table]!;
      this.#staging.widen(staged, staged.columns.length - 1, { kind: 'text' });
      const target = this.#listTargets.get(value.table)!.find(({ column }) => column === value.column)!;
      target.asText.add(String(value.rowKey));
    }
  }

  override allowNull(table: number, column: number): void {
    super.allowNull(table, column);
    this.#staging.loosen(this.#staged[table]!, column);
  }

  protected override async publishStaged(
    fence: Fence,
    _: ReadonlyMap<string, number>,
    merge: MergeOrder,
  ): Promise<Published> {
    const database = await this.#connect();
    await this.#staging.drain();
    const target = await this.#asked(database);
    this.check(target);
    const { known } = target;
    const isPresent = this.#drawn.tables.some(({ name }) => known.has(foldedName(name)));
    const publisher =
      this.plan.saveMode === 'overwrite' || !isPresent ? renamingPublisher : insertingPublisher;
    const driver = publisher(this.#stagedTables(database));
    const publication = this.#newPublication(database, driver, known, merge);
    const before = new Set(known.keys());
    try {
      const rows = await publishRows(publication);
      const keys = await givenKeys(publication);
      await passFence(fence, publication.merging?.counts);
      await driver.commit();
      this.outcome = 'nothing';
      await this.#makeViews(publication);
      return { rows, already: false, ...reportOf(publication, keys) };
    } catch (error) {
      await undo(publication, before);
      throw error;
    }
  }

  /** Publishes the job. Each view commits separately, so if an attempt died after its rows, the views that it left out are made now. */
  override async publish(
    fence: Fence,
    lastKeys: ReadonlyMap<string, number>,
    merge?: MergeOrder,
  ): Promise<Published> {
    const published = await super.publish(fence, lastKeys, merge);
    if (!published.already) return published;
    return this.guarded(async () => {
      const database = await this.#connect();
      const { known } = await this.#asked(database);
      const driver = insertingPublisher(this.#stagedTables(database));
      const publication = this.#newPublication(database, driver, known, merge ?? nothingToMerge);
      await this.#makeViews(publication);
      return { ...published, changes: [...published.changes, ...publication.changes] };
    });
  }

  #stagedTables(database: Mysql): Parameters<typeof insertingPublisher>[0] {
    return { database, token: this.#token, tables: this.#staged, staging: this.#staging };
  }

  #newPublication(
    database: Mysql,
    driver: MysqlPublisher,
    known: FoundTables,
    merge: MergeOrder,
  ): MysqlPublication {
    const staged = new Map<number | string, MysqlStagedTable>([
      ...this.#staged.entries(),
      ...this.#sides.entries(),
    ]);
    const columns = [...this.#staged.entries()].flatMap(([index, table]) =>
      table.columns.map((column, at) => ({ ...column, id: columnId(index, at) })),
    );
    return newPublication({
      database,
      driver,
      plan: this.plan,
      drawn: this.#drawn,
      known,
      staged: new Map([...staged].filter(([, { rows }]) => rows > 0)),
      // columns of the drawn model, in which lists are tables of their own
      widened: new Map(columns.flatMap(({ id, wider }) => (wider === null ? [] : [[id, wider]]))),
      nullAllowed: new Set(
        columns.flatMap(({ id, wider, isLoose }) => (isLoose && wider === null ? [id] : [])),
      ),
      merge,
    });
  }

  /** Makes the views of the load once its rows are there. No fault of one fails the load. */
  async #makeViews(publication: MysqlPublication): Promise<void> {
    try {
      await publishViews({ ...publication, driver: { ...publication.driver, ...mysqlWays() } });
    } catch (error) {
      publication.changes.push(`views could not be made: ${(error as Error).message}`);
    }
  }

  async abort(): Promise<void> {
    this.outcome = 'nothing';
    await this.close();
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = null;
    if (database === null) return;
    try {
      // the next job with this target removes the tables that cannot be removed now
      if (this.#token !== '') await this.#clear(database).catch(() => undefined);
    } finally {
      await database.close();
    }
  }

  async #clear(database: Mysql): Promise<void> {
    // rows in transit come first; the write that waited has reported their faults
    await this.#staging.drain().catch(() => undefined);
    await database.run('ROLLBACK');
    await removeStaging(database, await readTables(database));
  }

  async #connect(): Promise<Mysql> {
    return (this.#database ??= await openMysql(this.#address));
  }

  protected override faultOf(error: unknown): unknown {
    return mysqlFault(error, this.label);
  }
}

/** Removes staging of jobs that died. Called under the target's lock. */
async function removeStaging(database: Mysql, known: FoundTables): Promise<void> {
  for (const { name, isView, columns } of known.values())
    if (name.startsWith(stagingPrefix)) await database.run(`DROP TABLE IF EXISTS ${quote(name)}`);
    else if (columns.has(spareColumn) && !isView)
      await database.run(`ALTER TABLE ${quote(name)} DROP COLUMN ${quote(spareColumn)}`);
}
