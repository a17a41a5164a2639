/** What a catalogue in memory keeps of the files of an origin. */
import type { NewOriginFile, OriginFileContent } from '../../src/ports/catalog-store.ts';

/** Contents of the XSD files; null where one was not kept. */
export function xsdContents(files: readonly NewOriginFile[]): OriginFileContent[] | null {
  const isXsd = ({ name, entry }: NewOriginFile): boolean => entry !== undefined || /\.xsd$/i.test(name);
  if (files.some((file) => file.content === undefined && isXsd(file))) return null;
  return files.flatMap(({ name, entry = null, content }) =>
    content === undefined ? [] : [{ name, entry, content }],
  );
}
