/** Contents of the XSD files of an origin, for a catalogue in memory. */
import type { NewOriginFile, OriginFileContent } from '../../../src/ports/stores/catalog.ts';

export function xsdContents(files: readonly NewOriginFile[]): OriginFileContent[] {
  return files.flatMap(({ name, entry = null, content }) =>
    content === undefined ? [] : [{ name, entry, content }],
  );
}
