/** Statistics by path, whatever the order in which they were met. */
import { unpackOrdinals } from '../../../src/engine/infer/declared-places.ts';
import type { DocumentStatistics, ElementStatistics } from '../../../src/engine/infer/statistics.ts';

function nameOf(element: ElementStatistics): string {
  return `{${element.namespaceUri}}${element.localName}`;
}

/** One entry per element node, keyed by its path; a child that is an open ancestor again says so. */
export function shapeOf(statistics: DocumentStatistics): Record<string, unknown> {
  const shape: Record<string, unknown> = {
    documents: statistics.documents,
    bytes: statistics.bytes,
  };
  const paths = new Map<number, string>();
  const visit = (index: number, path: string): void => {
    paths.set(index, path);
    const element = statistics.elements[index]!;
    const names = element.children.map((child) => nameOf(statistics.elements[child.element]!));
    const children = element.children.map((child, at) => {
      const known = paths.get(child.element);
      if (known === undefined) visit(child.element, `${path}/${names[at]!}`);
      return [
        names[at]!,
        {
          minOccurs: child.minOccurs,
          maxOccurs: child.maxOccurs,
          leadsTo: paths.get(child.element),
          precededBy: unpackOrdinals(child.precededBy)
            .map((ordinal) => names[ordinal]!)
            .toSorted(),
        },
      ] as const;
    });
    const { attributes, ...own } = element;
    shape[path] = {
      ...own,
      attributes: Object.fromEntries(
        attributes.map(({ namespaceUri, localName, ...rest }) => [`{${namespaceUri}}${localName}`, rest]),
      ),
      children: Object.fromEntries(children),
    };
  };
  for (const root of statistics.roots) visit(root, `/${nameOf(statistics.elements[root]!)}`);
  return shape;
}
