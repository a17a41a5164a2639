/** Detects HTML pages instead of a document, which servers send on errors. */

export const xhtmlNamespace = 'http://www.w3.org/1999/xhtml';

/** The description of such a page in messages. */
export const htmlPage = 'this looks like an HTML page, not like an XML document';

/** Returns whether a root element is that of a page; `isAlone`: the document declares no namespace but that of XHTML. */
export function isPageRoot(name: string, isAlone: boolean): boolean {
  return isAlone && /^html$/i.test(name);
}

/** Returns whether a page begins with the text, which is that of a start tag or of a document type declaration. */
export function beginsPage(text: string): boolean {
  return /^<(?:!doctype\s+)?html[\s>]/i.test(text) && !/\sxmlns:/.test(text);
}
