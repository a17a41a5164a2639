/** What a catalogue in memory keeps of the files of an origin. */
import type { NewOriginFile, OriginFileContent } from '../../../src/ports/stores/catalog.ts';

/** Contents of the XSD files; null where one was not kept. */
export function xsdContents(files: readonly NewOriginFile[]): OriginFileContent[] | null {
  if (files.some((file) => file.content === undefined && isXsd(file))) return null;
  return files.flatMap(({ name, entry = null, content }) =>
    content === undefined ? [] : [{ name, entry, content }],
  );
}

function isXsd({ name, entry }: NewOriginFile): boolean {
  return entry !== undefined || /\.xsd$/i.test(name);
}
