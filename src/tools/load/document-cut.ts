/** Cuts inputs into documents: a file is one document, or with `--row-tag` each element of a name inside it. */
import {
  partText,
  type PartsOfFile,
  type PartProgress,
  type Surroundings,
} from '../../engine/shred/row-tag/parts.ts';
import { createRowElements, type RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { NameTable, TextLocation, TokenBatch } from '../../engine/xml/tokens.ts';
import { AppError } from '../../errors.ts';
import type { Rejects } from './findings.ts';
import type { DocumentRange, PlaceInDocument } from '../../inputs/members.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';

export interface DocumentConsumer {
  /**
   * `number`: of the document in its file, from 1; null if the file is the document. `within`: the document continues, surrounded by
   * the tags of the elements that are open before and after it.
   */
  begin(file: string, number: number | null, inherited?: Surroundings, within?: PlaceInDocument): void;
  /** Parts of a file from the one with this number on, as many as can be handled at once (src/engine/shred/row-tag/elements.ts). */
  take?(
    batch: TokenBatch,
    at: number,
    part: Pick<PartsOfFile, 'name' | 'number' | 'inherited'>,
  ): PartProgress | null;
  /** `first`: index of the first record that was not consumed; 0 by default */
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation, first?: number): void;
  /** `bytes`: of the document */
  end(bytes: number): void;
}

export interface DocumentCut {
  /** documents that ended */
  readonly count: number;
  /** attributes and runs of text between row elements */
  readonly outside: number;
  /** `range`: the part of the file that is read, if not all of it; `leftOut`: numbers of documents in it that are skipped */
  beginFile(
    name: string,
    range?: Pick<DocumentRange, 'number' | 'attributes' | 'within'>,
    leftOut?: readonly number[],
  ): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** `bytes`: of the file */
  endFile(bytes: number): void;
}

/** `rowTag`: null: a file is a document. */
export function createDocumentCut(
  rowTag: RowElementName | null,
  names: NameTable,
  consumer: DocumentConsumer,
): DocumentCut {
  let file = '';
  let number = 0;
  let count = 0;
  /** attributes of the elements around that another range has counted */
  let counted = 0;
  if (rowTag === null) {
    /** the current document continues in another range */
    let goesOn = false;
    return {
      get count() {
        return count;
      },
      outside: 0,
      beginFile: (name, range) => {
        goesOn = range?.within?.isLast === false;
        consumer.begin(name, null, undefined, range?.within);
      },
      consume: (batch, locate) => consumer.consume(batch, locate),
      endFile: (bytes) => {
        if (!goesOn) count += 1;
        consumer.end(bytes);
      },
    };
  }
  let left: ReadonlySet<number> | null = null;
  let isLeftOut = false;
  const rows = createRowElements(rowTag, names, {
    begin: (inherited) => {
      number += 1;
      isLeftOut = left?.has(number) === true;
      if (!isLeftOut) consumer.begin(file, number, inherited);
    },
    take: (batch, at, inherited) => {
      if (left !== null) return null;
      const taken = consumer.take?.(batch, at, { name: file, number: number + 1, inherited }) ?? null;
      if (taken === null) return null;
      number += taken.ended + (taken.depth > 0 ? 1 : 0);
      count += taken.ended;
      isLeftOut = false;
      return taken;
    },
    consume: (batch, locate, first) => {
      if (!isLeftOut) consumer.consume(batch, locate, first);
    },
    end: (bytes) => {
      if (isLeftOut) return;
      count += 1;
      consumer.end(bytes);
    },
  });
  return {
    get count() {
      return count;
    },
    get outside() {
      return rows.outside - counted;
    },
    beginFile: (name, range, leftOut) => {
      file = name;
      left = leftOut === undefined ? null : new Set(leftOut);
      number = (range?.number ?? 1) - 1;
      counted += range?.attributes ?? 0;
      rows.begin();
    },
    consume: (batch, locate) => rows.consume(batch, locate),
    endFile: () => undefined,
  };
}

/** Name of a document, under which `er2xml` writes it back. */
export function documentName(file: string, number: number | null): string {
  return number === null ? file : partText(file, number);
}

function noDocuments(rowTag: string | undefined): AppError {
  return rowTag === undefined
    ? new AppError('input_not_found', 'the input holds no document (*.xml)')
    : new AppError('input_not_found', `--row-tag ${rowTag}: the input holds no such element`);
}

/** The error if no document is left to load: there was none, or all were rejected. */
export function noDocumentsLeft(rejects: Rejects, rowTag: string | undefined): AppError {
  const [first] = rejects.messages;
  return first === undefined
    ? noDocuments(rowTag)
    : new AppError('unprocessable_input', `every document was rejected; the first: ${first}`);
}

// Ranges of row keys for units of documents that are loaded apart from each other, so that none waits for the one before it.

/** Keys in sequence that a unit may give out, in any table. */
export interface KeyRange {
  /** rows and documents are numbered above these */
  readonly key: number;
  readonly document: number;
  /** no row may have a key beyond */
  readonly lastKey: number;
}

/** The documents of a unit, as far as its keys follow from them. */
interface NumberedDocuments {
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
