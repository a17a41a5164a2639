/** What libxml2 says of an XSD document that refers to no other. */
import type { Diagnostic } from '../../../src/engine/diagnostics.ts';
import { ParseOption, XmlDocument, XmlLibError, XsdValidator } from 'libxml2-wasm';

const option = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE | ParseOption.XML_PARSE_BIG_LINES;

/** What only XSD 1.1 has, other documents, and attributes that are prohibited and have a type. */
const beyond =
  /<xs:(include|import|redefine|override|assert|assertion|alternative|openContent|defaultOpenContent|explicitTimezone|minScale|maxScale)|notQName|notNamespace|xpathDefaultNamespace|defaultAttributes|inheritable|versioning|dateTimeStamp|yearMonthDuration|dayTimeDuration|anyAtomicType|xs:error|"prohibited"|<xs:(element|attribute) [^>]*targetNamespace|substitutionGroup="[^"]* /;

/** The same attribute uses twice are one set of them; it takes them for two. */
const groupTwice = /<xs:attributeGroup ref="([^"]*)"\s*\/>\s*<xs:attributeGroup ref="\1"/;

export function isForLibxml2(xsd: string): boolean {
  return !beyond.test(xsd) && !groupTwice.test(xsd);
}

/** Rules that it does not look at, or with another result. */
const unknownRules = new Set([
  'xsd_ambiguous_content',
  'xsd_bad_restriction',
  'xsd_inconsistent_elements',
  'xsd_unexpected_attribute',
  'xsd_element_needed',
  'xsd_final_type',
  'xsd_all_extended',
]);
const unknownMessages =
  /given twice|not allowed on an ID|not a value of targetNamespace|not a valid base64Binary|the attribute public or system/;

export function isKnownToLibxml2({ code, message }: Diagnostic): boolean {
  return !unknownRules.has(code) && !unknownMessages.test(message);
}

/** Patterns are not matched by the compiler, any text is an anyURI (XSD 1.1 part 2, 3.3.17); the rest are its own limits. */
const asides =
  /\[facet 'pattern'\]|is not accepted by the pattern|Internal error|xs:ENTIT|NOTATION|attribute 'final': The value 'extension'|has an 'all' model group|not determinist|valid value of the union type|value of the value constraint|XMLSchema-instance' are not allowed|'9999999999\d*' is not valid|type 'xs:anyURI'/;

/** Of those, the ones that count. */
export function withoutAsides(complaints: readonly string[]): readonly string[] {
  return complaints.filter((line) => !asides.test(line));
}

/** Its complaints; none: it takes the document. */
export function libxml2SchemaComplaints(bytes: Uint8Array): readonly string[] {
  let document: XmlDocument | null = null;
  let validator: XsdValidator | null = null;
  try {
    document = XmlDocument.fromBuffer(bytes, { option });
    validator = XsdValidator.fromDoc(document);
    return [];
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error;
    return error.message.split('\n').filter((line) => line !== '');
  } finally {
    validator?.dispose();
    document?.dispose();
  }
}
