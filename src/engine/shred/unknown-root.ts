/** Documents that start with an element which the schema does not have. */
import { InputError } from '../diagnostics.ts';
import { xsdNamespace } from '../model/name-labels.ts';
import { clarkName, type QName } from '../model/source-model.ts';
import { KIND_MASK, KIND_NAMESPACE, KIND_START, RECORD_INTS, type NameTable } from '../xml/tokens.ts';
import type { TextLocation, TokenBatch } from '../xml/tokens.ts';
import { xhtmlNamespace } from '../xml/tokenizer/html-page.ts';
import type { RowElementName } from './row-tag/elements.ts';
import { rangeText } from './xml-capture.ts';

/** The root elements that documents may have; plain data. */
export interface RootRule {
  /** null: any root except that of an XSD */
  readonly known: readonly RowElementName[] | null;
  /** other roots are accepted, too, except that of an XSD */
  readonly keepsOthers: boolean;
}

export interface RootCheck {
  begin(document: string): void;
  /** InputError `unknown_root`, `xsd_as_document` or `html_page` at the first element of a document that may not have it. */
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
}

/** root elements of a schema that a message names */
const maxNamed = 10;

export const xsdRoot: QName = { namespaceUri: xsdNamespace, localName: 'schema' };

export function isXsdRoot({ namespaceUri, localName }: QName): boolean {
  return namespaceUri === xsdRoot.namespaceUri && localName === xsdRoot.localName;
}

/**
 * True if the root element at the record `at` is that of an HTML page. Documents that declare further namespaces, as inline XBRL does,
 * contain data in addition to the page.
 */
export function isHtmlPage(name: QName, batch: TokenBatch, at: number): boolean {
  if (!isHtmlRoot(name)) return false;
  for (let next = at + 1; next < batch.count; next += 1) {
    if ((batch.events[next * RECORD_INTS]! & KIND_MASK) !== KIND_NAMESPACE) return true;
    const declared = rangeText(batch, next);
    if (declared !== '' && declared !== xhtmlNamespace) return false;
  }
  return true;
}

export function isHtmlRoot({ namespaceUri, localName }: QName): boolean {
  return localName.toLowerCase() === 'html' && (namespaceUri === '' || namespaceUri === xhtmlNamespace);
}

/** `hasSchema`: the documents' schema is known, and declares no such root element. */
export function htmlPage(
  name: QName,
  where: TextLocation & { readonly file: string },
  hasSchema: boolean,
): InputError {
  const { file, line, column } = where;
  const advice = hasSchema
    ? 'which the schema does not declare'
    : 'if such pages are the documents, name it by --root html';
  return new InputError({
    code: 'html_page',
    severity: 'error',
    message: `this is an HTML page, with the root element <${clarkName(name)}>: ${advice}`,
    file,
    line,
    column,
    name,
  });
}

/** `besides`: more that speaks against the document. */
export function unknownRoot(
  name: QName,
  known: readonly RowElementName[],
  where: TextLocation & { readonly file: string },
  besides = '',
): InputError {
  const common = {
    severity: 'error',
    file: where.file,
    line: where.line,
    column: where.column,
    name,
  } as const;
  if (isXsdRoot(name))
    return new InputError({
      ...common,
      code: 'xsd_as_document',
      message: 'this is an XSD, no document',
    });
  const more = known.length > maxNamed ? ` and ${known.length - maxNamed} more` : '';
  const namesakes = known.filter(({ localName }) => localName === name.localName);
  const roots = [...new Set([...namesakes, ...known])].slice(0, maxNamed).map(nameOf).join(', ');
  const knows = roots === '' ? '' : `, which knows ${roots}${more}`;
  const [namesake] = namesakes;
  const elsewhere = namesake === undefined ? '' : ` (its ${name.localName} is of ${namespaceText(namesake)})`;
  return new InputError({
    ...common,
    code: 'unknown_root',
    message: `the root element <${clarkName(name)}> is not in the schema${elsewhere}${knows}${besides}`,
  });
}

/** A document of another version, or one without the `xmlns` that its schema asks for. */
function namespaceText({ namespaceUri }: RowElementName): string {
  return namespaceUri === null || namespaceUri === '' ? 'no namespace' : `the namespace ${namespaceUri}`;
}

function nameOf({ namespaceUri, localName }: RowElementName): string {
  return clarkName({ namespaceUri: namespaceUri ?? '', localName });
}

export function createRootCheck({ known, keepsOthers }: RootRule, names: NameTable): RootCheck {
  let document: string | null = null;
  return {
    begin: (name) => void (document = name),
    consume(batch, locate) {
      if (document === null) return;
      for (let at = 0; at < batch.count; at += 1) {
        if ((batch.events[at * RECORD_INTS]! & KIND_MASK) !== KIND_START) continue;
        const id = batch.events[at * RECORD_INTS + 1]!;
        const file = document;
        document = null;
        const name = { namespaceUri: names.namespaceUri(id), localName: names.localName(id) };
        const isKnown = known?.some(
          ({ namespaceUri, localName }) =>
            localName === name.localName && (namespaceUri ?? name.namespaceUri) === name.namespaceUri,
        );
        if (isKnown === true) return;
        if (isHtmlPage(name, batch, at)) throw htmlPage(name, { file, ...locate(at) }, known !== null);
        if (!isXsdRoot(name) && (known === null || keepsOthers)) return;
        throw unknownRoot(name, known ?? [], { file, ...locate(at) });
      }
    },
  };
}
