/** The external subset of a DTD. Documents without an internal subset share its declarations. */
import type { TokenizerState } from '../tokenizer/state.ts';
import { DeclarationReader } from './declaration-reader.ts';
import type {
  AttributeDefinition,
  DocumentType,
  Entity,
  ExternalPart,
  ExternalReference,
} from './document-type.ts';
import { readExternal } from './external-parts.ts';
import { readSubset } from './internal-subset.ts';

/** The declarations of a part, by names instead of the ids that a document gives them. */
interface ParsedSubset {
  readonly lists: readonly {
    readonly element: Uint8Array;
    readonly definitions: readonly (Omit<AttributeDefinition, 'name'> & { readonly name: Uint8Array })[];
  }[];
  readonly generalEntities: readonly Entity[];
  readonly refused: readonly string[];
  readonly incomplete: boolean;
  readonly standalone: boolean;
  /** sizes counted while the part was read */
  readonly expandedBytes: number;
  readonly externalBytes: number;
}

/** `isAlone`: there is no internal subset, whose declarations would precede these. */
export function readExternalSubset(
  s: TokenizerState,
  documentType: DocumentType,
  reference: ExternalReference,
  isAlone: boolean,
): void {
  const faultOffset = s.pos;
  const { expandedBytes, externalBytes } = s;
  const known = isAlone ? s.settings.external?.read(reference) : undefined;
  if (known !== undefined && 'parsed' in known && known.parsed !== undefined) {
    const parsed = known.parsed as ParsedSubset;
    if (parsed.standalone === s.standalone) {
      adopt(s, documentType, parsed);
      return;
    }
  }
  const found = readExternal(s, documentType, reference, faultOffset);
  if (found === null) {
    documentType.incomplete = true;
    return;
  }
  const { text, part, linesBefore } = found;
  const origin = { base: part.base, isExternal: true, line: 1 + linesBefore };
  readSubset(new DeclarationReader(s, text, 0, text.length - 1, faultOffset, origin), documentType, 0);
  if (isAlone)
    remember(s, documentType, part, {
      expandedBytes: s.expandedBytes - expandedBytes,
      externalBytes: s.externalBytes - externalBytes,
    });
}

function remember(
  s: TokenizerState,
  { attributeLists, generalEntities, refused, incomplete }: DocumentType,
  part: ExternalPart,
  counted: Pick<ParsedSubset, 'expandedBytes' | 'externalBytes'>,
): void {
  const encoder = new TextEncoder();
  const nameOf = (id: number): Uint8Array => encoder.encode(s.raw.interner.text(id));
  const parsed: ParsedSubset = {
    ...counted,
    lists: [...attributeLists].map(([element, { definitions }]) => ({
      element: nameOf(element),
      definitions: [...definitions.values()].map((definition) => ({
        ...definition,
        name: nameOf(definition.name),
      })),
    })),
    generalEntities: [...generalEntities.values()],
    refused: [...refused],
    incomplete,
    standalone: s.standalone,
  };
  part.parsed = parsed;
}

function adopt(s: TokenizerState, documentType: DocumentType, parsed: ParsedSubset): void {
  s.expandedBytes += parsed.expandedBytes;
  s.externalBytes += parsed.externalBytes;
  documentType.incomplete = parsed.incomplete;
  for (const why of parsed.refused) documentType.refused.add(why);
  // the text of an external one is counted by each document that reads it
  for (const entity of parsed.generalEntities)
    documentType.generalEntities.set(entity.name, {
      ...entity,
      text: entity.external === null ? entity.text : null,
      open: false,
    });
  for (const { element, definitions } of parsed.lists) {
    const list = {
      definitions: new Map<number, AttributeDefinition>(),
      defaults: [] as AttributeDefinition[],
    };
    for (const { name, ...rest } of definitions) {
      const definition = { name: s.internName(name), ...rest };
      list.definitions.set(definition.name, definition);
      if (definition.defaultValue !== null) list.defaults.push(definition);
    }
    documentType.attributeLists.set(s.internName(element), list);
  }
}
