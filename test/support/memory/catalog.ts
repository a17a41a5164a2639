/** Origins, logical schemas, mappings and statistics in memory. */
import { keyOf, parentOf } from './table-keys.ts';
import { createMemoryJobStatistics } from './statistics.ts';
import {
  maySchemaBeCalled,
  type CatalogStore,
  type ColumnRecord,
  type MappingRecord,
  type NaturalKeyColumn,
  type NewOrigin,
  type NewOriginFile,
  type OriginRecord,
  type OriginVersion,
  type StoredLogicalSchema,
  type TableRecord,
} from '../../../src/ports/stores/catalog.ts';
import { sha256Hex } from '../../../src/service/access/keys.ts';
import { bareTypeName } from '../../../src/engine/sql/dialects/postgresql.ts';
import type { Diagnostic } from '../../../src/engine/diagnostics.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { structureLine } from '../../../src/engine/model/structure-lines.ts';
import { sequenceCount, summarizeModel, type ModelSummary } from '../../../src/engine/model/summary.ts';
import { AppError } from '../../../src/errors.ts';
import type { Clock } from '../../../src/ports/environment.ts';
import { xsdContents } from './origin-files.ts';

interface OriginRow {
  base: OriginRecord;
  readonly family: number;
  readonly files: readonly NewOriginFile[];
  model: SourceModel;
  statistics: unknown;
}

interface LogicalRow {
  readonly stored: StoredLogicalSchema;
  readonly tables: readonly TableRecord[];
  mappings: readonly MappingRecord[];
}

