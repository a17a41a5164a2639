/** Addresses of the site: where each file of the project is shown. All are relative, so that the site works below any prefix. */
import { posix } from 'node:path';

/** Kinds of pages: a text of the project, the source of a file, or the list of a folder's files. */
export type PageKind = 'markdown' | 'source' | 'folder';

/** The address of a page in the site, by the path of its file or folder in the project. Files outside `docs` are in `project/`. */
export function addressOf(path: string, kind: PageKind): string {
  const place = path.startsWith('docs/') ? path.slice('docs/'.length) : `project/${path}`;
  if (kind === 'folder') return `${place}/index.html`;
  if (kind === 'source') return `${place}.html`;
  return place.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

/** The reference from one address of the site to another, with its anchor. */
export function referenceTo(from: string, to: string, anchor = ''): string {
  const path = posix.relative(posix.dirname(from), to);
  return path === posix.basename(from) && anchor !== '' ? anchor : path + anchor;
}
