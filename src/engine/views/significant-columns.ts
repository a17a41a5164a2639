/**
 * Selects the columns that say what a row is about: its identifiers and names, its dates, and its amounts. Based on types and words of
 * names.
 */
import { splitWords } from '../map/names/identifiers.ts';
import type { Column } from '../model/relational-model.ts';
import type { RowValue } from './hanging-rows.ts';
import type { ValueThere } from './joined-rows.ts';

/** Words, including those of standards, in names of identifiers, in the languages of business documents. */
const identifyingWords = new Set(
  (
    'id ids identifier identification ident iban bic bei lei isin isbn issn uuid guid uetr urn oid number num nb nr no ref reference key code ean gtin sku ' +
    'codice codigo kod numero nummer numer nif nip'
  ).split(' '),
);
const namingWords = new Set(
  'name nm title titl label denominazione nome cognome nombre apellidos nom nazwa naam namn'.split(' '),
);
/**
 * Words in names, in addition to the word for a name, and in the names of their holders, that identify a company or a person, and not a
 * street.
 */
const partyWords = new Set(
  'company corporate corporation business trade trading firm organisation organization party person legal official registered full first last given family'.split(
    ' ',
  ),
);
/** Words in names of the parts of an address: house numbers and place codes do not identify documents. */
const addressWords = new Set(
  'address addr adr indirizzo sede domicilio street building house post postal postcode country ctry'.split(
    ' ',
  ),
);
const currencyWords = new Set('currency ccy cur divisa valuta moneda devise waluty'.split(' '));
/** Words in names of units and currencies. */
const unitWords = new Set([...currencyWords, 'unit', 'units', 'uom']);
/** Words in names of dates that are texts, because some standards have their own forms. */
const dateWords = new Set('date datetime'.split(' '));
const instants: ReadonlySet<Column['type']['kind']> = new Set(['date', 'timestamp', 'timestamptz']);
const measures: ReadonlySet<Column['type']['kind']> = new Set(['numeric', 'real', 'double']);

/** the most steps from a row to a value that describes it */
const deepest = { identity: 5, name: 5 } as const;
/** the same for dates and amounts of a row that is joined once and hangs from only one table, or from several */
const deepestToldOnce = { alone: 3, shared: 2 } as const;

function hasWord(words: ReadonlySet<string>, { steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  return wordsOf(last).some((word) => words.has(word));
}

function wordsOf(step: string): readonly string[] {
  // a reference (`IDref`) does not identify the row
  return splitWords(step).toLowerCase().split('_');
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

/** The very name or id of something that is called by the step: `ID`, `Name` or `PartyName` of a `Party`, not its `StreetName`. */
export function isNameOf(called: string, { steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  const own = new Set(wordsOf(called));
  const words = wordsOf(last).filter((word) => !own.has(word));
  return words.length > 0 && words.every((word) => identifyingWords.has(word) || namingWords.has(word));
}

/** True for the name of a company or a person: `CorporateName` or `Name`, but not the name of a street. */
function namesParty({ steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  const holder = new Set(wordsOf(steps.at(-2) ?? ''));
  const words = wordsOf(last);
  return (
    words.some((word) => namingWords.has(word)) &&
    words.every((word) => namingWords.has(word) || partyWords.has(word) || holder.has(word))
  );
}

/** True for a date, including a text in a form of its own (`IssueDateTime/DateTimeString`). */
function isDate({ steps, qualifies }: RowValue, { type }: Column): boolean {
  if (type.list === true) return false;
  if (instants.has(type.kind)) return true;
  const isNamed = steps.slice(-2).some((step) => wordsOf(step).some((word) => dateWords.has(word)));
  return type.kind === 'text' && !qualifies && isNamed;
}

/** An amount in the sense of something that has a fraction: whole numbers count or name things. */
export function isMeasure({ isAttribute }: RowValue, { type }: Column): boolean {
  return !isAttribute && measures.has(type.kind) && type.list !== true && type.scale !== 0;
}

export interface RowsToldOnce {
  /** several other rows share such a row: its deeply nested values describe none of them */
  readonly isShared: boolean;
  /** steps to the measures of the row that the view has, and to their holders */
  readonly measured: ReadonlySet<string>;
  /** the value says which way amounts go */
  readonly isDirection: boolean;
}

function isNear({ steps }: RowValue, isShared: boolean): boolean {
  return steps.length <= deepestToldOnce[isShared ? 'shared' : 'alone'];
}

/** Returns `RowsToldOnce.measured` for the values of one row. */
export function measuredSteps(values: readonly ValueThere[], isShared: boolean): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { value, place } of values)
    if (isMeasure(value, place.column) && isNear(value, isShared))
      found.add(value.steps.join('/')).add(`${value.steps.slice(0, -1).join('/')}/`);
  return found;
}

/**
 * True if the value of a row that hangs from another one once describes that one, beyond its name: a date or time, an amount, or the
 * amount's unit.
 */
export function isToldOnce(
  value: RowValue,
  column: Column,
  { isShared, measured, isDirection }: RowsToldOnce,
): boolean {
  const holder = value.steps.slice(0, -1).join('/');
  if (value.qualifies) return measured.has(holder);
  if (measured.has(`${holder}/`) && (isDirection || hasWord(unitWords, value))) return true;
  const isTime = instants.has(column.type.kind) || column.type.kind === 'time';
  return (isTime || isMeasure(value, column)) && isNear(value, isShared);
}

function isOfAddress({ steps }: RowValue): boolean {
  return steps.slice(-2).some((step) => wordsOf(step).some((word) => addressWords.has(word)));
}

/** True if the rows below a row repeat this value of it: its identifier, its owner, its dates, its currency and its own amounts. */
export function isToldBelow(value: RowValue, column: Column): boolean {
  const { steps, firstRequired } = value;
  const isOwn = steps.length === 1;
  if (isDate(value, column) || (isOwn && isMeasure(value, column))) return true;
  const isNear = isOwn || (firstRequired && !isOfAddress(value));
  const saysWhose = steps.length <= deepest.name && (namesParty(value) || hasWord(currencyWords, value));
  return isNear && (identifies(value, column) || saysWhose);
}

/** Returns the values that give the direction of an amount, [in, out], or null if the values have another meaning. */
export function directionsOf(values: readonly string[]): readonly [credit: string, debit: string] | null {
  if (values.length !== 2) return null;
  const credit = values.find((value) => /^(?:c|cr|crdt|credit)$/i.test(value));
  const debit = values.find((value) => /^(?:d|dr|db|dbit|dbt|debit)$/i.test(value));
  return credit === undefined || debit === undefined ? null : [credit, debit];
}
