/** The stored parts of a document type declaration: entities, attribute lists, and references to external parts. */

// The external parts that a document refers to, and their provider.

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

// Entities and attribute lists.

/** An entity declared in a DTD. */
export interface Entity {
  readonly name: string;
  /** replacement text followed by one 0 byte; null when the entity is external, and has not been read */
  text: Uint8Array | null;
  /** location of an external entity; null: the entity is internal */
  readonly external: ExternalReference | null;
  /** base of the references in its text: see `ExternalPart.base` */
  base: string | null;
  /** number of the line that an external text begins with; null: not read */
  line: number | null;
  /** the declaration is no part of the document */
  readonly isDeclaredOutside: boolean;
  /** has an NDATA annotation */
  readonly unparsed: boolean;
  /** no markup, reference or `]` in the replacement text: it can be copied as it is */
  readonly plain: boolean;
  /** it is being expanded: a reference to it now would be recursive */
  open: boolean;
}

export interface AttributeDefinition {
  /** raw name id */
  readonly name: number;
  /** true if the type is not CDATA: white space is then collapsed (XML 1.0 §3.3.3) */
  readonly tokenized: boolean;
  /** normalised default value; null for #REQUIRED and #IMPLIED */
  readonly defaultValue: Uint8Array | null;
}

/** All attribute declarations of one element. */
interface AttributeList {
  /** keyed by raw attribute name id; the first declaration binds (XML 1.0 §3.3) */
  readonly definitions: Map<number, AttributeDefinition>;
  /** attributes with a default value, in the order of declaration */
  readonly defaults: AttributeDefinition[];
}

/** The parts of a document type declaration that a non-validating processor keeps. */
export interface DocumentType {
  readonly generalEntities: Map<string, Entity>;
  readonly parameterEntities: Map<string, Entity>;
  /** keyed by raw element name id */
  readonly attributeLists: Map<number, AttributeList>;
  /** an external subset or an external parameter entity was not read: declarations may be missing */
  incomplete: boolean;
  /** external parts that were not read, with the reason */
  readonly refused: Set<string>;
  /** an external parameter entity may have declared things differently: later declarations are not used (XML 1.0 §5.1) */
  ignoresDeclarations: boolean;
}

export function createDocumentType(): DocumentType {
  return {
    generalEntities: new Map(),
    parameterEntities: new Map(),
    attributeLists: new Map(),
    incomplete: false,
    refused: new Set(),
    ignoresDeclarations: false,
  };
}
