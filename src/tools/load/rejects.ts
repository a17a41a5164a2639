/** Documents that are left out with `--on-error skip`, or end a job, and why. */
import type { InputError } from '../../engine/diagnostics.ts';
import type { ConversionDetails } from '../reports/conversion-result.ts';

export interface Rejects {
  /** messages in the order of the inputs, with file, line and column */
  readonly messages: readonly string[];
  /** number of rejects with a root element that the schema does not have */
  readonly unknownRoots: number;
  /** the same for the job record, which lists the first of them */
  readonly details: ConversionDetails['rejects'];
  /** `inputIndex`: of the document among the inputs, from 0 */
  has(inputIndex: number): boolean;
  add(inputIndex: number, error: InputError): Promise<void>;
  /** Lists a file that is no document, which is not counted among the rejects. */
  list(document: string, message: string): void;
  /** Counts the document that ends the job; returns the error to report. */
  fatal(error: InputError): Promise<InputError>;
}

/** rejects that the job record lists one by one */
const maxDetails = 1000;

/** `explain`: adds advice to an error. */
export function createRejects(
  log: (line: string) => void,
  explain: (error: InputError) => Promise<InputError> = (error) => Promise.resolve(error),
): Rejects {
  const inputIndexes = new Set<number>();
  const messages: string[] = [];
  const details: ConversionDetails['rejects'][number][] = [];
  let unknownRoots = 0;
  const keep = ({ message: whole, diagnostic }: InputError): void => {
    const { code, file = null, line = null, column = null, message } = diagnostic;
    messages.push(whole);
    if (code === unknownRootCode) unknownRoots += 1;
    if (details.length < maxDetails) details.push({ document: file, line, column, code, message });
  };
  return {
    messages,
    details,
    get unknownRoots() {
      return unknownRoots;
    },
    has: (inputIndex) => inputIndexes.has(inputIndex),
    async add(inputIndex, error) {
      if (inputIndexes.has(inputIndex)) return;
      inputIndexes.add(inputIndex);
      const explained = await explain(error);
      keep(explained);
      log(`rejected: ${explained.message}`);
    },
    list(document, message) {
      if (details.length < maxDetails)
        details.push({ document, line: null, column: null, code: noDocumentCode, message });
    },
    async fatal(error) {
      const explained = await explain(error);
      keep(explained);
      return explained;
    },
  };
}

const unknownRootCode = 'unknown_root';
const noDocumentCode = 'no_document';
