/** What a document names outside of itself, and who gives it. */

export interface ExternalReference {
  readonly publicId: string | null;
  readonly systemId: string | null;
  /** what has the reference, as `ExternalPart.base`; null: the document */
  readonly base: string | null;
}

export interface ExternalPart {
  readonly bytes: Uint8Array;
  /** where it lies: references in it are relative to that; also its name in messages */
  readonly base: string;
  /** what it declares, when it was read before as the only part of a DTD: the reader's own */
  parsed?: unknown;
}

export interface ExternalParts {
  /** The part, or why it is not read. The same part each time. */
  read(reference: ExternalReference): ExternalPart | { readonly refused: string };
  /** Told of external entities that are declared: they may be read later. */
  declared?(reference: ExternalReference): void;
}
