/** The identity of a line of the map. */
import type { MappingEntry } from '../model/relational-model.ts';

/** Returns the identity of a line, which is the same in every version of a model: its path, and the kind of content there. */
export function lineIdentity(line: Pick<MappingEntry, 'xpath' | 'nodeType' | 'sourceType'>): string {
  return `${line.nodeType} ${line.nodeType === 'any' ? line.sourceType : ''} ${line.xpath}`;
}
