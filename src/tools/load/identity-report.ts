/** Log lines about keys and references that documents broke. */
import type { BrokenRule } from '../../engine/identity/broken-rules.ts';
import type { IdentityChecker } from '../../engine/identity/checker.ts';

const faults: Readonly<Record<BrokenRule['fault'], string>> = {
  repeated: 'values that stand more than once',
  incomplete: 'elements without exactly one value for each field',
  dangling: 'references that lead nowhere',
};

/** A line for each constraint and fault, with its first place; null: the schema declares nothing to check. */
export function identityReport(checker: Pick<IdentityChecker, 'broken' | 'unfinished'> | null): string[] {
  if (checker === null) return [];
  const lines = checker.broken.map(
    ({ name, kind, fault, count, sample, document, line, column }) =>
      `${kind} ${name} is broken: ${faults[fault]}: ${count}, such as "${sample}" in ${document}, line ${line}, column ${column}`,
  );
  if (checker.unfinished > 0)
    lines.push(`${checker.unfinished} documents hold too many keys to be checked to their end`);
  return lines;
}
