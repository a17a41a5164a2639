/**
 * The origin of an XSD set that documents are loaded by: the one that was made of the same files, or the next version of it, or a new
 * one.
 */
import { posix } from 'node:path';
import { familiesOf } from '../../service/catalog/logical-schema.ts';
import { AppError } from '../../errors.ts';
import type {
  OriginFile,
  OriginRecord,
  CatalogStore,
  StoredLogicalSchema,
} from '../../ports/stores/catalog.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';
import { isXsdName } from '../../service/jobs/xsd-inputs.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import { drawXsdSet } from './convert-xsd.ts';
import { defaultName, firstInput, recogniseLoads } from './store-origin.ts';
import { sha256Of } from '../../storage/staging/durable-file.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';

/** Returns the session with the origin of the set; `loads`: the loads that the target records, newest first. */
export async function originOfSet(
  session: ToolSession,
  set: XsdSetFiles,
  loads: () => Promise<readonly TargetLoad[]>,
): Promise<ToolSession> {
  const { request, idOrg, home, log } = session;
  const { catalog } = home.adapters;
  const origins = await catalog.listOrigins(idOrg);
  const named = request.xsd ?? request.inputs.filter(isXsdName);
  const name = request.name ?? defaultName(named[0] ?? firstInput(request) ?? 'stdin');
  const asked = origins.filter(
    (origin) =>
      (request.name === undefined || origin.name === request.name) &&
      (request.parent === undefined || origin.id_parent_sch === request.parent),
  );
  const same = await originOfFiles(session, asked, set, loads);
  if (same !== undefined) {
    const { id_sch: idSch, name: found, version } = same;
    log(`origin ${idSch} (${found}, version ${version}) was made from the same XSD set and is used again`);
    return withOrigin(session, idSch);
  }
  const parent =
    request.parent === undefined ? await earlierVersion(session, origins, name, loads) : undefined;
  const drawing = settledSession(session, {
    ...request,
    inputs: named.length > 0 ? named : request.inputs,
    // cutting of documents concerns only this load
    rowTag: undefined,
    ...(parent === undefined ? {} : { parent: parent.id_sch, name: parent.name }),
  });
  if (parent === undefined && request.parent === undefined) refuseTaken(origins, request.name);
  const { source, model, origin } = await drawXsdSet(drawing, set);
  session.steps.begin('schema');
  if (origin === null) {
    log(
      parent === undefined
        ? 'the XSD set would be a new origin, which this run does not store'
        : `the XSD set differs from that of origin ${parent.id_sch} (${parent.name}), which loaded the target: it would be its next version, which this run does not store`,
    );
    return withUnstoredOrigin(session, {
      name,
      idParentSch: parent?.id_sch ?? request.parent ?? null,
      source,
      model,
      set,
    });
  }
  log(tellNew(origin, parent, origins, name));
  return withOrigin(session, origin.id_sch);
}

function withOrigin(session: ToolSession, idSch: number): ToolSession {
  const { request } = session;
  return settledSession(session, {
    ...request,
    originId: { id: idSch },
    xsd: undefined,
    name: undefined,
    parent: undefined,
  });
}

/**
 * Chooses among origins made of the same files: first one that loaded the target, the last load first; otherwise one that has the same
 * entry files. Returns undefined if there is none.
 */
