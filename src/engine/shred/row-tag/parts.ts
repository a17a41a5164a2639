/** Documents that are parts of a larger one, and are read one after the other. */

/** Namespaces declared around a part, by prefix, '' for the default one. */
export interface Surroundings extends ReadonlyMap<string, string> {
  /** xml:space is `preserve` around it */
  readonly preservesSpace?: boolean;
}

/** The properties that all parts of one call share. */
export interface PartsOfFile {
  /** number of the next one in the larger document, from 1 */
  readonly number: number;
  /** name of the larger document; `partText` makes the part's name from it */
  readonly name: string;
  /** SHA-256 of the larger document (hex), from which keys follow; null: keys in sequence */
  readonly sha256: string | null;
  readonly inherited: Surroundings;
  /** ISO 8601 */
  readonly loadedAt: string;
}

/** Parts that have been handled. */
export interface PartsTaken {
  /** index of the first record that is left */
  readonly next: number;
  /** how many have ended */
  readonly ended: number;
  /** start of the part that has not ended; -1 if there is none */
  readonly openFrom: number;
  /** open elements of that one, itself included */
  readonly depth: number;
}

/** The name of a part by that of the larger document; also what its SHA-256 is taken of, by the larger one's (hex). */
export function partText(whole: string, number: number): string {
  return `${whole}#${number}`;
}
