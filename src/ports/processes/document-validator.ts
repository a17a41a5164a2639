/** Checks documents against an XSD set, by another program than the one that converts them (`--validate`). */
export interface ValidityFault {
  /** line, from 1, at which the faulty tag ends, in the given text */
  readonly line: number;
  /** path of the element from the root: the index, from 1, of a child element at each level; null if the program reports lines alone */
  readonly path: readonly number[] | null;
  /** message on one line */
  readonly message: string;
  /** local name, if the program reports it */
  readonly element: string | null;
  /** local name of the attribute at fault */
  readonly attribute: string | null;
}

export interface Validity {
  /** the first of them; none: the document is valid, or was not judged */
  readonly faults: readonly ValidityFault[];
  /** number of all faults */
  readonly count: number;
  /** reason and place if the program cannot judge the document; null: it has judged it */
  readonly unjudged: Unjudged | null;
}

export interface Unjudged {
  readonly reason: string;
  /** the program was ended because the time of the document was over */
  readonly isLate?: boolean;
  readonly location: Pick<ValidityFault, 'line' | 'path'> | null;
}

/** AppError `unprocessable_input` from each method: the program cannot use the XSD set, and therefore does not check documents. */
export interface DocumentValidator {
  /** name and version of the validator, for the log */
  readonly program: string;
  /** longest text value of `check`'s documents that it takes a bearable time for; Infinity: any */
  readonly maxTextBytes: number;
  /** Checks small well-formed documents together; returns the answers in their order. `withinMs`: time for each, if less than usual. */
  checkAll(documents: readonly Uint8Array[], withinMs?: number): Promise<readonly Validity[]>;
  /** Checks one document of any size as a stream. Rethrows an error of `chunks`. */
  check(chunks: AsyncIterable<Uint8Array>): Promise<Validity>;
  /** Removes the files that were written for the program. */
  close(): Promise<void>;
}
