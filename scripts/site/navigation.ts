/** The navigation of the site: the headings and links of docs/README.md, in its order. */
import { posix } from 'node:path';

export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

export interface NavigationEntry {
  readonly label: string;
  /** of the page in the project */
  readonly path: string;
}

export function readNavigation(contents: string): NavigationGroup[] {
  const listed = new Set<string>();
  return contents
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const links = [...section.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)\)/g)];
      const entries = links
        .map(([, label, path]) => ({
          label: label![0]!.toUpperCase() + label!.slice(1),
          path: posix.join('docs', path!),
        }))
        .filter(({ path }) => !listed.has(path) && listed.add(path));
      return { title: section.slice(0, section.indexOf('\n')), entries };
    });
}
