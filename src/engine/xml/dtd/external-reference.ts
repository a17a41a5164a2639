/** The external parts that a document refers to, and their provider. */

export interface ExternalReference {
  readonly publicId: string | null;
  readonly systemId: string | null;
  /** base of the text with the reference, see `ExternalPart.base`; null: the document */
  readonly base: string | null;
}

export interface ExternalPart {
  readonly bytes: Uint8Array;
  /** location of the part: the base of its references, and its name in messages */
  readonly base: string;
  /** parsed declarations, cached by the reader if the part was read before as the only part of a DTD */
  parsed?: unknown;
}

export interface ExternalParts {
  /** The part, or why it is not read. The same part each time. */
  read(reference: ExternalReference): ExternalPart | { readonly refused: string };
  /** Called for external entities that are declared, because they may be read later. */
  declared?(reference: ExternalReference): void;
}
