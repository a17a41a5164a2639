/**
 * er2xml: converts rows back to documents, each a file of the output folder under its name when it was loaded. A target may hold
 * documents of several versions of a schema: unless `-l` names one logical schema, each is written by one that knows all of its
 * content.
 */
import { resolve } from 'node:path';
import { originFamily } from '../../service/catalog/logical-schema.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { AppError } from '../../errors.ts';
import { saveModeLetters } from '../../service/jobs/option-table.ts';
import { parseTarget } from '../../service/jobs/request/target.ts';
import type { RowSource } from '../../ports/row-source.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import { noDetails, nothingKept, type Conversion } from '../reports/conversion-result.ts';
import { namedLogicalSchema, type ChosenSchema } from '../schemas/logical-schema.ts';
import { settleNames } from '../schemas/choice.ts';
import { isEmptyRemoteFolder, isRemote, localFolder, uploadFolder } from '../session/remote-sources.ts';
import { findByHash } from '../schemas/store-origin.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { openSource } from '../targets/kinds.ts';
import { createDocumentFolder, isEmptyFolder, type DocumentFolder } from './output-files.ts';
import { writeDocumentsOf, type WriteBackCounts } from './schema-documents.ts';

export async function convertBack(given: ToolSession): Promise<Conversion> {
  const session = await settleNames(given);
  const { request } = session;
  if (request.saveMode === 'write-schema' || request.saveMode === 'print-schema') {
    throw new AppError(
      'invalid_option',
      `-S ${saveModeLetters[request.saveMode]}: er2xml accepts e, a, o and i`,
    );
  }
  const directory = await outputDirectory(session);
  const source = await openSource(session);
  try {
    const chosen = await namedLogicalSchema(session, () => source.loads());
    const logical = chosen.stored;
    await session.report({ idSch: logical.idSch, idLschma: logical.idLschma });
    session.choose({ logical: logical.idLschma, why: chosen.why }, logical.model);
    session.log(`logical schema ${logical.idLschma}: ${chosen.why}`);
    session.steps.begin('write');
    await source.open(logical.model);
    await session.report({ outputPath: directory });
    if (request.saveMode === 'ignore' && !(await isEmpty(session, directory))) {
      session.log('the folder is not empty: nothing was written (-S i)');
      return conversionOf(chosen, []);
    }
    if (!isRemote(directory)) return await writeAll(session, chosen, source, directory);
    const here = localFolder(session, 'out');
    const conversion = await writeAll(session, chosen, source, here);
    await uploadFolder(session, here, directory, request.saveMode === 'error' ? 'refuse' : 'replace');
    return conversion;
  } finally {
    await source.close();
  }
}

async function outputDirectory(session: ToolSession): Promise<string> {
  const target = parseTarget(session.request.out!);
  if ('fault' in target || target.kind !== 'folder') {
    throw new AppError('invalid_option', '-o: er2xml writes documents into a folder');
  }
  return session.byHand ? resolve(target.path) : session.resolvePath(target.path, false);
}

function isEmpty(session: ToolSession, directory: string): Promise<boolean> {
  return isRemote(directory) ? isEmptyRemoteFolder(session, directory) : isEmptyFolder(directory);
}

/** `source`: open for the chosen schema; it is closed before another one is opened. */
async function writeAll(
  session: ToolSession,
  chosen: ChosenSchema,
  source: RowSource,
  directory: string,
): Promise<Conversion> {
  const folder = outputFolder(session, directory);
  const written: WriteBackCounts[] = [];
  try {
    const first = await writeDocumentsOf(session, {
      logical: chosen.stored,
      source,
      folder,
      before: [],
    });
    written.push(first);
    await source.close();
    for (const logical of await furtherSchemas(session, chosen.stored, first.others)) {
      const count = first.others.get(logical.modelHash)!;
      session.log(`logical schema ${logical.idLschma}, of origin ${logical.idSch}: it loaded ${count} more`);
      written.push(await writeFurther(session, logical, folder, written));
      first.others.delete(logical.modelHash);
    }
  } catch (error) {
    // the documents before it are whole
    await folder.close().catch(() => undefined);
    throw error;
  }
  await folder.close();
  const conversion = conversionOf(chosen, written);
  await tellOthers(session, conversion, written[0]!.others);
  const unsure = written.reduce((sum, each) => sum + each.unsure, 0);
  if (unsure > 0)
    session.log(
      `documents loaded by logical schemas that are not in this metadata database: ${unsure}; they are written without the content that only those schemas have columns for`,
    );
  return conversion;
}

