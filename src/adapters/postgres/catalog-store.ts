/** The catalog store on PostgreSQL (migrations 0003, 0004). */
import { AppError } from '../../errors.ts';
import type { CatalogStore } from '../../ports/catalog-store.ts';
import {
  createLogicalSchema,
  listMappings,
  listTables,
  loadLogicalSchema,
  setMappingsActive,
} from './catalog-logical-schemas.ts';
import {
  createOrigin,
  findOrigin,
  listOrigins,
  loadJobStatistics,
  loadOrigin,
  loadStatistics,
  refineOrigin,
  saveStatistics,
} from './catalog-origins.ts';
import { listNaturalKeys, loadDiagram, removeOrigin, saveDiagram, saveNaturalKeys } from './catalog-views.ts';
import { sqlState } from './connect.ts';
import type { Sql } from './connect.ts';

export function createPostgresCatalogStore(sql: Sql): CatalogStore {
  return {
    createOrigin: (origin) => createOrigin(sql, origin),
    createLogicalSchema: (idOrg, idSch, model, idJob) => createLogicalSchema(sql, idOrg, idSch, model, idJob),
    listOrigins: (idOrg) => listOrigins(sql, idOrg),
    findOrigin: (idOrg, idSch, idLschma) => findOrigin(sql, idOrg, idSch, idLschma),
    loadOrigin: (idOrg, idSch) => loadOrigin(sql, idOrg, idSch),
    loadLogicalSchema: (idOrg, which) => loadLogicalSchema(sql, idOrg, which),
    listTables: (idOrg, idLschma) => listTables(sql, idOrg, idLschma),
    listMappings: (idOrg, idLschma) => listMappings(sql, idOrg, idLschma),
    saveStatistics: (idOrg, idSch, idJob, statistics, merged) =>
      saveStatistics(sql, idOrg, idSch, idJob, statistics, merged),
    setMappingsActive: (idOrg, idLschma, idMaps, active) =>
      setMappingsActive(sql, idOrg, idLschma, idMaps, active),
    refineOrigin: (idOrg, idSch, model) => refineOrigin(sql, idOrg, idSch, model),
    loadJobStatistics: (idOrg, idSch, idJob) => loadJobStatistics(sql, idOrg, idSch, idJob),
    loadStatistics: (idOrg, idJobs) => loadStatistics(sql, idOrg, idJobs),

    saveDiagram: (idOrg, idLschma, svg) => saveDiagram(sql, idOrg, idLschma, svg),
    loadDiagram: (idOrg, idLschma) => loadDiagram(sql, idOrg, idLschma),
    listNaturalKeys: (idOrg, idSch) => listNaturalKeys(sql, idOrg, idSch),
    saveNaturalKeys: (idOrg, idSch, keys) => saveNaturalKeys(sql, idOrg, idSch, keys),
    removeOrigin: (idOrg, idSch) => removeOrigin(sql, idOrg, idSch),

    async installation() {
      const [row] = await sql<{ installation: string }[]>`select installation::text from svc.installation`;
      return row!.installation;
    },

    async claimTargetSchema(idOrg, name) {
      try {
        const [row] = await sql<{ id_org: number }[]>`
          insert into svc.target_schema (name, id_org) values (${name}, ${idOrg})
          on conflict (name) do update set name = excluded.name
          returning id_org`;
        if (row?.id_org !== idOrg)
          throw new AppError(
            'target_not_owned',
            `the SQL schema ${JSON.stringify(name)} belongs to another organisation`,
          );
      } catch (error) {
        if (sqlState(error) !== '23514') throw error;
        throw new AppError(
          'invalid_parameter',
          `${JSON.stringify(name)} cannot be the name of a target schema`,
          { cause: error },
        );
      }
    },
  };
}
