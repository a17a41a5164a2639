/** Which columns say what a row is about: what identifies and names it, when it was, and how much it is of. By types and words of names. */
import { identifierOf } from '../map/names/identifiers.ts';
import type { Column } from '../model/relational-model.ts';
import type { RowValue } from './hanging-rows.ts';

/** Words, and what standards make of them, in names of what identifies. */
const identifyingWords = new Set(
  'id ids identifier identification ident iban bic bei lei isin isbn issn uuid guid uetr urn oid number num nb nr no ref reference key code ean gtin sku'.split(
    ' ',
  ),
);
const namingWords = new Set('name nm title titl label'.split(' '));
const instants: ReadonlySet<Column['type']['kind']> = new Set(['date', 'timestamp', 'timestamptz']);
const measures: ReadonlySet<Column['type']['kind']> = new Set(['numeric', 'real', 'double']);

/** steps that a value may lie below the row that it says something of */
const deepest = { identity: 4, name: 3, instant: 2 } as const;

function hasWord(words: ReadonlySet<string>, { steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  return identifierOf(last, 'l')
    .split('_')
    .some((word) => words.has(word));
}

export function identifies(value: RowValue, { sourceType }: Column): boolean {
  return (
    value.steps.length <= deepest.identity &&
    ((sourceType === 'ID' && !value.qualifies) || hasWord(identifyingWords, value))
  );
}

export function namesOrIdentifies(value: RowValue, column: Column): boolean {
  return identifies(value, column) || (value.steps.length <= deepest.name && hasWord(namingWords, value));
}

/** An amount in the sense of something that has a fraction: whole numbers count or name things. */
export function isMeasure({ isAttribute }: RowValue, { type }: Column): boolean {
  return !isAttribute && measures.has(type.kind) && type.list !== true && type.scale !== 0;
}

/** What rows below repeat of a row above them. */
export function isToldBelow(value: RowValue, column: Column): boolean {
  const { steps, firstRequired } = value;
  if (identifies(value, column)) return steps.length === 1 || firstRequired;
  if (instants.has(column.type.kind)) return steps.length <= deepest.instant;
  return isMeasure(value, column) && steps.length === 1;
}

/** Values that say which way an amount goes: [in, out]; null: they say something else. */
export function directionsOf(values: readonly string[]): readonly [credit: string, debit: string] | null {
  if (values.length !== 2) return null;
  const credit = values.find((value) => /^(?:c|cr|crdt|credit)$/i.test(value));
  const debit = values.find((value) => /^(?:d|dr|db|dbit|dbt|debit)$/i.test(value));
  return credit === undefined || debit === undefined ? null : [credit, debit];
}