function outputFolder(session: ToolSession, directory: string): DocumentFolder {
  const { request } = session;
  const own = session.byHand || !session.home.adapters.files.local;
  return createDocumentFolder({
    directory,
    label: request.out!,
    existing: request.saveMode === 'error' ? 'refuse' : 'replace',
    resolvePath: (path) => (own ? Promise.resolve(path) : session.resolvePath(path, false)),
    links: own ? 'follow' : 'refuse',
  });
}

/** Returns the other schemas of the same family that loaded documents of which the chosen schema does not know all content. */
async function furtherSchemas(
  session: ToolSession,
  chosen: StoredLogicalSchema,
  others: WriteBackCounts['others'],
): Promise<readonly StoredLogicalSchema[]> {
  const { request, home, idOrg } = session;
  if (request.logicalId !== undefined || others.size === 0) return [];
  const { catalog } = home.adapters;
  const versions = new Set(
    (await originFamily(catalog, idOrg, chosen.idSch)).map(({ id_sch: idSch }) => idSch),
  );
  const found: StoredLogicalSchema[] = [];
  for (const same of (await findByHash(session, [...others.keys()])).values()) {
    const own = same.find(({ idSch }) => versions.has(idSch));
    const logical = own && (await catalog.loadLogicalSchema(idOrg, { idLschma: own.idLschma }));
    if (logical != null) found.push(logical);
  }
  return found.toSorted((a, b) => a.idLschma - b.idLschma);
}

async function writeFurther(
  session: ToolSession,
  logical: StoredLogicalSchema,
  folder: DocumentFolder,
  before: readonly WriteBackCounts[],
): Promise<WriteBackCounts> {
  const source = await openSource(session);
  try {
    await source.open(logical.model);
    return await writeDocumentsOf(session, { logical, source, folder, before });
  } finally {
    await source.close();
  }
}

/** Reports documents that are left in the target. AppError `unprocessable_input` if none was written. */
async function tellOthers(
  session: ToolSession,
  { logical, documents }: Conversion,
  others: WriteBackCounts['others'],
): Promise<void> {
  if (others.size === 0) return;
  const known = await findByHash(session, [...others.keys()]);
  const lines = [...others].map(([modelHash, count]) => {
    const idLschma = known.get(modelHash ?? '')?.[0]?.idLschma;
    return idLschma === undefined
      ? `documents without rows of logical schema ${logical}: ${count}`
      : `documents loaded by logical schema ${idLschma}, of which ${logical} does not have all columns: ${count}; -l ${idLschma} writes them`;
  });
  if (documents === 0) throw new AppError('unprocessable_input', `nothing to write: ${lines.join('; ')}`);
  for (const line of lines) session.log(line);
}

function conversionOf({ stored, why }: ChosenSchema, written: readonly WriteBackCounts[]): Conversion {
  const tables = new Map<string, number>();
  for (const { rows } of written)
    for (const [table, count] of rows) tables.set(table, (tables.get(table) ?? 0) + count);
  const rejects = written.flatMap((each) => each.rejects);
  const sum = (of: 'documents' | 'bytes'): number => written.reduce((total, each) => total + each[of], 0);
  return {
    origin: stored.idSch,
    logical: stored.idLschma,
    chosen: { logical: stored.idLschma, why },
    documents: sum('documents'),
    does: null,
    rejected: rejects.length,
    unknownRoots: 0,
    kept: nothingKept,
    tables: Object.fromEntries(tables),
    mapped: factsOf(stored.model).mappedPaths,
    unknown: 0,
    bytes: sum('bytes'),
    details: { ...noDetails, rejects },
  };
}
