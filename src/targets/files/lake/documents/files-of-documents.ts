/** Which files of a table documents are looked for in. */
import { fileKeyName } from '../../../../engine/model/side-tables.ts';
import type { LakeFile } from '../table-format.ts';

export type FileChoice = (file: LakeFile) => boolean;

/** Files that may have rows of the documents, as far as the table tells. `keys`: decimal digits. */
export function filesOf(keys: readonly string[]): FileChoice {
  const sorted = BigInt64Array.from(keys, BigInt).toSorted();
  return ({ rangeOf }) => {
    const range = rangeOf(fileKeyName);
    if (range === null) return true;
    const [least, greatest] = range;
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle]! < least) from = middle + 1;
      else to = middle;
    }
    return from < sorted.length && sorted[from]! <= greatest;
  };
}
