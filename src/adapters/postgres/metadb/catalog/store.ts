/** The catalog store on PostgreSQL. */
import type { CatalogStore } from '../../../../ports/stores/catalog.ts';
import {
  findCompiledSet,
  rememberCompiledSet,
  createOrigin,
  findOrigin,
  listOrigins,
  listOriginVersions,
  loadJobStatistics,
  loadOrigin,
  loadStatistics,
  refineOrigin,
  saveStatistics,
  loadOriginFiles,
} from './origins.ts';
import {
  findDrawnSchema,
  rememberDrawnSchema,
  createLogicalSchema,
  findLogicalSchemas,
  listMappings,
  listModelHashes,
  listModels,
  listTables,
  listLogicalSchemas,
  loadLogicalSchema,
  setMappingsActive,
  listModelSummaries,
} from './logical-schemas.ts';
import {
  listNaturalKeys,
  listNaturalKeysOf,
  loadDiagram,
  removeOrigin,
  saveDiagram,
  saveNaturalKeys,
} from './views.ts';
import type { Sql } from '../../client/connect.ts';
import {
  readInTransaction,
  withinOrganisation,
  type OrganisationReader,
} from '../../client/organisation-pools.ts';
import { targetKeys, targetKeysOf } from './target-keys.ts';
import {
  claimTargetSchema,
  listTargetSchemas,
  ownsTargetSchema,
  removeTargetSchema,
} from '../target-names.ts';

/** `read` runs read-only queries; absent: in transactions on the same pool. */
export function createPostgresCatalogStore(
  sql: Sql,
  read: OrganisationReader = readInTransaction(sql),
): CatalogStore {
  /** a request for one organisation sees only that organisation's rows */
  const within = <T>(idOrg: number, work: (tx: Sql) => Promise<T>): Promise<T> =>
    withinOrganisation(sql, idOrg, work);
  return {
    createOrigin: (origin) => within(origin.idOrg, (tx) => createOrigin(tx, origin)),
    createLogicalSchema: (idOrg, idSch, model, idJob, variant) =>
      within(idOrg, (tx) => createLogicalSchema(tx, idOrg, idSch, model, idJob, variant)),
    listLogicalSchemas: (idOrg, idSch) => read(idOrg, (tx) => listLogicalSchemas(tx, idOrg, idSch)),
    findLogicalSchemas: (idOrg, modelHashes) =>
      read(idOrg, (tx) => findLogicalSchemas(tx, idOrg, modelHashes)),
    listOrigins: (idOrg, slice) => read(idOrg, (tx) => listOrigins(tx, idOrg, slice)),
    listOriginVersions: (idOrg) => read(idOrg, (tx) => listOriginVersions(tx, idOrg)),
    findOrigin: (idOrg, idSch, idLschma) => read(idOrg, (tx) => findOrigin(tx, idOrg, idSch, idLschma)),
    loadOrigin: (idOrg, idSch) => read(idOrg, (tx) => loadOrigin(tx, idOrg, idSch)),
    loadOriginFiles: (idOrg, idSch) => read(idOrg, (tx) => loadOriginFiles(tx, idOrg, idSch)),
    loadLogicalSchema: (idOrg, which) => read(idOrg, (tx) => loadLogicalSchema(tx, idOrg, which)),
    findCompiledSet: (idOrg, fingerprint) => read(idOrg, (tx) => findCompiledSet(tx, idOrg, fingerprint)),
    rememberCompiledSet: (idOrg, fingerprint, idLschma, diagnostics) =>
      within(idOrg, (tx) => rememberCompiledSet(tx, idOrg, fingerprint, idLschma, diagnostics)),
    findDrawnSchema: (idOrg, idSch, fingerprint) =>
      read(idOrg, (tx) => findDrawnSchema(tx, idOrg, idSch, fingerprint)),
    rememberDrawnSchema: (idOrg, idLschma, fingerprints) =>
      within(idOrg, (tx) => rememberDrawnSchema(tx, idOrg, idLschma, fingerprints)),
    listModelHashes: (idOrg, idLschmas) => read(idOrg, (tx) => listModelHashes(tx, idOrg, idLschmas)),
    listModelSummaries: (idOrg, idLschmas) => read(idOrg, (tx) => listModelSummaries(tx, idOrg, idLschmas)),
    listModels: (idOrg, idLschmas) => read(idOrg, (tx) => listModels(tx, idOrg, idLschmas)),
    listNaturalKeysOf: (idOrg, idSchs) => read(idOrg, (tx) => listNaturalKeysOf(tx, idOrg, idSchs)),
    listTables: (idOrg, idLschma) => read(idOrg, (tx) => listTables(tx, idOrg, idLschma)),
    listMappings: (idOrg, idLschma, which) => read(idOrg, (tx) => listMappings(tx, idOrg, idLschma, which)),
    saveStatistics: (idOrg, idSch, idJob, statistics, merge) =>
      within(idOrg, (tx) => saveStatistics(tx, idOrg, idSch, idJob, statistics, merge)),
    setMappingsActive: (idOrg, idLschma, idMaps, active) =>
      within(idOrg, (tx) => setMappingsActive(tx, idOrg, idLschma, idMaps, active)),
    refineOrigin: (idOrg, idSch, model) => within(idOrg, (tx) => refineOrigin(tx, idOrg, idSch, model)),
    loadJobStatistics: (idOrg, idSch, idJob) =>
      read(idOrg, (tx) => loadJobStatistics(tx, idOrg, idSch, idJob)),
    loadStatistics: (idOrg, idJobs) => read(idOrg, (tx) => loadStatistics(tx, idOrg, idJobs)),

    saveDiagram: (idOrg, idLschma, svg) => within(idOrg, (tx) => saveDiagram(tx, idOrg, idLschma, svg)),
    loadDiagram: (idOrg, idLschma) => read(idOrg, (tx) => loadDiagram(tx, idOrg, idLschma)),
    listNaturalKeys: (idOrg, idSch) => read(idOrg, (tx) => listNaturalKeys(tx, idOrg, idSch)),
    targetKeys: (idOrg, sqlSchema) => within(idOrg, (tx) => targetKeys(tx, idOrg, sqlSchema)),
    targetKeysOf: (idOrg, sqlSchemas) => within(idOrg, (tx) => targetKeysOf(tx, idOrg, sqlSchemas)),
    saveNaturalKeys: (idOrg, idSch, keys) => within(idOrg, (tx) => saveNaturalKeys(tx, idOrg, idSch, keys)),
    // across organisations: contents of files are shared, and other references to them decide whether they are removed
    removeOrigin: (idOrg, idSch) => removeOrigin(sql, idOrg, idSch),

    async installation() {
      const [row] = await sql<{ installation: string }[]>`select installation::text from svc.installation`;
      return row!.installation;
    },

    ownsTargetSchema: (idOrg, name) => ownsTargetSchema(sql, idOrg, name),
    claimTargetSchema: (idOrg, name, claim) => claimTargetSchema(sql, idOrg, name, claim),
    listTargetSchemas: (idOrg) => listTargetSchemas(sql, idOrg),
    removeTargetSchema: (idOrg, name) => removeTargetSchema(sql, idOrg, name),
  };
}
