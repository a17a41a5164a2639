/** `--on-drift`: documents hold content that the schema has no place for. */
import { InputError } from '../../engine/diagnostics.ts';
import { inferSourceModel } from '../../engine/infer/source-model.ts';
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { lineIdentity } from '../../engine/map/mappings.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { LoadFindings } from '../load/findings.ts';
import { counted } from '../reports/summary.ts';
import { drawNextVersion, storeModel, type ChosenSchema } from '../schemas/logical-schema.ts';
import { storeOrigin } from '../schemas/store-origin.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import type { ConversionContext, TargetOnDemand } from './context.ts';
import type { KnownOrigin } from './plan.ts';

/** Code of the diagnostic of content that a schema has no place for. */
export const driftCode = 'unmapped_content';

/** paths that a message names; the rest are counted */
const namedPaths = 20;
/** characters of content that it shows of each */
const sampleLength = 60;

/** The result of reading documents with the schema, before any of their rows is published. */
export interface ReadDocuments {
  readonly findings: Pick<LoadFindings, 'unmapped'>;
  /** statistics of these documents; null if none were gathered */
  readonly statistics: DocumentStatistics | null;
}

/**
 * The schema that the documents are to be read with instead: that of the next version of the origin. Null: their rows are published as
 * they are. InputError with `--on-drift fail`.
 */
export async function settleDrift(
  context: ConversionContext,
  { stored }: ChosenSchema,
  { findings, statistics }: ReadDocuments,
): Promise<ChosenSchema | null> {
  const { session, plan } = context;
  const { unmapped } = findings;
  if (unmapped.length === 0) return null;
  if (session.request.onDrift === 'fail')
    throw new InputError({
      code: driftCode,
      severity: 'error',
      message: `the schema has no place for ${listed(unmapped)}; --on-drift evolve makes its next version, and --on-drift keep keeps such content in _unmapped`,
    });
  const { origin } = plan;
  if (!plan.evolves || origin === null || statistics === null) return null;
  session.steps.begin('infer');
  const all = [origin.statistics, ...origin.ofJobs, statistics]
    .filter((one) => one !== null)
    .reduce(mergeStatistics);
  const source = inferSourceModel(all);
  session.steps.begin('map');
  const model = await drawNextVersion(session, source, stored);
  if (!hasMorePlaces(model, stored.model)) return null;
  session.steps.begin('store');
  const record = await storeNextVersion(session, origin, source);
  session.log(
    `--on-drift evolve: schema ${origin.idSch} has no place for ${listed(unmapped)}; origin ${record.id_sch} (${record.name}, version ${record.version}) is its next version, with which the documents are loaded`,
  );
  await session.report({ idSch: record.id_sch });
  // recorded now, so that a further attempt uses this origin again
  await session.reported();
  const { home, idOrg, idJob } = session;
  await home.adapters.catalog.saveStatistics(idOrg, record.id_sch, idJob, statistics, () => all);
  const next = await storeModel(session, record.id_sch, model);
  await session.report({ idLschma: next.idLschma });
  const why = `documents hold content that logical schema ${stored.idLschma} has no place for (--on-drift evolve)`;
  session.choose({ logical: next.idLschma, why }, model);
  return { stored: next, why };
}

/** The version is named as the one before it. */
async function storeNextVersion(
  session: ToolSession,
  { idSch }: KnownOrigin,
  source: Parameters<typeof storeOrigin>[1],
): Promise<OriginRecord> {
  const parent = await session.home.adapters.catalog.findOrigin(session.idOrg, idSch);
  const request = { ...session.request, parent: idSch, ...(parent === null ? {} : { name: parent.name }) };
  return storeOrigin(settledSession(session, request), source, 'xml', parent?.files ?? []);
}

/** `/order/note (element, 3 times, first in a.xml: <note/>), /order/@id (attribute, once in b.xml: 7)` */
function listed(unmapped: LoadFindings['unmapped']): string {
  const shown = unmapped.slice(0, namedPaths).map(({ xpath, kind, count, sample, where }) => {
    const times = count === 1 ? 'once' : `${count} times, first`;
    const such = sample.length > sampleLength ? `${sample.slice(0, sampleLength)}…` : sample;
    return `${xpath} (${kind}, ${times}${where === undefined ? '' : ` in ${where}`}: ${such})`;
  });
  const rest = unmapped.length - namedPaths;
  return `${shown.join(', ')}${rest > 0 ? ` and ${counted(rest, 'other path')}` : ''}`;
}

/** Whether a model has a table or column for content that another one has elsewhere, or nowhere. */
function hasMorePlaces(model: RelationalModel, before: RelationalModel): boolean {
  const known = placesOf(before);
  for (const place of placesOf(model)) if (!known.has(place)) return true;
  return false;
}

function placesOf({ mappings, tables }: RelationalModel): ReadonlySet<string> {
  const places = new Set<string>();
  for (const line of mappings) {
    if (line.active === false) continue;
    const { name, columns } = tables[line.table]!;
    places.add(`${lineIdentity(line)}\n${name}\n${line.column === null ? '' : columns[line.column]!.name}`);
  }
  return places;
}

/**
 * Returns the session with the newest version of the origin of `-x` that the target was loaded with: evolution continues from that
 * version.
 */
export async function withNewestVersion(session: ToolSession, target: TargetOnDemand): Promise<ToolSession> {
  const { request, home, idOrg, log } = session;
  const { originId, onDrift } = request;
  if (
    onDrift !== 'evolve' ||
    originId === undefined ||
    !('id' in originId) ||
    request.saveMode === 'overwrite'
  )
    return session;
  const { catalog } = home.adapters;
  const installation = await catalog.installation();
  const loads = (await target.loads()).filter((load) => load.installation === installation);
  for (const idSch of new Set(loads.map((load) => load.idSch))) {
    if (idSch === null || !(await isVersionAfter(session, idSch, originId.id))) continue;
    log(
      `--on-drift evolve: origin ${idSch}, a later version of origin ${originId.id}, loaded the target and is used again`,
    );
    return settledSession(session, { ...request, originId: { id: idSch } });
  }
  return session;

  async function isVersionAfter({ home: { adapters } }: ToolSession, idSch: number, first: number) {
    let origin = idSch === first ? null : await adapters.catalog.findOrigin(idOrg, idSch);
    while (origin !== null && origin.id_parent_sch !== null) {
      if (origin.id_parent_sch === first) return true;
      origin = await adapters.catalog.findOrigin(idOrg, origin.id_parent_sch);
    }
    return false;
  }
}

/**
 * A sentence that names the option which gives a place to the content that this load has kept in `_unmapped`; null: none does.
 * `merges`: the target replaces documents (`-S m`).
 */
export function adviceOnDrift(
  { session, plan }: ConversionContext,
  { stored }: ChosenSchema,
  merges: boolean,
): string | null {
  const { onDrift, keys } = session.request;
  const again = merges && keys !== 'hash' ? '; with -S m it loads these documents again' : '';
  const of = (option: string): string => `content was kept in _unmapped: ${option}${again}`;
  const model = plan.origin?.model;
  const pinned = plan.origin?.pinned ?? null;
  if (model !== undefined && model.inferred !== true) {
    const declared = stored.variant ? '--prune makes tables for what the XSD declares of it, and ' : '';
    return of(`${declared}--xsd with a set that declares it gives it a place`);
  }
  if (onDrift === 'evolve' && pinned === null) return null;
  return of(`${pinned === null ? '' : `-x ${stored.idSch} `}--on-drift evolve gives it a place`);
}