async function originOfFiles(
  session: ToolSession,
  origins: readonly OriginRecord[],
  { records, entries }: XsdSetFiles,
  loads: () => Promise<readonly TargetLoad[]>,
): Promise<OriginRecord | undefined> {
  const wanted = contentOf(records);
  const same = origins.filter((origin) => origin.source_type === 'xsd' && contentOf(origin.files) === wanted);
  if (same.length === 0) return undefined;
  // a single file is its only entry, whether it was named or found
  const sameEntries = new Set(records.length === 1 ? same.map(({ id_sch: id }) => id) : []);
  for (const { id_sch: idSch } of same) {
    const files = await session.home.adapters.catalog.loadOriginFiles(session.idOrg, idSch);
    const entered = files.filter(({ entry }) => entry === true).map(({ name }) => name);
    if (areSame(entered, entries ?? [])) sameEntries.add(idSch);
  }
  if (session.request.entry !== undefined) return same.find(({ id_sch: id }) => sameEntries.has(id));
  if (same.length === 1 && sameEntries.size === 1) return same[0];
  const ids = await loadedBy(session, loads);
  const rank = ({ id_sch: id }: OriginRecord): number =>
    (ids.includes(id) ? ids.indexOf(id) : ids.length) * 2 + (sameEntries.has(id) ? 0 : 1);
  return same
    .filter(({ id_sch: id }) => sameEntries.has(id) || ids.includes(id))
    .toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Returns whether the names are those of the same files, wherever their common folder is. */
function areSame(some: readonly string[], others: readonly string[]): boolean {
  return (
    some.length === others.length &&
    some.every((name) => others.some((other) => isEndOf(name, other) || isEndOf(other, name)))
  );
}

function isEndOf(name: string, end: string): boolean {
  return name === end || name.endsWith(`/${end}`);
}

/** Returns names and checksums, independent of the place of their common folder. */
function contentOf(files: readonly OriginFile[]): string {
  const parts = files.map(({ name }) => posix.normalize(name.replaceAll('\\', '/')).split('/'));
  let above = 0;
  while (
    parts.length > 0 &&
    parts.every((part) => part.length > above + 1 && part[above] === parts[0]![above])
  )
    above += 1;
  return files
    .map(({ sha256 }, at) => `${sha256} ${parts[at]!.slice(above).join('/')}`)
    .toSorted()
    .join('\n');
}

/** Origins of this installation, the last one first. */
async function loadedBy(
  session: ToolSession,
  loads: () => Promise<readonly TargetLoad[]>,
): Promise<readonly number[]> {
  const { known } = await recogniseLoads(session, await loads());
  return known.map(({ idSch }) => idSch);
}

/**
 * Returns the newest version of the schema with that name, if one of its versions loaded the target: the changed set continues from
 * there.
 */
async function earlierVersion(
  session: ToolSession,
  origins: readonly OriginRecord[],
  name: string,
  loads: () => Promise<readonly TargetLoad[]>,
): Promise<OriginRecord | undefined> {
  // a name that nobody chose may have got a number
  const isNamed = (origin: OriginRecord): boolean =>
    origin.name === name ||
    (session.request.name === undefined &&
      origin.name.startsWith(`${name}-`) &&
      /^\d+$/.test(origin.name.slice(name.length + 1)));
  const families = familiesOf(origins).filter((family) => family.some(isNamed));
  if (families.length === 0) return undefined;
  const ids = await loadedBy(session, loads);
  const lastLoad = (family: readonly OriginRecord[]): number =>
    Math.min(
      ...family.map(({ id_sch: id }) => (ids.includes(id) ? ids.indexOf(id) : Number.POSITIVE_INFINITY)),
    );
  const [nearest] = families.toSorted((a, b) => lastLoad(a) - lastLoad(b));
  return Number.isFinite(lastLoad(nearest!)) ? nearest!.at(-1) : undefined;
}

/** AppError `conflict`: the name that was chosen is that of another set. */
function refuseTaken(origins: readonly OriginRecord[], name: string | undefined): void {
  const other = origins.find((origin) => origin.name === name);
  if (other === undefined) return;
  throw new AppError(
    'conflict',
    `--name ${name}: origin ${other.id_sch} has that name and was made from other files and did not load the target: --parent ${other.id_sch} makes its next version, another --name makes a separate schema`,
  );
}

function tellNew(
  { id_sch: idSch, name: stored, version }: OriginRecord,
  parent: OriginRecord | undefined,
  origins: readonly OriginRecord[],
  name: string,
): string {
  if (parent !== undefined)
    return `the XSD set differs from that of origin ${parent.id_sch} (${parent.name}), which loaded the target: it is origin ${idSch}, version ${version} of it, which keeps the tables and names; --name NAME makes a separate schema instead`;
  const other = origins.find((origin) => origin.name === name && stored !== name);
  const apart =
    other === undefined
      ? ''
      : `; origin ${other.id_sch} (${name}) was made from other files and did not load the target: --parent ${other.id_sch} would make its next version`;
  return `the XSD set is origin ${idSch} (${stored})${apart}`;
}

// A dry run with an XSD set that is not stored: its origin is there for this run alone.

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
