/**
 * Checks documents with libxml2 in WebAssembly, one after the other. A difficult document may take for ever, or leave its memory
 * corrupt: libxml2 runs in a thread that can be ended (src/adapters/validators/libxml2.ts). Its own package hides the message before an
 * internal error, and takes quadratic time for faults of many siblings, so messages are collected here.
 */
import type {
  ParseOption as ParseOptions,
  XmlDocument as Document,
  XsdValidator as Validator,
} from 'libxml2-wasm';
import type { StandaloneXsdSet } from '../../engine/xsd/read/standalone-set.ts';
import type { Validity, ValidityFault } from '../../ports/processes.ts';
import { addMessage, emptyValidity, judged, notJudged, type SetFault } from './messages.ts';

/** The members that the package omits from its types. */
interface Inner {
  addFunction(handler: (data: number, error: number) => void, signature: string): number;
}
interface Held {
  readonly _ptr: number;
}

const warning = 1;

export type OpenedSet = { readonly faults: readonly SetFault[] } | { check(bytes: Uint8Array): Validity };

/** `faults`: libxml2 cannot compile the set. */
export async function openSet(set: StandaloneXsdSet): Promise<OpenedSet> {
  // the package awaits its WebAssembly while it loads, so a CommonJS build cannot `require` it
  const { ParseOption, XmlBufferInputProvider, XmlDocument, XmlLibError, XsdValidator, ...providers } =
    await import('libxml2-wasm');
  const libxml2 = await import('libxml2-wasm/lib/libxml2.mjs');
  // entities are put in their place: a tree with references cannot be validated. Our own reader has bounded them
  const option =
    ParseOption.XML_PARSE_NONET |
    ParseOption.XML_PARSE_BIG_LINES |
    ParseOption.XML_PARSE_HUGE |
    ParseOption.XML_PARSE_NOENT;
  const contents = Object.fromEntries(set.files.map(({ name, bytes }) => [`/set/${name}`, bytes]));
  // nothing but the set can be opened, and that not by documents
  providers.xmlRegisterInputProvider(new XmlBufferInputProvider(contents));
  let validator: Validator;
  try {
    const main = `/set/${set.main}`;
    validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(contents[main]!, { url: main, option }));
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error;
    return {
      faults: error.details
        .filter(({ level }) => level > warning)
        .map(({ file = '', line, message }) => ({
          file: file.replace(/^\/set\//, ''),
          line,
          message,
        })),
    };
  } finally {
    providers.xmlCleanupInputProvider();
  }
  let list = emptyValidity();
  const collect = (libxml2 as unknown as Inner).addFunction((_, error) => {
    if (libxml2.XmlErrorStruct.level(error) === warning) return;
    const message = libxml2.XmlErrorStruct.message(error);
    addMessage(list, message, () => locationOf(error));
  }, 'vii');

  return {
    check(bytes) {
      list = emptyValidity();
      // defaults of attributes that the document itself declares are attributes of it
      const document = parse(bytes, option | ParseOption.XML_PARSE_DTDATTR);
      if (!(document instanceof XmlDocument)) return document;
      const context = libxml2.xmlSchemaNewValidCtxt((validator as unknown as Held)._ptr);
      libxml2.xmlSchemaSetValidStructuredErrors(context, collect, 0);
      const result = libxml2.xmlSchemaValidateDoc(context, (document as unknown as Held)._ptr);
      libxml2.xmlSchemaFreeValidCtxt(context);
      document.dispose();
      if (result !== 0 && list.count === 0 && list.unjudged === null)
        return notJudged('it ended without a reason');
      return judged(list);
    },
  };

  /** Our own reader has found the document well-formed: a fault that this parser reports is one of its own limits. */
  function parse(bytes: Uint8Array, option: ParseOptions): Document | Validity {
    try {
      return XmlDocument.fromBuffer(bytes, { option });
    } catch (error) {
      if (!(error instanceof XmlLibError)) throw error;
      const { message = error.message, line = 1 } = error.details[0] ?? {};
      return notJudged(limitOf(message.trim()), { line, path: null });
    }
  }

  /** The element that an error speaks of. */
  function locationOf(error: number): Pick<ValidityFault, 'line' | 'path'> {
    const { XmlTreeCommonStruct: tree, XmlNodeType: kinds } = libxml2;
    const path: number[] = [];
    for (let node = libxml2.XmlErrorStruct.node(error); node !== 0; node = tree.parent(node)) {
      if (tree.type(node) !== kinds.XML_ELEMENT_NODE) continue;
      let index = 1;
      for (let before = tree.prev(node); before !== 0; before = tree.prev(before))
        if (tree.type(before) === kinds.XML_ELEMENT_NODE) index += 1;
      path.unshift(index);
    }
    return { line: libxml2.XmlErrorStruct.line(error), path: path.length === 0 ? null : path };
  }
}

/** Its advice is to those who call it as a library. */
function limitOf(message: string): string {
  return message
    .replace(/, (?:see|use) \w+(?: option)?\.?$/, '')
    .replace(/^./, (first) => first.toLowerCase());
}
