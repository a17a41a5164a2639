/** Documents that are left out with `--on-error skip`, and why. */
import type { InputError } from '../engine/diagnostics.ts';
import type { ConversionDetails } from './conversion.ts';

export interface Rejects {
  /** in the order of the inputs, with file, line and column */
  readonly messages: readonly string[];
  /** the same for the job record, which lists the first of them */
  readonly details: ConversionDetails['rejects'];
  /** `place`: of the document among the inputs, from 0 */
  has(place: number): boolean;
  add(place: number, error: InputError): void;
}

/** rejects that the job record lists one by one */
const maxDetails = 1000;

export function createRejects(log: (line: string) => void): Rejects {
  const places = new Set<number>();
  const messages: string[] = [];
  const details: ConversionDetails['rejects'][number][] = [];
  return {
    messages,
    details,
    has: (place) => places.has(place),
    add(place, error) {
      if (places.has(place)) return;
      places.add(place);
      messages.push(error.message);
      const { file = null, line = null, column = null, message } = error.diagnostic;
      if (details.length < maxDetails) details.push({ document: file, line, column, message });
      log(`rejected: ${error.message}`);
    },
  };
}
