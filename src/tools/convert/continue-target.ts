/** `-x auto`: documents that are loaded into a target again go on with the origin that loaded it. */
import { InputError } from '../../engine/diagnostics.ts';
import { startsWith } from '../../engine/map/chosen-roots.ts';
import type { QName, SourceModel } from '../../engine/model/source-model.ts';
import { isHtmlRoot } from '../../engine/shred/unknown-root.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { parseModeOf } from '../../jobs/request/tool-request.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { InputSet } from '../inputs/list-files.ts';
import { peekRootName } from '../inputs/read-document.ts';
import { elementName, isMeant, prefixOf } from '../schemas/model-choices.ts';
import { recogniseLoads, unknownLoadsMessage } from '../schemas/target-loads.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import type { TargetOnDemand } from './context.ts';
import type { DeclaredNamespace } from './element-prefixes.ts';

/** origins of a target that are looked into, the last that loaded it first */
const maxOrigins = 20;

/**
 * Returns the session with the target's origin that knows the documents, if there is one, otherwise unchanged. The log says which, and
 * why.
 */
export async function continueTarget(
  session: ToolSession,
  inputs: InputSet,
  target: TargetOnDemand,
  declared: DeclaredNamespace,
): Promise<ToolSession> {
  const { request, log } = session;
  const open = settledSession(session, { ...request, originId: undefined });
  if (
    request.out === undefined ||
    request.saveMode === 'print-schema' ||
    parseModeOf(request) === 'statistics'
  )
    return open;
  if (request.parent !== undefined || (await hasOwnOrigin(session))) return open;
  const recognised = await recogniseLoads(session, await target.loads());
  const known = [...new Set(recognised.known.map(({ idSch }) => idSch))].slice(0, maxOrigins);
  const tellUnknown = async (): Promise<void> => {
    const installation = await session.home.adapters.catalog.installation();
    const next = 'the documents make their own schema, and where names differ, columns are added';
    const told = unknownLoadsMessage(recognised.unknown, installation, next);
    if (told !== null && request.saveMode !== 'overwrite') log(told);
  };
  if (known.length === 0) {
    await tellUnknown();
    return open;
  }
  const isAsked = request.originId !== undefined;
  if (request.saveMode === 'overwrite' && !isAsked) {
    log(
      `-S o replaces what the target holds: the documents make their schema anew; -x auto goes on with origin ${known[0]}, which loaded it last`,
    );
    return open;
  }
  const roots = await rootTest(session, inputs, declared);
  for (const idSch of known) {
    const origin = await session.home.adapters.catalog.loadOrigin(session.idOrg, idSch);
    if (origin === null || !fitsName(request.name, origin.record) || !roots.knows(origin.model)) continue;
    const { name } = origin.record;
    log(
      `-x auto: origin ${idSch} (${name}) loaded the target before and goes on${isAsked ? '' : '; --name NAME makes a schema of these documents instead'}`,
    );
    return settledSession(session, { ...request, originId: { id: idSch }, name: undefined });
  }
  await tellUnknown();
  log(
    request.name === undefined
      ? `the target was loaded by other schemas (origin ${known.join(', ')}), none of which knows ${roots.names}: the documents make their own`
      : `the target was loaded by other schemas than ${request.name} (origin ${known.join(', ')}): the documents make their own`,
  );
  return open;
}

/** An attempt before this one stored an origin of its own. */
async function hasOwnOrigin({ originOfEarlierAttempt, home, idOrg, idJob }: ToolSession): Promise<boolean> {
  if (originOfEarlierAttempt === null) return false;
  const origin = await home.adapters.catalog.findOrigin(idOrg, originOfEarlierAttempt);
  // the next version of another one is made once the documents have been read by that
  return origin?.id_job === idJob && origin.id_parent_sch === null;
}

function fitsName(name: string | undefined, origin: OriginRecord): boolean {
  return name === undefined || origin.name === name;
}

/** Tests whether a source model knows the root element of the documents. */
type RootTest = (model: SourceModel) => boolean;

async function rootTest(
  { request, limits }: ToolSession,
  inputs: InputSet,
  declared: DeclaredNamespace,
): Promise<{ readonly names: string; readonly knows: RootTest }> {
  const given = request.rowTag ?? request.root;
  if (given !== undefined) {
    const prefix = prefixOf(given);
    const uri = prefix === null ? null : await declared(prefix);
    const ofDocuments = prefix === null || uri === null ? {} : { [prefix]: uri };
    return {
      names: given,
      knows: ({ namespaces, elements }) => {
        const wanted = elementName(given, { ...ofDocuments, ...namespaces });
        return wanted !== null && elements.some(({ name }) => isMeant(wanted, name));
      },
    };
  }
  const names = createNameTable();
  const found = new Map<number, QName>();
  for await (const member of inputs.members()) {
    const id = await peekRootName(member, names, limits).catch((error: unknown) => {
      // it is reported, or skipped, when it is read
      if (error instanceof InputError) return null;
      throw error;
    });
    if (id === null || found.has(id)) continue;
    found.set(id, { namespaceUri: names.namespaceUri(id), localName: names.localName(id) });
  }
  const all = [...found.values()];
  // a page of HTML among documents is rejected, and decides nothing
  const others = all.filter((name) => !isHtmlRoot(name));
  const roots = others.length > 0 ? others : all;
  return {
    names: roots.map(({ localName }) => `<${localName}>`).join(', '),
    // elements that an inferred schema does not know are added to it
    knows: (model) =>
      request.onDrift === 'evolve' && model.inferred === true
        ? roots.some((name) => startsWith(model, name))
        : roots.every((name) => startsWith(model, name)),
  };
}
