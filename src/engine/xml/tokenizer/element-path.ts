/** Where in a document its reader is, for a message. */
import type { RawNames } from '../names/raw-names.ts';

/** of deeper elements, so many of the innermost are named */
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
