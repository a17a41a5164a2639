/** Cuts inputs into documents: a file is one document, or with `--row-tag` each element of a name inside it. */
import {
  partText,
  type PartsOfFile,
  type PartsTaken,
  type Surroundings,
} from '../../engine/shred/row-tag/parts.ts';
import { createRowElements, type RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { NameTable, TextLocation, TokenBatch } from '../../engine/xml/tokens.ts';
import { AppError } from '../../errors.ts';
import type { Rejects } from './rejects.ts';
import type { DocumentRange, PlaceInDocument } from '../inputs/members.ts';

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
  ): PartsTaken | null;
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
    /** the document that is read goes on in another range */
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
