/** What libxml2 makes of a document: another opinion on whether it is well-formed, and on what it says. */
import { ParseOption, XmlDocument, XmlLibError } from 'libxml2-wasm';
import { readTokens } from '../../unit/engine/xml/read-tokens.ts';

const option =
  ParseOption.XML_PARSE_NOENT |
  ParseOption.XML_PARSE_DTDATTR |
  ParseOption.XML_PARSE_NONET |
  ParseOption.XML_PARSE_NO_XXE |
  ParseOption.XML_PARSE_HUGE |
  ParseOption.XML_PARSE_BIG_LINES;

export type OtherOpinion =
  | {
      readonly wellFormed: true;
      /** null: it has no canonical form, or none was asked for */
      readonly tokens: readonly string[] | null;
      readonly hasEntities: boolean;
    }
  | { readonly wellFormed: false | 'unknown'; readonly complaint: string };

/**
 * Complaints that are none by the standards, and what a processor without external parts does not see. Parameter entities need no
 * declaration where others may declare them; general ones are told apart by a rule of our own before it is asked.
 */
const asides =
  /Entity '[^']*' not defined|is not a valid URI|is not absolute|Unsupported version|failed to load|already defined|Excessive depth|^\s*$/;

/** `canonical`: whether its canonical form is asked for; one of deep elements overwrites its memory without a word. */
export function libxml2Opinion(bytes: Uint8Array, canonical: boolean): OtherOpinion {
  // it looks at an entity's content where no prefix is bound, and takes its line ends for those of a file
  const hasEntities = Buffer.from(bytes).toString('latin1').replaceAll('\0', '').includes('<!ENTITY');
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes, { option });
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error;
    const complaint = error.message
      .replaceAll(/Invalid value "[^]*?" for xml:space .*|ID [^]*? already defined/g, '')
      .split('\n')
      .filter(
        (line) =>
          !asides.test(line) && !(hasEntities && /Namespace prefix|in '\(null\)' redefined/.test(line)),
      )
      .join(' ');
    return { wellFormed: complaint === '' ? 'unknown' : false, complaint };
  }
  try {
    if (!canonical) return { wellFormed: true, tokens: null, hasEntities };
    return { wellFormed: true, tokens: comparable(readTokens(document.canonicalizeToString())), hasEntities };
  } catch {
    return { wellFormed: true, tokens: null, hasEntities };
  } finally {
    document.dispose();
  }
}

/** Tokens without what two canonical forms of one document may differ in: order of attributes, where namespaces are declared. */
export function comparable(tokens: readonly string[]): readonly string[] {
  const result: string[] = [];
  let attributes: string[] = [];
  for (const token of tokens) {
    if (token.startsWith('NAMESPACE')) continue;
    if (token.startsWith('ATTRIBUTE')) {
      attributes.push(token.replace(/ defaulted$/, ''));
      continue;
    }
    if (attributes.length > 0) result.push(...attributes.toSorted());
    attributes = [];
    result.push(token);
  }
  return result;
}
