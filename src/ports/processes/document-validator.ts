/** Checks documents against an XSD set, by another program than the one that converts them (`--validate`). */
export interface ValidityFault {
  /** from 1, where the faulty tag ends: of the text that was given */
  readonly line: number;
  /** the element, from the root: each time which child element of the one before it, from 1; null where the program tells lines alone */
  readonly path: readonly number[] | null;
  /** on one line */
  readonly message: string;
  /** local name, where the program tells it */
  readonly element: string | null;
  /** local name of the attribute at fault */
  readonly attribute: string | null;
}

export interface Validity {
  /** the first of them; none: the document is valid, or was not judged */
  readonly faults: readonly ValidityFault[];
  /** how many there are */
  readonly count: number;
  /** why the program cannot judge the document, and where that was; null: it has */
  readonly unjudged: Unjudged | null;
}

export interface Unjudged {
  readonly reason: string;
  /** the program was ended because the time of the document was over */
  readonly isLate?: boolean;
  readonly location: Pick<ValidityFault, 'line' | 'path'> | null;
}

/** AppError `unprocessable_input` from each: the program cannot make use of the XSD set, and so tells nothing of documents. */
export interface DocumentValidator {
  /** name and version of the validator, for the log */
  readonly program: string;
  /** longest text value of `check`'s documents that it takes a bearable time for; Infinity: any */
  readonly maxTextBytes: number;
  /** Small well-formed documents, checked together; the answers in their order. `withinMs`: time for each, if less than usual. */
  checkAll(documents: readonly Uint8Array[], withinMs?: number): Promise<readonly Validity[]>;
  /** One document of any size, as it comes. An error that `chunks` throws is thrown. */
  check(chunks: AsyncIterable<Uint8Array>): Promise<Validity>;
  /** Removes what was written for the program. */
  close(): Promise<void>;
}
