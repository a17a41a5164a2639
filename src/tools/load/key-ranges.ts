/** Ranges of row keys for units of documents that are loaded apart from each other, so that none waits for the one before it. */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';

/** Keys in sequence that a unit may give out, in any table. */
export interface KeyRange {
  /** rows and documents are numbered above these */
  readonly key: number;
  readonly document: number;
  /** no row may have a key beyond */
  readonly lastKey: number;
}

/** The documents of a unit, as far as its keys follow from them. */
export interface NumberedDocuments {
  /** index of the first one among the inputs */
  readonly firstIndex: number;
  /** bytes on disk, of all of them and of those that were left out since the previous unit */
  readonly bytes: number;
  /** nobody knows how many rows they have before they are read */
  readonly packed: boolean;
}

/** Keys of a unit whose bytes are packed. */
const packedRange = 2 ** 32;
/** Least size of a range: a document has fewer rows than bytes, except the smallest ones. */
const fewRows = 1024;

/** Units one after the other: a range is as wide as its unit has bytes, so that keys ascend with the documents, and leave gaps. */
export class KeyRanges {
  readonly #hasParts: boolean;
  readonly #firstDocument: number;
  readonly #tooMany: string;
  #key: number;

  /** `keyOffsets`: of rows that the target holds; `hasParts`: `--row-tag`; `tooMany`: of documents that cannot be numbered. */
  constructor(keyOffsets: ReadonlyMap<string, number>, hasParts: boolean, tooMany: string) {
    // keys of the target may reach this far in any table
    this.#key = Math.max(0, ...keyOffsets.values());
    this.#firstDocument = keyOffsets.get(sideTableNames.documents) ?? 0;
    this.#hasParts = hasParts;
    this.#tooMany = tooMany;
  }

  /** AppError `unprocessable_input`: there are more keys than numbers. */
  next({ firstIndex, bytes, packed }: NumberedDocuments): KeyRange {
    const key = this.#key;
    const lastKey = key + (packed ? packedRange : bytes + fewRows);
    if (!Number.isSafeInteger(lastKey)) throw new AppError('unprocessable_input', this.#tooMany);
    this.#key = lastKey;
    return { key, document: this.#hasParts ? key : this.#firstDocument + firstIndex, lastKey };
  }
}

/**
 * AppError `unprocessable_input`: entities of a document's own DTD have made more rows than it has bytes. `path`: path of the unit's
 * first document; `advice`: what to do.
 */
export function checkLastKeys(
  lastKeys: ReadonlyMap<string, number>,
  { lastKey }: KeyRange,
  path: string,
  advice: string,
): void {
  for (const key of lastKeys.values())
    if (key > lastKey)
      throw new AppError(
        'unprocessable_input',
        `${path}: it, or a document after it, has more rows than bytes; ${advice}`,
      );
}
