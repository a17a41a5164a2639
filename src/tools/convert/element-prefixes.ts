/** Prefixes in `--row-tag` and `--root`: those of the schema count first, then those that the documents declare. */
import { InputError } from '../../engine/diagnostics.ts';
import { rangeText } from '../../engine/shred/xml-capture.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { createFastXmlTokenizer } from '../../engine/xml/tokenizer/fast.ts';
import { KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../../engine/xml/tokens.ts';
import type { InputSet } from '../inputs/list-files.ts';
import type { InputMember } from '../inputs/members.ts';
import { elementName, prefixOf, unknownPrefix } from '../schemas/choice.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';

/** The namespace of a prefix, as the first document that declares it has it; null if none does. */
export type DeclaredNamespace = (prefix: string) => Promise<string | null>;

export function namespacesOfDocuments(session: ToolSession, inputs: InputSet): DeclaredNamespace {
  const found = new Map<string, Promise<string | null>>();
  return (prefix) => {
    const known = found.get(prefix) ?? firstDeclared(session, inputs, prefix);
    found.set(prefix, known);
    return known;
  };
}

/**
 * The session with `{uri}local` in place of prefixes. AppError `invalid_option` for a prefix that neither the schema nor a document
 * declares.
 */
export async function withoutPrefixes(
  session: ToolSession,
  declared: DeclaredNamespace,
): Promise<ToolSession> {
  const { request } = session;
  const { rowTag, root } = request;
  if (prefixIn(rowTag) === null && prefixIn(root) === null) return session;
  const namespaces = await namespacesOfSchema(session);
  const resolved = async (option: '--row-tag' | '--root', text: string | undefined) => {
    const prefix = prefixIn(text);
    if (text === undefined || prefix === null) return text;
    const uri = namespaces[prefix] ?? (await declared(prefix));
    if (uri === null) throw unknownPrefix(option, text);
    const { localName } = elementName(text, { [prefix]: uri })!;
    const full = `{${uri}}${localName}`;
    session.log(`${option} ${text}: ${full}`);
    return full;
  };
  return settledSession(session, {
    ...request,
    rowTag: await resolved('--row-tag', rowTag),
    root: await resolved('--root', root),
  });
}

function prefixIn(text: string | undefined): string | null {
  return text === undefined ? null : prefixOf(text);
}

/** The prefixes of the schema that the request names; none if the documents make their own. */
async function namespacesOfSchema({
  request,
  repeats,
  home,
  idOrg,
}: ToolSession): Promise<Readonly<Record<string, string>>> {
  const { catalog } = home.adapters;
  const idLschma = repeats?.idLschma ?? request.logicalId;
  const logical = idLschma === undefined ? null : await catalog.loadLogicalSchema(idOrg, { idLschma });
  const named = request.originId !== undefined && 'id' in request.originId ? request.originId.id : undefined;
  const idSch = logical?.idSch ?? named;
  const origin = idSch === undefined ? null : await catalog.loadOrigin(idOrg, idSch);
  return origin?.model.namespaces ?? {};
}

async function firstDeclared(session: ToolSession, inputs: InputSet, prefix: string): Promise<string | null> {
  for await (const member of inputs.members()) {
    const uri = await declaredIn(session, member, prefix).catch((error: unknown) => {
      // the reader of the document reports what is wrong with it
      if (error instanceof InputError) return null;
      throw error;
    });
    if (uri !== null) return uri;
  }
  return null;
}

const pieceBytes = 16_384;

async function declaredIn(
  { limits, kernels }: ToolSession,
  member: InputMember,
  prefix: string,
): Promise<string | null> {
  const names = createNameTable();
  const found: { uri: string | null } = { uri: null };
  const tokenizer = createFastXmlTokenizer(
    {
      names,
      limits,
      fileName: member.name,
      onBatch: (batch) => {
        const { events, count } = batch;
        for (let at = 0; at < count && found.uri === null; at += 1)
          if (
            (events[at * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE &&
            names.localName(events[at * RECORD_INTS + 1]!) === prefix
          )
            found.uri = rangeText(batch, at);
      },
    },
    kernels,
  );
  for await (const chunk of member.chunks('fleeting'))
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      tokenizer.write(chunk.subarray(at, Math.min(at + pieceBytes, chunk.length)));
      if (found.uri !== null) return found.uri;
    }
  tokenizer.end();
  return found.uri;
}
