/** The inputs of xml2er: an XSD among them is a schema and no document, unless the schema in use describes XSDs. */
import { statSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { isXsdName, xsdIsNoDocument } from '../../jobs/options/xsd-inputs.ts';
import { documentNames } from './document-names.ts';
import { openInputs, type InputOptions, type InputSet } from './list-files.ts';
import { sourceKey } from './members.ts';
import type { XsdSetFiles } from './xsd-files.ts';
import type { ToolSession } from '../session/tool-session.ts';

export interface DocumentChoice {
  /** XSDs are documents */
  readonly takesXsd: boolean;
  /** what the inputs hold of a schema, none of which is a document; null: nothing */
  readonly set: XsdSetFiles | null;
}

/** AppError `unprocessable_input`: an XSD is named beside the schema that an option names, or there is nothing but XSDs. */
export async function openDocuments(
  session: Pick<ToolSession, 'byHand' | 'archiveLimits' | 'log' | 'spool'>,
  paths: readonly string[],
  { takesXsd, set }: DocumentChoice,
): Promise<InputSet> {
  const links = session.byHand ? 'follow' : 'refuse';
  const accept = documentNames(takesXsd);
  const options = { nested: nestedNotice(session.log), spool: session.spool };
  if (takesXsd) return openInputs(paths, accept, session.archiveLimits, links, options);
  if (set !== null) return openBesideSet(session, paths, set, options);
  let wasReported = false;
  return openInputs(
    paths,
    (name) => {
      if (isXsdName(name) && !wasReported) {
        session.log(`${name}: XSD files among the inputs are no documents, and passed over`);
        wasReported = true;
      }
      return accept(name);
    },
    session.archiveLimits,
    links,
    {
      ...options,
      named: (input) => {
        if (isXsdName(input)) throw new AppError('unprocessable_input', xsdIsNoDocument(input));
      },
    },
  );
}

/** Says it of the first: without a word, documents would be missing. */
function nestedNotice(log: ToolSession['log']): (name: string) => void {
  let wasReported = false;
  return (name) => {
    if (wasReported) return;
    wasReported = true;
    log(`${name}: archives within an archive are not read; unpack the outer one and give its folder`);
  };
}

/** What of the inputs is no part of the XSD set that lies among them. */
async function openBesideSet(
  { byHand, archiveLimits }: Pick<ToolSession, 'byHand' | 'archiveLimits'>,
  paths: readonly string[],
  set: XsdSetFiles,
  options: InputOptions,
): Promise<InputSet> {
  const accept = documentNames(false);
  const links = byHand ? 'follow' : 'refuse';
  const rest: string[] = [];
  for (const path of paths) {
    if (isXsdName(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true) continue;
    // a folder of XSDs alone is no input without documents
    const holdsSome = path === '-' || (await hasFiles(path, accept));
    if (holdsSome) rest.push(path);
  }
  const only = new AppError('unprocessable_input', xsdIsNoDocument(paths.join(', ')));
  if (rest.length === 0) throw only;
  const inputs = await openInputs(rest, accept, archiveLimits, links, options);
  const members: InputSet['members'] = async function* () {
    for await (const member of inputs.members())
      if (!isXsdName(member.name) && !set.sources.has(sourceKey(member))) yield member;
  };
  for await (const _ of members()) return { ...inputs, members };
  await inputs.dispose();
  throw only;

  async function hasFiles(path: string, wanted: (name: string) => boolean): Promise<boolean> {
    try {
      return (await openInputs([path], wanted, archiveLimits, links, options)).fileCount > 0;
    } catch (error) {
      if (error instanceof AppError && error.code === 'input_not_found' && isThere(path)) return false;
      throw error;
    }
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
