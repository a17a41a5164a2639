/** Content specifications of element declarations in a DTD. */
import type { DeclarationReader } from './declaration-reader.ts';

const GROUP_OPEN = 0x28;

/** `contentspec` (XML 1.0 §3.2): checked for its grammar only, as a non-validating processor has no use for it. */
export function readContentSpecification(reader: DeclarationReader): void {
  if (reader.accept('EMPTY') || reader.accept('ANY')) return;
  if (reader.peek('a content specification') !== GROUP_OPEN) reader.failExpected('"EMPTY", "ANY" or "("');
  reader.pos++;
  reader.skipSpace();
  if (reader.accept('#PCDATA')) readMixed(reader);
  else readChildren(reader);
}

/** Reads the rest of a mixed content model after `(#PCDATA`. */
function readMixed(reader: DeclarationReader): void {
  let names = 0;
  for (;;) {
    reader.skipSpace();
    if (reader.accept(')')) break;
    reader.expect('|');
    reader.skipSpace();
    reader.qualifiedName();
    names++;
  }
  if (names > 0) reader.expect('*');
  else if (reader.peek('">"') === 0x2a) reader.pos++;
}

/** Reads a content model after its first `(`. The separators of the open groups are in a list, to avoid recursion. */
function readChildren(reader: DeclarationReader): void {
  const separators: string[] = [''];
  while (separators.length > 0) {
    reader.skipSpace();
    if (reader.accept('(')) {
      separators.push('');
      if (separators.length > reader.state.limits.xmlMaxDepth)
        reader.fail(
          'xml_depth_limit',
          `a content model is nested deeper than ${reader.state.limits.xmlMaxDepth} levels`,
        );
      continue;
    }
    reader.qualifiedName();
    readOccurrence(reader);
    while (separators.length > 0 && !readSeparator(reader, separators)) {
      separators.pop();
      readOccurrence(reader);
    }
  }
}

/** Reads a separator, which must be the same throughout a group. Returns false if the group ends here. */
function readSeparator(reader: DeclarationReader, separators: string[]): boolean {
  reader.skipSpace();
  if (reader.accept(')')) return false;
  const separator = reader.accept('|') ? '|' : ',';
  if (separator === ',' && !reader.accept(',')) reader.failExpected('"|", "," or ")"');
  const group = separators.length - 1;
  if (separators[group] !== '' && separators[group] !== separator)
    reader.fail('xml_syntax', 'a group of a content model must not mix "|" and ","');
  separators[group] = separator;
  return true;
}

function readOccurrence(reader: DeclarationReader): void {
  const next = reader.peek('the end of the declaration');
  if (next === 0x3f || next === 0x2a || next === 0x2b) reader.pos++;
}
