/** Pages of HTML that lie in the place of a document, as servers send them when something is wrong. */
import { IN_EPILOG } from './state.ts';
import type { TokenizerState } from './state.ts';

export const xhtmlNamespace = 'http://www.w3.org/1999/xhtml';

/** How messages name such a page. */
export const htmlPage = 'this looks like an HTML page, not like an XML document';

/** bytes of a start tag or a document type declaration that are looked at */
const mostLooked = 200;

/** Returns whether the document that is not well-formed at `at` begins as pages of HTML do. Only errors ask for it. */
export function isHtmlPage(s: TokenizerState, at: number): boolean {
  if (s.depth > 0 || s.stage === IN_EPILOG) {
    const isRoot = /^html$/i.test(s.raw.interner.text(s.stackRaw[1]!));
    return isRoot && !s.contexts.declaresOther(s.stackContext[1]!, xhtmlNamespace);
  }
  if (s.inEntity) return false;
  for (const from of [at, s.pos]) {
    const text = s.text(from, Math.min(s.end, from + mostLooked));
    if (/^<(?:!doctype\s+)?html[\s>]/i.test(text) && !/\sxmlns:/.test(text)) return true;
  }
  return false;
}
