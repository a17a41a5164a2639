/**
 * Findings of a load (unmapped content, unconverted values, broken keys): counted by the readers of documents, added up over processes
 * and threads.
 */
import type { BrokenRule } from '../../engine/identity/broken-rules.ts';
import type { IdentityChecker } from '../../engine/identity/checker.ts';
import { didYouMean } from '../../engine/closest-word.ts';
import { clarkName, isSameName, type QName } from '../../engine/model/source-model.ts';
import type { Deviations, MentionedType, UnmappedPath } from '../../engine/shred/deviations.ts';
import { nothingKept, type ConversionDetails, type KeptContent } from '../reports/conversion-result.ts';
import { identityReport } from './identity-report.ts';

export interface LoadFindings {
  readonly documents: number;
  /** size of the files */
  readonly bytes: number;
  /** content that the mapping does not know, by path */
  readonly unmapped: readonly UnmappedPath[];
  /** amount of the unmapped content that is in `_unmapped` */
  readonly kept: KeptContent;
  /** values that their columns cannot hold, by column */
  readonly unconvertedValues: readonly (readonly [
    column: string,
    found: { readonly count: number; readonly sample: string },
  ])[];
  /** types named in documents that lead to no columns of their own */
  readonly namedTypes: readonly MentionedType[];
  /** values whose mappings are inactive */
  readonly ignored: number;
  /** attributes and texts outside of the row elements */
  readonly outside: number;
  /** null: the schema declares nothing to check */
  readonly identity: Pick<IdentityChecker, 'broken' | 'unfinished'> | null;
}

/** paths that the job record lists one by one, and of those the log */
const maxDetails = 1000;
const maxLines = 100;

/** `captures`: unmapped content is kept. */
export function findingsOf(
  counts: Pick<LoadFindings, 'documents' | 'bytes' | 'outside'>,
  deviations: Deviations,
  captures: boolean,
  identity: IdentityChecker | null,
): LoadFindings {
  return {
    ...counts,
    unmapped: [...deviations.paths.values()],
    kept: captures
      ? { values: deviations.total - deviations.documents, documents: deviations.documents }
      : nothingKept,
    unconvertedValues: [...deviations.unconvertedValues],
    namedTypes: [...deviations.namedTypes.values()],
    ignored: [...deviations.ignored.values()].reduce((sum, count) => sum + count, 0),
    identity: identity === null ? null : { broken: identity.broken, unfinished: identity.unfinished },
  };
}

/** Samples are those of the first that has one. */
export function addFindings(parts: readonly LoadFindings[]): LoadFindings {
  const unmapped = new Map<string, UnmappedPath>();
  const unconvertedValues = new Map<string, { count: number; readonly sample: string }>();
  const namedTypes = new Map<string, MentionedType>();
  const broken = new Map<string, BrokenRule>();
  const checked = parts.some(({ identity }) => identity !== null);
  let unfinished = 0;
  for (const part of parts) {
    for (const path of part.unmapped) count(unmapped, path.xpath, path);
    for (const [column, found] of part.unconvertedValues) count(unconvertedValues, column, found);
    for (const type of part.namedTypes) count(namedTypes, `${clarkName(type.name)} ${type.xpath}`, type);
    for (const rule of part.identity?.broken ?? [])
      count(broken, `${rule.kind} ${rule.fault} ${rule.name}`, rule);
    unfinished += part.identity?.unfinished ?? 0;
  }
  const sum = (of: (part: LoadFindings) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    documents: sum(({ documents }) => documents),
    bytes: sum(({ bytes }) => bytes),
    ignored: sum(({ ignored }) => ignored),
    outside: sum(({ outside }) => outside),
    unmapped: [...unmapped.values()],
    kept: { values: sum(({ kept }) => kept.values), documents: sum(({ kept }) => kept.documents) },
    unconvertedValues: [...unconvertedValues],
    namedTypes: [...namedTypes.values()],
    identity: checked ? { broken: [...broken.values()], unfinished } : null,
  };
}

function count<T extends { count: number }>(known: Map<string, T>, key: string, found: Readonly<T>): void {
  const entry = known.get(key);
  if (entry === undefined) known.set(key, { ...found });
  else entry.count += found.count;
}

/** The part of the findings that the job record keeps. */
export function detailsOf(
  { unmapped, ignored, identity }: LoadFindings,
  rejects: ConversionDetails['rejects'],
): ConversionDetails {
  return {
    unmapped: unmapped.slice(0, maxDetails).map(({ xpath, count }) => ({ xpath, count })),
    ignored,
    rejects,
    ...(identity === null ? {} : { broken: identity.broken }),
  };
}

/** The lines of the findings in the log. */
export function linesOf({ outside, unmapped, unconvertedValues, identity }: LoadFindings): string[] {
  return [
    ...(outside > 0 ? [`${outside} attributes and texts lie outside of the row elements: not loaded`] : []),
    ...unmapped
      .slice(0, maxLines)
      .map(
        ({ xpath, kind, count, sample, where }) =>
          `unmapped ${kind} ${xpath}: ${count} times${where === undefined ? '' : `, first in ${where}`}, such as ${sample}`,
      ),
    ...unconvertedValues.map(
      ([column, { count, sample }]) => `values that do not fit ${column}: ${count}, such as ${sample}`,
    ),
    ...identityReport(identity),
  ];
}

const xsdNamespace = 'http://www.w3.org/2001/XMLSchema';

/** Lines for types that the schema does not declare. `declared`: all that it does. */
export function unknownTypeLines(
  namedTypes: LoadFindings['namedTypes'],
  declared: readonly QName[],
): string[] {
  return namedTypes
    .filter(
      ({ name }) => name.namespaceUri !== xsdNamespace && !declared.some((type) => isSameName(type, name)),
    )
    .slice(0, maxLines)
    .map(({ xpath, name, count: times, where }) => {
      const meant = didYouMean(
        name.localName,
        declared.map(({ localName }) => localName),
      );
      return `unknown type ${clarkName(name)} (xsi:type of ${xpath}): ${times} times, first in ${where}${meant}`;
    });
}
