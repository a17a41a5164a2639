/** Limits of the number of names in a document: names are kept as long as the document, and some as long as the job. */
import { longNameLength } from './interned.ts';
import type { TokenizerState } from '../tokenizer/state.ts';

/** A document with more distinct names than this is an attack, not data. */
const maxNames = 1_000_000;

/** names and namespaces so long, of all documents that share a table of names */
const maxLongNames = 100;

export function checkNameCount(s: TokenizerState, at: number): void {
  const { raw, contexts } = s;
  if (raw.interner.size > maxNames || contexts.size > maxNames)
    s.fail(
      at,
      'xml_name_count_limit',
      `there are more than ${maxNames} distinct names or namespace contexts`,
    );
  if (
    raw.interner.longNames > maxLongNames ||
    contexts.longUris > maxLongNames ||
    s.settings.names.longNames > maxLongNames
  )
    s.fail(
      at,
      'xml_name_count_limit',
      `more than ${maxLongNames} names or namespaces are longer than ${longNameLength} bytes`,
    );
}
