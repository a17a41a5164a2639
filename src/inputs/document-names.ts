/** Decides which files of folders and archives are documents: those named *.xml, and all others whose content begins like XML. */
import { describesOthers, documentStart, isHtmlPage } from '../engine/xsd/read/document.ts';
import { isXsdName } from '../service/jobs/xsd-inputs.ts';

/** `look`: the first bytes decide; `skip`: not a document, reported; `hide`: not a document, and nobody expects it to be one. */
export type NameVerdict = 'take' | 'look' | 'skip' | 'hide';

/** Chooses among the files of folders and the members of archives. A file that is named directly is always accepted. */
export interface MemberTest {
  /** `name` is without the `.gz` of packed files */
  byName(name: string): NameVerdict;
  /**
   * Returns why a file with these first bytes is passed over, or null if it is a document. Called for files for which `byName` returns
   * `look`.
   */
  byContent(name: string, head: Uint8Array): string | null;
  /** Like `byContent`, for files that are accepted by their names: few are rejected. */
  contradicts(head: Uint8Array): string | null;
}

/** Accepts files by their names alone; the others are not reported. */
export function namedFiles(accept: (name: string) => boolean): MemberTest {
  return {
    byName: (name) => (accept(name) ? 'take' : 'hide'),
    byContent: () => null,
    contradicts: () => null,
  };
}

/** `takesXsd`: the schema in use describes XSDs. */
export function documentTest(takesXsd: boolean): MemberTest {
  const describes = (head: Uint8Array): string | null => {
    const start = documentStart(head);
    const what = start.kind === 'document' && start.root !== null ? describesOthers(start.root) : null;
    return what === 'a WSDL' || (takesXsd && what === 'an XML Schema') ? null : what;
  };
  return {
    byName(name) {
      if (mayBeCatalogName(name)) return 'look';
      if (/\.xml$/i.test(name)) return 'take';
      if (isHidden(name)) return 'hide';
      return isXsdName(name) ? (takesXsd ? 'take' : 'skip') : 'look';
    },
    byContent(name, head) {
      const start = documentStart(head);
      if (start.kind === 'empty') return /\.xml$/i.test(name) ? null : 'is empty';
      if (start.kind !== 'document')
        return /\.xml$/i.test(name) ? null : (contents[start.kind] ?? 'does not begin as XML does');
      const { root } = start;
      if (root === null) return null;
      if (/\.x?html?$/i.test(name) && isHtmlPage(root)) return 'is an HTML page';
      if (/\.wsdl$/i.test(name) && describesOthers(root) === 'a WSDL') return 'is a WSDL';
      const what = describes(head);
      return what === null ? null : `is ${what}`;
    },
    contradicts(head) {
      const what = describes(head);
      return what === null ? null : `is ${what}`;
    },
  };
}

const contents: Readonly<Record<string, string>> = { dtd: 'is a DTD, or a part of one', json: 'is JSON' };

function mayBeCatalogName(name: string): boolean {
  return /(?:^|[\\/])[^\\/]*catalog[^\\/]*\.xml$/i.test(name);
}

/** `.name` and `__MACOSX`, wherever in the path. */
export function isHidden(name: string): boolean {
  return /(?:^|[\\/])(?:\.(?!\.?(?:[\\/]|$))|__MACOSX(?:[\\/]|$))/.test(name);
}
