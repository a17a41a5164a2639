/** The answer to a question by libxml2's XPath alone, which knows nothing of our tables. */
import { XmlDocument, type XmlNode } from 'libxml2-wasm';
import type { Question, Standard, Value } from './kinds.ts';

/** Values of one row, in the order of the columns; null where the document has none. */
export type AnswerRow = readonly (string | null)[];

/** Rows of all documents. */
export function truthOf(
  question: Question,
  { namespaces }: Pick<Standard, 'namespaces'>,
  documents: readonly Uint8Array[],
): AnswerRow[] {
  return documents.flatMap((bytes) => {
    using document = XmlDocument.fromBuffer(bytes);
    const root = document.root;
    return root
      .find(question.rows, namespaces)
      .map((row) => Object.values(question.columns).map((value) => valueAt(row, value, root, namespaces)));
  });
}

function valueAt(
  row: XmlNode,
  value: Value,
  root: XmlNode,
  namespaces: Standard['namespaces'],
): string | null {
  if (typeof value === 'string') return textOf(row, value, namespaces);
  const key = textOf(row, value.key, namespaces);
  if (key === null) return null;
  const meant = root.find(value.among, namespaces).find((one) => textOf(one, value.by, namespaces) === key);
  return meant === undefined ? null : textOf(meant, value.take, namespaces);
}

/** Of elements the first; null where there is none. */
function textOf(node: XmlNode, xpath: string, namespaces: Standard['namespaces']): string | null {
  const found = node.eval(xpath, namespaces);
  if (!Array.isArray(found)) return String(found);
  return found[0]?.content ?? null;
}
