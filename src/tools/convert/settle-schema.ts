/**
 * Settles what a request leaves open about its schema: an XSD set becomes its origin, or the target names the schema it was loaded
 * with.
 */
import { AppError } from '../../errors.ts';
import { takesXsdDocuments } from '../../jobs/options/xsd-inputs.ts';
import { openDocuments, openWatched } from '../inputs/document-inputs.ts';
import { documentTest } from '../inputs/document-names.ts';
import type { InputSet } from '../inputs/list-files.ts';
import type { XsdSetFiles } from '../inputs/xsd-files.ts';
import { settleNames } from '../schemas/settled-names.ts';
import { localFolder } from '../session/remote-files.ts';
import { inputPaths } from '../session/resolve-inputs.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { TargetOnDemand } from './context.ts';
import { namespacesOfDocuments, withoutPrefixes } from './element-prefixes.ts';

export interface SettledConversion {
  readonly session: ToolSession;
  readonly inputs: InputSet;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
}

/**
 * Returns the documents, and an origin if one is named, made from XSDs, or recorded in the target; otherwise the documents make their
 * own schema. `rows`: archives of the documents of `--from`.
 */
export async function settleSchema(
  given: ToolSession,
  target: TargetOnDemand,
  rows: readonly string[] | null,
): Promise<SettledConversion> {
  const named = await settleNames(given);
  const { idOrg, home, request, repeats } = named;
  const takesXsd = (await takesXsdDocuments(home.adapters.catalog, idOrg, request)) === true;
  named.steps.begin('inputs');
  // a watch reads only the files that it found, no others in the folder
  const watched =
    request.watched === undefined || rows !== null
      ? null
      : await (await import('../watched/files.ts')).watchedFiles(named, request.watched);
  const paths = rows ?? (watched === null ? await inputPaths(named, request.inputs, 'in', 'documents') : []);
  named.steps.begin('schema');
  const isNamed =
    request.logicalId !== undefined || (request.originId !== undefined && 'id' in request.originId);
  // the schema that another run is repeated with is settled
  const isSettled = isNamed || repeats !== null;
  const set = isSettled ? null : await xsdSetOf(named, rows === null ? paths : []);
  const isAmong = set !== null && request.xsd === undefined;
  named.steps.begin('inputs');
  const opened =
    watched === null
      ? await openDocuments(named, paths, { takesXsd, set, isAmong })
      : await openWatched(named, watched, takesXsd);
  named.soFar.inputs = opened.seen;
  const inputs = request.concatenated ? await separateDocuments(named, opened) : opened;
  named.steps.begin('schema');
  const declared = namespacesOfDocuments(named, inputs);
  const settled = async (): Promise<ToolSession> => {
    if (isSettled) return named;
    if (set !== null) {
      const { originOfSet } = await import('../schemas/set-origin.ts');
      return originOfSet(named, set, () => target.loads());
    }
    const { continueTarget } = await import('./continue-target.ts');
    return continueTarget(named, inputs, target, declared);
  };
  try {
    const known = await withoutPrefixes(await settled(), declared);
    if (known.request.onDrift !== 'evolve') return { session: known, inputs, takesXsd };
    const { withNewestVersion } = await import('./drift.ts');
    return { session: await withNewestVersion(known, target), inputs, takesXsd };
  } catch (error) {
    await inputs.dispose();
    throw error;
  }
}

/** `--concatenated` */
async function separateDocuments(session: ToolSession, inputs: InputSet): Promise<InputSet> {
  const { separated } = await import('../inputs/concatenated.ts');
  const { byHand, archiveLimits: limits } = session;
  const walk = { test: documentTest(false), limits, links: byHand ? 'follow' : 'refuse' } as const;
  try {
    return await separated(inputs, walk, localFolder(session, 'documents'), () => session.progress(0));
  } catch (error) {
    await inputs.dispose();
    throw error;
  }
}

/** Reads the XSD set of `--xsd`, or the XSDs among the inputs. Returns null if there are none. */
async function xsdSetOf(session: ToolSession, paths: readonly string[]): Promise<XsdSetFiles | null> {
  const { request, byHand, archiveLimits, spool } = session;
  const { followOf, readXsdSet, holdingXsds } = await import('../inputs/xsd-files.ts');
  const links = byHand ? 'follow' : 'refuse';
  const reading = { follow: followOf(session), links, limits: archiveLimits, entry: request.entry } as const;
  if (request.xsd !== undefined) return readXsdSet(await inputPaths(session, request.xsd, 'xsd'), reading);
  const files = paths.filter((path) => spool.get(path) === undefined);
  const holding = await holdingXsds(files, archiveLimits, links);
  if (holding.length === 0 && request.entry !== undefined)
    throw new AppError('invalid_option', '--entry names a file of an XSD set: give that with --xsd');
  return holding.length === 0 ? null : readXsdSet(holding, { ...reading, among: true });
}
