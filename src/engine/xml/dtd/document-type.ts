/** An entity declared in the internal subset. */
export interface Entity {
  readonly name: string;
  /** replacement text followed by one 0 byte; null when the entity is external */
  readonly text: Uint8Array | null;
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
  /** whether the type is another than CDATA: then white space is collapsed (XML 1.0 §3.3.3) */
  readonly tokenized: boolean;
  /** normalised default value; null for #REQUIRED and #IMPLIED */
  readonly defaultValue: Uint8Array | null;
}

/** All that is declared of one element's attributes. */
export interface AttributeList {
  /** by raw attribute name id; the first declaration binds (XML 1.0 §3.3) */
  readonly definitions: Map<number, AttributeDefinition>;
  /** those with a default value, in the order of declaration */
  readonly defaults: AttributeDefinition[];
}

/** What a non-validating processor keeps of a document type declaration. */
export interface DocumentType {
  readonly generalEntities: Map<string, Entity>;
  readonly parameterEntities: Map<string, Entity>;
  /** by raw element name id */
  readonly attributeLists: Map<number, AttributeList>;
  /** there is an external subset or a reference to an external parameter entity: declarations may be missing */
  incomplete: boolean;
  /** an external parameter entity may have declared things otherwise: later declarations are not used (XML 1.0 §5.1) */
  ignoresDeclarations: boolean;
}

export function createDocumentType(): DocumentType {
  return {
    generalEntities: new Map(),
    parameterEntities: new Map(),
    attributeLists: new Map(),
    incomplete: false,
    ignoresDeclarations: false,
  };
}
