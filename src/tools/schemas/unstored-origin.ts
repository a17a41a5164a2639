/** A dry run with an XSD set that is not stored: its origin is there for this run alone. */
import { sha256Of } from '../../adapters/file-staging/sha256.ts';
import { AppError } from '../../errors.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { CatalogStore, OriginRecord, StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { XsdSetFiles } from '../inputs/xsd-files.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';

/** Id of objects that are not stored; no store assigns it. */
const unstored = -1;

export interface UnstoredOrigin {
  readonly name: string;
  /** the origin that it would be the next version of */
  readonly idParentSch: number | null;
  readonly source: SourceModel;
  readonly model: RelationalModel;
  readonly set: XsdSetFiles;
}

/** Returns the session with that origin, which a catalogue in memory serves; anything stored for it is discarded. */
export function withUnstoredOrigin(session: ToolSession, origin: UnstoredOrigin): ToolSession {
  const { request, idOrg, idJob, home } = session;
  const stored = home.adapters.catalog;
  const logicalOf = (model: RelationalModel): StoredLogicalSchema => ({
    idSch: unstored,
    idLschma: unstored,
    model,
    modelHash: sha256Of(JSON.stringify(model)),
    variant: false,
  });
  const logical = logicalOf(origin.model);
  const catalog: CatalogStore = {
    ...stored,
    loadOrigin: (org, idSch) =>
      idSch === unstored
        ? Promise.resolve({
            record: recordOf(origin, { idOrg, idJob }),
            model: origin.source,
            statistics: null,
          })
        : stored.loadOrigin(org, idSch),
    findOrigin: (org, idSch, idLschma) =>
      idSch === unstored
        ? Promise.resolve(recordOf(origin, { idOrg, idJob }))
        : stored.findOrigin(org, idSch, idLschma),
    loadOriginFiles: (org, idSch) =>
      idSch === unstored ? Promise.resolve(filesOf(origin.set)) : stored.loadOriginFiles(org, idSch),
    loadLogicalSchema: (org, which) =>
      ('idSch' in which ? which.idSch : which.idLschma) === unstored
        ? Promise.resolve(logical)
        : stored.loadLogicalSchema(org, which),
    listLogicalSchemas: (org, idSch) =>
      idSch === unstored ? Promise.resolve([logical]) : stored.listLogicalSchemas(org, idSch),
    createLogicalSchema: (org, idSch, model, job, variant) =>
      idSch === unstored
        ? Promise.resolve(logicalOf(model))
        : stored.createLogicalSchema(org, idSch, model, job, variant),
    listMappings: (org, idLschma) =>
      idLschma === unstored ? Promise.resolve([]) : stored.listMappings(org, idLschma),
    listNaturalKeys: (org, idSch) =>
      idSch === unstored ? Promise.resolve([]) : stored.listNaturalKeys(org, idSch),
    saveStatistics: (org, idSch, ...more) => {
      if (idSch === unstored) throw new AppError('internal_error', 'a dry run has no statistics to save');
      return stored.saveStatistics(org, idSch, ...more);
    },
  };
  const settled = settledSession(
    session,
    { ...request, originId: { id: unstored }, xsd: undefined, name: undefined, parent: undefined },
    catalog,
  );
  // the record of the job names only stored objects
  return {
    ...settled,
    get committing() {
      return settled.committing;
    },
    report: ({ idSch, idLschma, ...progress }) =>
      settled.report({
        ...progress,
        ...(idSch === undefined || idSch === unstored ? {} : { idSch }),
        ...(idLschma === undefined || idLschma === unstored ? {} : { idLschma }),
      }),
  };
}

function filesOf({ records }: XsdSetFiles) {
  return records.flatMap(({ name, entry, content }) =>
    content === undefined ? [] : [{ name, entry: entry ?? null, content }],
  );
}

function recordOf(
  { name, idParentSch, source, model, set }: UnstoredOrigin,
  { idOrg, idJob }: { readonly idOrg: number; readonly idJob: number },
): OriginRecord {
  return {
    id_sch: unstored,
    id_org: idOrg,
    id_parent_sch: idParentSch,
    id_lschma: unstored,
    id_job: idJob,
    name,
    version: 1,
    source_type: 'xsd',
    root_elements: source.roots.map((root) => source.elements[root]!.name.localName),
    target_namespace: source.targetNamespace,
    namespaces: source.namespaces,
    files: set.records,
    map_level: model.mapLevel,
    max_length: model.nameMaxLength,
    table_count: model.tables.length,
    mapping_count: model.mappings.length,
    created: 0,
  };
}
