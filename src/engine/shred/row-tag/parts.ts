/** Consecutive documents that are parts of a larger one. */

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
export interface PartProgress {
  /** index of the first record that is left */
  readonly next: number;
  /** number of parts that have ended */
  readonly ended: number;
  /** start of the part that has not ended; -1 if there is none */
  readonly openFrom: number;
  /** open elements of that one, itself included */
  readonly depth: number;
}

/**
 * Returns the name of a part from the name of the larger document. Applied to the larger document's SHA-256 (hex), it returns the text
 * whose SHA-256 is the part's.
 */
export function partText(whole: string, number: number): string {
  return `${whole}#${number}`;
}