/** `usesOrigin`: whether a job that has not ended uses the origin. */
export function createMemoryCatalogStore(
  clock: Clock,
  usesOrigin: (idSch: number) => Promise<boolean> = async () => false,
): CatalogStore {
  const diagrams = new Map<number, string>();
  const naturalKeys = new Map<number, readonly NaturalKeyColumn[]>();
  const origins: OriginRow[] = [];
  const logicals: LogicalRow[] = [];
  const targets = new Map<string, number>();
  const compiledSets = new Map<
    string,
    { readonly idLschma: number; readonly diagnostics: readonly Diagnostic[] }
  >();
  /** by logical schema: fingerprints of what it was drawn from */
  const drawnFrom = new Map<number, readonly string[]>();
  const jobStatistics = createMemoryJobStatistics();
  const next = { origin: 1, logical: 1, table: 1, column: 1, mapping: 1 };

  const own = (idOrg: number, idSch: number): OriginRow | undefined =>
    origins.find(({ base }) => base.id_sch === idSch && base.id_org === idOrg);
  /** The default first. */
  const logicalsOf = (idSch: number): LogicalRow[] =>
    logicals
      .filter(({ stored }) => stored.idSch === idSch)
      .toReversed()
      .toSorted((a, b) => Number(a.stored.variant) - Number(b.stored.variant));

  const ownLogical = (idOrg: number, idLschma: number): LogicalRow | undefined =>
    logicals.find(({ stored }) => stored.idLschma === idLschma && own(idOrg, stored.idSch) !== undefined);

  function withLogical({ base }: OriginRow, logical: LogicalRow | undefined): OriginRecord {
    if (logical === undefined) return base;
    const { stored, tables, mappings } = logical;
    return {
      ...base,
      id_lschma: stored.idLschma,
      map_level: stored.model.mapLevel,
      max_length: stored.model.nameMaxLength,
      table_count: tables.length,
      mapping_count: mappings.length,
    };
  }

  function register(
    idSch: number,
    idLschma: number,
    model: RelationalModel,
  ): Pick<LogicalRow, 'tables' | 'mappings'> {
    const tables = model.tables.map((table, index): TableRecord => ({
      id_tab: next.table++,
      name: table.name,
      xpath: table.xpath,
      parent_table: parentOf(model, table),
      columns: table.columns.map((column): ColumnRecord => {
        const { length, precision, scale } = column.type;
        return {
          id_col: next.column++,
          name: column.name,
          data_type: bareTypeName(column.type),
          length: length ?? null,
          precision: precision ?? null,
          scale: scale ?? null,
          nullable: column.nullable,
          ...keyOf(model, column, index),
          xpath: column.xpath,
        };
      }),
    }));
    const switchedOff = new Set(
      (logicalsOf(idSch)[0]?.mappings ?? [])
        .filter(({ active }) => !active)
        .map((line) => lineOf(line.xpath, line.node_type ?? 'element', line.source_type)),
    );
    const covered = new Set(model.mappings.map(({ table, column }) => `${table}/${column}`));
    const structure = model.tables.flatMap((table, t) =>
      table.columns.flatMap((column, c) => {
        const line = covered.has(`${t}/${c}`) ? null : structureLine(column);
        const minOccurs = column.nullable ? 0 : 1;
        return line === null
          ? []
          : [{ ...line, nodeType: null, minOccurs, maxOccurs: 1, table: t, column: c }];
      }),
    );
    const entries = [...model.mappings, ...structure].toSorted(
      (a, b) => a.table - b.table || (a.column ?? -1) - (b.column ?? -1),
    );
    const mappings = entries.map((entry): MappingRecord => {
      const table = tables[entry.table]!;
      const column = entry.column === null ? null : table.columns[entry.column]!;
      return {
        id_map: next.mapping++,
        id_sch: idSch,
        id_lschma: idLschma,
        xpath: entry.xpath,
        node_type: entry.nodeType,
        source_type: entry.sourceType,
        min_occurs: entry.minOccurs,
        max_occurs: entry.maxOccurs,
        id_tab: table.id_tab,
        table_name: table.name,
        column_name: column?.name ?? null,
        data_type: column?.data_type ?? null,
        length: column?.length ?? null,
        nullable: column?.nullable ?? false,
        key: column?.key ?? null,
        active:
          ('active' in entry ? entry.active : undefined) ??
          !(
            entry.nodeType !== null && switchedOff.has(lineOf(entry.xpath, entry.nodeType, entry.sourceType))
          ),
        documentation: 'documentation' in entry ? (entry.documentation ?? null) : null,
      };
    });
    return { tables, mappings };
  }

  function createOrigin(origin: NewOrigin): OriginRecord {
    const { idOrg, name, idParentSch } = origin;
    if (!maySchemaBeCalled(name)) {
      throw new AppError('invalid_parameter', `a schema cannot be called ${JSON.stringify(name)}`);
    }
    const parent = idParentSch === null ? null : own(idOrg, idParentSch);
    if (parent === undefined) throw new AppError('not_found', `there is no schema ${idParentSch}`);
    const idSch = next.origin++;
    const family = parent?.family ?? idSch;
    if (
      origins.some(
        (other) => other.base.id_org === idOrg && other.base.name === name && other.family !== family,
      )
    ) {
      throw new AppError(
        'conflict',
        `a schema called ${JSON.stringify(name)} already exists: choose another name, or make the next version of that schema (--parent)`,
      );
    }
    const versions = origins.filter((other) => other.family === family).map(({ base }) => base.version);
    const { model } = origin;
    const base: OriginRecord = {
      id_sch: idSch,
      id_org: idOrg,
      id_parent_sch: idParentSch,
      id_lschma: null,
      id_job: origin.idJob,
      name,
      version: Math.max(0, ...versions) + 1,
      source_type: origin.sourceType,
      root_elements: rootNames(model),
      target_namespace: model.targetNamespace,
      namespaces: model.namespaces,
      files: origin.files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
      map_level: 0,
      max_length: 63,
      table_count: 0,
      mapping_count: 0,
      created: clock.nowMs(),
    };
    origins.push({ base, family, model, statistics: null, files: origin.files });
    return base;
  }

  return {
    createOrigin: async (origin) => createOrigin(origin),
    async createLogicalSchema(idOrg, idSch, model, _idJob, variant = false) {
      if (own(idOrg, idSch) === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
      const modelHash = await sha256Hex(JSON.stringify(model));
      const known = logicalsOf(idSch).map(({ stored }) => stored);
      const candidates = variant ? known : known.filter((each) => !each.variant).slice(0, 1);
      const same = candidates.find((each) => each.modelHash === modelHash);
      if (same !== undefined) return same;
      const idLschma = next.logical++;
      const stored = { idSch, idLschma, model, modelHash, variant };
      logicals.push({ stored, ...register(idSch, idLschma, model) });
      return stored;
    },
    findLogicalSchemas: async (idOrg, modelHashes) =>
      logicals
        .filter(({ stored }) => modelHashes.includes(stored.modelHash))
        .filter(({ stored }) => own(idOrg, stored.idSch) !== undefined)
        .map(({ stored: { idSch, idLschma, modelHash, variant } }) => ({
          idSch,
          idLschma,
          modelHash,
          variant,
        })),
    listLogicalSchemas: async (idOrg, idSch) =>
      own(idOrg, idSch) === undefined
        ? []
        : logicalsOf(idSch)
            .map(({ stored: { idLschma, variant } }) => ({ idLschma, variant }))
            .toSorted((a, b) => b.idLschma - a.idLschma),
    listOrigins: async (idOrg) =>
      origins
        .filter(({ base }) => base.id_org === idOrg)
        .toReversed()
        .map((row) => withLogical(row, logicalsOf(row.base.id_sch)[0])),
    async listOriginVersions(idOrg) {
      const versions: OriginVersion[] = [];
      for (const { base } of origins.filter(({ base }) => base.id_org === idOrg).toReversed()) {
        const logical = logicalsOf(base.id_sch)[0];
        const summary =
          logical === undefined ? null : await summarizeModel(logical.stored.model, logical.tables);
        versions.push({
          id_sch: base.id_sch,
          id_parent_sch: base.id_parent_sch,
          name: base.name,
          version: base.version,
          id_lschma: logical?.stored.idLschma ?? null,
          table_count: logical?.tables.length ?? 0,
          sequence_count: summary === null ? null : sequenceCount(summary),
          key_count: summary?.keyCount ?? null,
        });
      }
      return versions;
    },
    async findOrigin(idOrg, idSch, idLschma) {
      const row = own(idOrg, idSch);
      if (row === undefined) return null;
      const logical = logicalsOf(idSch).find(
        ({ stored }) => idLschma === undefined || stored.idLschma === idLschma,
      );
      return logical === undefined && idLschma !== undefined ? null : withLogical(row, logical);
    },
    async loadOrigin(idOrg, idSch) {
      const row = own(idOrg, idSch);
      return row === undefined
        ? null
        : { record: withLogical(row, logicalsOf(idSch)[0]), model: row.model, statistics: row.statistics };
    },
    async loadOriginFiles(idOrg, idSch) {
      const row = own(idOrg, idSch);
      return xsdContents(row?.base.source_type === 'xml' ? [] : (row?.files ?? []));
    },
    async loadLogicalSchema(idOrg, which) {
      if ('idLschma' in which) return ownLogical(idOrg, which.idLschma)?.stored ?? null;
      const found = own(idOrg, which.idSch) === undefined ? [] : logicalsOf(which.idSch);
      return (
        found.find(({ stored }) => which.mapLevel === undefined || stored.model.mapLevel === which.mapLevel)
          ?.stored ?? null
      );
    },
    async findCompiledSet(idOrg, fingerprint) {
      const set = compiledSets.get(`${idOrg}/${fingerprint}`);
      const logical = set === undefined ? undefined : ownLogical(idOrg, set.idLschma);
      const origin = logical === undefined ? undefined : own(idOrg, logical.stored.idSch);
      if (set === undefined || logical === undefined || origin === undefined) return null;
      return { source: origin.model, model: logical.stored.model, diagnostics: set.diagnostics };
    },
    async rememberCompiledSet(idOrg, fingerprint, idLschma, diagnostics) {
      if (ownLogical(idOrg, idLschma) !== undefined)
        compiledSets.set(`${idOrg}/${fingerprint}`, { idLschma, diagnostics });
    },
    async findDrawnSchema(idOrg, idSch, fingerprint) {
      const known = own(idOrg, idSch) === undefined ? [] : logicalsOf(idSch);
      const drawn = known.filter(({ stored }) => drawnFrom.get(stored.idLschma)?.includes(fingerprint));
      const hashes = new Set(drawn.map(({ stored }) => stored.modelHash));
      return known.find(({ stored }) => hashes.has(stored.modelHash))?.stored.idLschma ?? null;
    },
    async rememberDrawnSchema(idOrg, idLschma, fingerprints) {
      if (ownLogical(idOrg, idLschma) === undefined) return;
      drawnFrom.set(idLschma, [...(drawnFrom.get(idLschma) ?? []), ...fingerprints].slice(-32));
    },
    listModelHashes: async (idOrg, idLschmas) =>
      new Map(
        idLschmas.flatMap((id) => {
          const found = ownLogical(idOrg, id);
          return found === undefined ? [] : [[id, found.stored.modelHash] as const];
        }),
      ),
    async listModelSummaries(idOrg, idLschmas) {
      const found = new Map<number, ModelSummary>();
      for (const id of idLschmas) {
        const row = ownLogical(idOrg, id);
        if (row !== undefined) found.set(id, await summarizeModel(row.stored.model, row.tables));
      }
      return found;
    },
    listModels: async (idOrg, idLschmas) =>
      new Map(
        idLschmas.flatMap((id) => {
          const found = ownLogical(idOrg, id);
          return found === undefined
            ? []
            : [[id, { tables: found.tables, model: found.stored.model }] as const];
        }),
      ),
    async listTables(idOrg, idLschma) {
      const found = logicals.find(
        ({ stored }) => stored.idLschma === idLschma && own(idOrg, stored.idSch) !== undefined,
      );
      return found?.tables ?? [];
    },
    async listMappings(idOrg, idLschma, which) {
      const found = logicals.find(
        ({ stored }) => stored.idLschma === idLschma && own(idOrg, stored.idSch) !== undefined,
      );
      const lines = found?.mappings ?? [];
      return which === 'inactive' ? lines.filter(({ active }) => !active) : lines;
    },
    async saveStatistics(idOrg, idSch, idJob, statistics, merge) {
      const row = own(idOrg, idSch);
      if (row === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
      const earlier = jobStatistics.save({ idOrg, idSch, idJob, statistics });
      row.statistics = merge(earlier ?? (row.statistics === null ? [] : [row.statistics]));
    },
    async setMappingsActive(idOrg, idLschma, idMaps, active) {
      const found = logicals.find(
        ({ stored }) => stored.idLschma === idLschma && own(idOrg, stored.idSch) !== undefined,
      );
      const known = new Set(found?.mappings.map(({ id_map }) => id_map));
      const wanted = new Set(idMaps);
      const missing = idMaps.find((id) => !known.has(id));
      if (found === undefined || missing !== undefined)
        throw new AppError('not_found', `there is no mapping ${missing}`);
      const changed = found.mappings.filter(
        (line) => wanted.has(line.id_map) && line.active !== active,
      ).length;
      found.mappings = found.mappings.map((line) => (wanted.has(line.id_map) ? { ...line, active } : line));
      const activeCount = found.mappings.filter((line) => line.active).length;
      return { changed, activeCount, inactiveCount: found.mappings.length - activeCount };
    },
    async refineOrigin(idOrg, idSch, model) {
      const row = own(idOrg, idSch);
      if (row === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
      row.model = model;
      for (const { stored } of logicalsOf(idSch)) drawnFrom.delete(stored.idLschma);
      for (const [key, { idLschma }] of compiledSets)
        if (logicalsOf(idSch).some(({ stored }) => stored.idLschma === idLschma)) compiledSets.delete(key);
      row.base = { ...row.base, namespaces: model.namespaces, root_elements: rootNames(model) };
    },
    async loadJobStatistics(idOrg, idSch, idJob) {
      const found = jobStatistics.find(idOrg, idJob);
      return found?.idSch === idSch ? found.statistics : null;
    },
    loadStatistics: async (idOrg, idJobs) => jobStatistics.list(idOrg, idJobs),
    async saveDiagram(idOrg, idLschma, svg) {
      if (ownLogical(idOrg, idLschma) === undefined)
        throw new AppError('not_found', `there is no logical schema ${idLschma}`);
      diagrams.set(idLschma, svg);
    },
    async loadDiagram(idOrg, idLschma) {
      const idSch = ownLogical(idOrg, idLschma)?.stored.idSch;
      const isOf = (id: number): boolean => ownLogical(idOrg, id)?.stored.idSch === idSch;
      const drawn = Math.max(...[...diagrams.keys()].filter((id) => id <= idLschma && isOf(id)));
      return idSch === undefined ? null : (diagrams.get(drawn) ?? null);
    },
    async listNaturalKeys(idOrg, idSch) {
      const row = own(idOrg, idSch);
      return row === undefined ? [] : (naturalKeys.get(row.family) ?? []);
    },
    listNaturalKeysOf: async (idOrg, idSchs) =>
      new Map(
        idSchs.flatMap((idSch) => {
          const row = own(idOrg, idSch);
          const keys = row === undefined ? undefined : naturalKeys.get(row.family);
          return keys === undefined ? [] : [[idSch, keys] as const];
        }),
      ),
    async saveNaturalKeys(idOrg, idSch, keys) {
      const row = own(idOrg, idSch);
      if (row === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
      naturalKeys.set(
        row.family,
        keys.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
      );
    },
    targetKeys: async () => null, // there are no targets in memory
    targetKeysOf: async () => new Map(),
    async removeOrigin(idOrg, idSch) {
      const row = own(idOrg, idSch);
      if (row === undefined) return false;
      if (await usesOrigin(idSch)) throw new AppError('conflict', 'a job uses the schema and has not ended');
      origins.splice(origins.indexOf(row), 1);
      for (const other of origins)
        if (other.base.id_parent_sch === idSch) other.base = { ...other.base, id_parent_sch: null };
      for (const { stored } of logicalsOf(idSch))
        logicals.splice(
          logicals.findIndex((logical) => logical.stored === stored),
          1,
        );
      if (!origins.some(({ family }) => family === row.family)) naturalKeys.delete(row.family);
      return true;
    },
    installation: () => Promise.resolve('memory'),

    async ownsTargetSchema(idOrg, name) {
      const owner = targets.get(name) ?? null;
      if (owner !== null && owner !== idOrg) throw new AppError('target_not_owned', 'it is another’s');
      return owner === idOrg;
    },
    claimTargetSchema: async (idOrg, name) => void targets.set(name, idOrg),
    listTargetSchemas: async (idOrg) =>
      [...targets].filter(([, owner]) => owner === idOrg).map(([name]) => ({ name, created: 0 })),
    removeTargetSchema: async (idOrg, name) => targets.get(name) === idOrg && targets.delete(name),
  };
}

function placeOf({ tableName, position }: NaturalKeyColumn): string {
  return `${tableName}\0${String(position).padStart(6, '0')}`;
}

function rootNames(model: SourceModel): string[] {
  const roots = model.primaryRoots > 0 ? model.roots.slice(0, model.primaryRoots) : model.roots;
  return roots.map((root) => model.elements[root]!.name.localName);
}

/** What a line is known by in the next logical schema. */
function lineOf(xpath: string | null, nodeType: string, sourceType: string): string | null {
  return xpath === null ? null : `${nodeType} ${nodeType === 'any' ? sourceType : ''} ${xpath}`;
}
