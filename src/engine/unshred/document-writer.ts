/**
 * Writes rows back to documents (docs/decisions/loading/nothing-lost.md): walks the mapping plan with the rows and writes their source.
 * Memory: the rows on the path to the present element, and for each table the block of its next row.
 */
import { InputError } from '../diagnostics.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { DocumentRows } from './rows/document-rows.ts';
import { childAtHead, keyOf, type ChildAtHead } from './rows/children.ts';
import { createElementsKernel } from './kernel/instance.ts';
import { ElementWalk } from './element-walk.ts';
import { RowReader, type Strays } from './rows/reader.ts';
import { createWritingPlan, type WritingPlan } from './writing-plan.ts';
import { XmlOutput, type ByteConsumer } from './xml-output.ts';

export interface DocumentWriter {
  /** Returns true if the next rows include this document, and false if another model loaded it. */
  has(documentKey: string): Promise<boolean>;
  /**
   * Writes the document of that key. `rows` must be at its first row, or at rows of earlier documents that have been written. Returns its
   * size in bytes. Throws InputError `missing_rows` or `unplaced_rows` if the rows do not make up a document.
   */
  write(documentKey: string, consume: ByteConsumer): Promise<number>;
  /** Keys of documents, this one or earlier ones, with rows that came too late: `writeLateDocument` writes these documents. */
  readonly late: ReadonlySet<string>;
  /** rows read so far, by table of the model */
  readonly rowCounts: Float64Array;
}

export interface DocumentWriterOptions {
  /**
   * The number of elements with rows after which WebAssembly writes the common cases (default 512: before, creating the kernel costs more
   * than it saves). Infinity: only TypeScript is used. The documents are the same.
   */
  readonly kernelAfter?: number;
}

export interface LateDocument {
  /** its size */
  readonly bytes: number;
  /** size of the document as `write` wrote it, without the rows stored elsewhere */
  readonly bytesBefore: number;
}

const usualElements = 512;
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

export function createDocumentWriter(
  model: RelationalModel,
  rows: DocumentRows,
  { kernelAfter = usualElements }: DocumentWriterOptions = {},
): DocumentWriter {
  const plan = createWritingPlan(model);
  const reader = new RowReader(model, rows);
  const out = new XmlOutput(plan.namespaces.content);
  const walk = new ElementWalk(plan, reader, out);
  reader.giveBackBlocks((cells) => walk.isOpen(cells));
  if (kernelAfter !== Infinity) reader.useKernel(() => createElementsKernel(plan), kernelAfter);
  const late = new Set<string>();
  const has = async (documentKey: string): Promise<boolean> =>
    (await findRoot(plan, reader, documentKey)) !== null ||
    (await reader.wholeDocument(documentKey)) !== null;
  return {
    late,
    get rowCounts() {
      return reader.rowCounts;
    },
    has,
    async write(documentKey, consume) {
      if (!(await has(documentKey))) throw missingRoot(documentKey);
      out.begin(consume);
      out.markup(declaration);
      const root = await findRoot(plan, reader, documentKey);
      let fault: unknown = null;
      if (root === null) out.markup((await reader.takeWhole(documentKey))!);
      // the rows that must follow a row may be elsewhere
      else await walk.root(root).catch((error: unknown) => (fault = error));
      if (fault !== null && !(fault instanceof InputError)) throw fault;
      out.markup('\n');
      await out.flush();
      const left = await reader.leaveBehind(documentKey, late);
      if (fault !== null && !late.has(documentKey)) throw fault;
      if (left !== null) throw left;
      return out.bytes;
    },
  };
}

/**
 * Writes a document with rows that others have added or changed, wherever they are stored; `rowsOf`: returns only the document's rows,
 * again for each call. Throws the same InputErrors as `write`. Memory: as for `DocumentWriter`, and these rows.
 */
export async function writeLateDocument(
  model: RelationalModel,
  rowsOf: () => Promise<DocumentRows>,
  documentKey: string,
  consume: ByteConsumer,
): Promise<LateDocument> {
  const plan = createWritingPlan(model);
  const { strays, bytes: bytesBefore } = await straysOf(
    plan,
    new RowReader(model, await rowsOf()),
    documentKey,
  );
  const reader = new RowReader(model, await rowsOf(), strays);
  const root = await findRoot(plan, reader, documentKey);
  if (root === null) throw missingRoot(documentKey);
  const out = new XmlOutput(plan.namespaces.content);
  out.begin(consume);
  out.markup(declaration);
  await new ElementWalk(plan, reader, out).root(root);
  out.markup('\n');
  await out.flush();
  strays.checkAllTaken(model);
  return { bytes: out.bytes, bytesBefore };
}

/** Returns the rows that have no place when the rows are read in their order. */
async function straysOf(
  plan: WritingPlan,
  reader: RowReader,
  documentKey: string,
): Promise<{ readonly strays: Strays; readonly bytes: number }> {
  const root = await findRoot(plan, reader, documentKey);
  if (root === null) throw missingRoot(documentKey);
  const out = new XmlOutput(plan.namespaces.content);
  out.begin(() => undefined);
  out.markup(declaration);
  try {
    await new ElementWalk(plan, reader, out).root(root);
  } catch (error) {
    // a row that must follow another one may be among the rows stored elsewhere
    if (!(error instanceof InputError)) throw error;
  }
  out.markup('\n');
  await out.flush();
  return { strays: await reader.takeStrays(), bytes: out.bytes };
}

async function findRoot(
  plan: WritingPlan,
  reader: RowReader,
  documentKey: string,
): Promise<ChildAtHead | null> {
  const key = keyOf(documentKey);
  for (const group of plan.roots) {
    const wait = reader.open([group.table]);
    if (wait !== undefined) await wait;
    const child = childAtHead(reader, group, key, null);
    if (child !== null) return { group, child };
  }
  return null;
}

function missingRoot(documentKey: string): InputError {
  return new InputError({
    code: 'missing_rows',
    severity: 'error',
    message: `document ${documentKey} has no row for its root element`,
  });
}
