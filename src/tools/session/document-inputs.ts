/** The inputs of xml2er: an XSD among them is a schema and no document, unless the schema in use describes XSDs. */
import { statSync } from 'node:fs';
import { InputError } from '../../engine/diagnostics.ts';
import { AppError } from '../../errors.ts';
import { isXsdName, xsdIsNoDocument } from '../../service/jobs/xsd-inputs.ts';
import { counted } from '../reports/summary.ts';
import { documentTest } from '../../inputs/document-names.ts';
import {
  namedExamples,
  openFiles,
  openInputs,
  type InputOptions,
  type InputSet,
  type InputsSeen,
} from '../../inputs/list-files.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import type { NamedFile } from './watched-files.ts';
import type { ToolSession } from './tool-session.ts';

export interface DocumentChoice {
  /** XSDs are documents */
  readonly takesXsd: boolean;
  /** the XSD set in use, whose files are no documents; null: none */
  readonly set: XsdSetFiles | null;
  /** the set was found among the inputs */
  readonly isAmong: boolean;
}

type Opening = Pick<ToolSession, 'byHand' | 'archiveLimits' | 'log' | 'spool' | 'fetchedAlone'>;

/**
 * AppError `unprocessable_input`: an XSD is named beside the schema that an option names, or there are only XSDs; `input_not_found`:
 * there is no document.
 */
export async function openDocuments(
  session: Opening,
  paths: readonly string[],
  { takesXsd, set, isAmong }: DocumentChoice,
): Promise<InputSet> {
  const links = session.byHand ? 'follow' : 'refuse';
  const test = documentTest(takesXsd);
  const walked = (seen: InputsSeen): void => {
    for (const line of passedOverLines(seen)) session.log(line);
  };
  const except = takesXsd ? undefined : set?.sources;
  const open = (some: readonly string[], options: InputOptions = {}): Promise<InputSet> =>
    openInputs(some, test, session.archiveLimits, links, {
      ...options,
      refused: refusedNotice(session.log),
      spool: session.spool,
      fetchedAlone: session.fetchedAlone,
      ...(except === undefined ? {} : { except }),
    });
  if (set !== null && isAmong) return openBesideSet(paths, (some) => open(some, { walked }));
  const inputs = await open(paths, {
    walked,
    named: (input) => {
      if (!takesXsd && isXsdName(input)) throw new AppError('unprocessable_input', xsdIsNoDocument(input));
    },
  });
  await requireSome(inputs, paths);
  return inputs;
}

/** so many parts of documents are named that are not read */
const namedParts = 20;

/** Returns a function that logs each external reference that is not read, once. */
export function refusedNotice(log: ToolSession['log']): NonNullable<InputOptions['refused']> {
  const told = new Set<string>();
  return (document, name, why) => {
    if (told.size >= namedParts || told.has(name)) return;
    told.add(name);
    log(
      `${document}: ${name} is not read: ${why}; its declarations, such as defaults of attributes, are missing`,
    );
  };
}

/** Returns the log lines that name the files passed over. */
export function passedOverLines({ skipped, examples: all }: InputsSeen): string[] {
  if (skipped === 0) return [];
  const examples = all.slice(0, namedExamples);
  const more = skipped - examples.length;
  return [
    `skipped ${counted(skipped, 'file')} among the inputs:`,
    ...examples.map(({ name, why }) => `  ${name}: ${why}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/**
 * Opens the files of a watch. Each file that is not a document is listed among the rejects, which determine its state. InputError if
 * none is a document.
 */
export async function openWatched(
  session: Opening & Pick<ToolSession, 'rejects'>,
  files: readonly NamedFile[],
  takesXsd: boolean,
): Promise<InputSet> {
  const { log, rejects, archiveLimits, spool, fetchedAlone } = session;
  const list = ({ examples }: InputsSeen): void => {
    for (const { name, why } of examples) rejects.list(name, why);
  };
  const inputs = await openFiles(files, documentTest(takesXsd), archiveLimits, spool, {
    refused: refusedNotice(log),
    fetchedAlone,
    walked: (seen) => {
      for (const line of passedOverLines(seen)) log(line);
      list(seen);
    },
  });
  if (files.length === 0) return inputs;
  for await (const _ of inputs.members()) return inputs;
  const [first] = inputs.seen().examples;
  if (first === undefined) return inputs;
  throw new InputError({ code: 'no_document', severity: 'error', message: first.why, file: first.name });
}

/** A first document is looked for, no further. AppError `input_not_found`. */
async function requireSome(inputs: InputSet, paths: readonly string[]): Promise<void> {
  for await (const _ of inputs.members()) return;
  const { skipped, examples } = inputs.seen();
  await inputs.dispose();
  const what =
    skipped === 0
      ? ''
      : `; skipped: ${examples
          .slice(0, 5)
          .map(({ name, why }) => `${name} (${why})`)
          .join(', ')}${skipped > 5 ? ` and ${skipped - 5} more` : ''}`;
  throw new AppError(
    'input_not_found',
    `${paths.join(', ')}: there is no document in it, which is a file whose content begins as XML does${what}`,
  );
}

/** Opens the inputs that are not part of the XSD set among them. */
async function openBesideSet(
  paths: readonly string[],
  open: (paths: readonly string[]) => Promise<InputSet>,
): Promise<InputSet> {
  const rest: string[] = [];
  for (const path of paths) {
    if (isXsdName(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true) continue;
    // a folder of XSDs alone is no input without documents
    const holdsSome = path === '-' || (await holdsDocument(path));
    if (holdsSome) rest.push(path);
  }
  const only = new AppError('unprocessable_input', xsdIsNoDocument(paths.join(', ')));
  if (rest.length === 0) throw only;
  const documents = await open(rest);
  for await (const _ of documents.members()) return documents;
  await documents.dispose();
  throw only;

  async function holdsDocument(path: string): Promise<boolean> {
    try {
      for await (const _ of (await open([path])).members()) return true;
      return false;
    } catch (error) {
      if (error instanceof AppError && error.code === 'input_not_found' && isPresent(path)) return false;
      throw error;
    }
  }
}

function isPresent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
