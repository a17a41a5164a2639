/**
 * Rows to documents (docs/decisions/loading/nothing-lost.md): walks the mapping plan with the rows and writes what they came from. Memory: the rows on the
 * path to the present element, and for each table the rows of the block that its next row lies in.
 */
import { InputError } from '../diagnostics.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { DocumentRows } from './rows/document-rows.ts';
import { childAtHead, keyOf, type ChildAtHead } from './rows/children.ts';
import { ElementWalk } from './element-walk.ts';
import { RowReader } from './rows/reader.ts';
import { createWritingPlan, type WritingPlan } from './writing-plan.ts';
import { XmlOutput, type ByteConsumer } from './xml-output.ts';

export interface DocumentWriter {
  /** Whether the next rows hold this document: false where it was loaded by another model. */
  has(documentKey: string): Promise<boolean>;
  /**
   * Writes the document of that key; `rows` are to stand at its first row, or at rows of documents before it that have been written.
   * Answers its size in bytes. InputError `missing_rows` or `unplaced_rows` where the rows do not make up a document.
   */
  write(documentKey: string, consume: ByteConsumer): Promise<number>;
  /** rows taken so far, by table of the model */
  readonly rowCounts: Float64Array;
}

export function createDocumentWriter(model: RelationalModel, rows: DocumentRows): DocumentWriter {
  const plan = createWritingPlan(model);
  const reader = new RowReader(model, rows);
  const out = new XmlOutput();
  const walk = new ElementWalk(plan, reader, out);
  const has = async (documentKey: string): Promise<boolean> =>
    (await findRoot(plan, reader, documentKey)) !== null ||
    (await reader.wholeDocument(documentKey)) !== null;
  return {
    get rowCounts() {
      return reader.rowCounts;
    },
    has,
    async write(documentKey, consume) {
      if (!(await has(documentKey))) throw missingRoot(documentKey);
      out.begin(consume);
      out.markup('<?xml version="1.0" encoding="UTF-8"?>\n');
      const root = await findRoot(plan, reader, documentKey);
      if (root === null) out.markup((await reader.takeWhole(documentKey))!);
      else await walk.root(root);
      out.markup('\n');
      await out.flush();
      reader.checkAllTaken(documentKey);
      return out.bytes;
    },
  };
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
