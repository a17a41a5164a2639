/** The path of the open elements at the reader's position in a document, for a message. */
import type { RawNames } from '../names/raw-names.ts';

/** the most steps of a path; only this many of the innermost elements are named */
const most = 12;

/**
 * The open elements as the document writes their names, such as `/orders/order/id`; undefined outside of the root element.
 * `stack`: name ids, from 1 to `depth`
 */
export function openElementPath(
  { interner }: RawNames,
  stack: Int32Array,
  depth: number,
): string | undefined {
  if (depth === 0) return undefined;
  const first = Math.max(1, depth - most + 1);
  const names = [...stack.subarray(first, depth + 1)].map((name) => interner.text(name));
  return `${first > 1 ? '…/' : '/'}${names.join('/')}`;
}
