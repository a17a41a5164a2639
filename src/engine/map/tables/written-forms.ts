/** The form in which values of a type are written back, so that they match its patterns, and whether all of them can be printed in it. */
import type { ColumnType, WrittenForm } from '../../model/relational-model.ts';
import type { ValueType } from '../../model/source-model.ts';
import { mayAllowText } from '../../xsd/values/pattern.ts';
import { numberTexts } from '../../xsd/values/number-texts.ts';
import { secondsTexts } from '../../xsd/values/seconds-texts.ts';

export interface FormOfValues {
  /** the forms in which values are written; null: any lexical form is valid */
  readonly writtenAs: WrittenForm | null;
  /** values that are written in another form must be kept */
  readonly keepsForm: boolean;
}

export const anyForm: FormOfValues = { writtenAs: null, keepsForm: false };

const known = new WeakMap<ValueType, FormOfValues>();

/** `type`: the type of the column; items of a list have its kind. */
export function formOfValues(value: ValueType, type: ColumnType): FormOfValues {
  let form = known.get(value);
  if (form === undefined) known.set(value, (form = type.kind === 'text' ? anyForm : foundForm(value, type)));
  return form;
}

function foundForm(value: ValueType, { kind }: ColumnType): FormOfValues {
  const { variety, base, facets, itemType, memberTypes = [] } = value;
  if (variety === 'union') {
    const isOpen = memberTypes.every((member) => isAnyForm(formOfValues(member, { kind })));
    return isOpen && facets.patterns === undefined ? anyForm : { writtenAs: {}, keepsForm: true };
  }
  if (variety === 'list') {
    const items = itemType === undefined ? anyForm : formOfValues(itemType, { kind });
    return facets.patterns === undefined ? items : { writtenAs: items.writtenAs ?? {}, keepsForm: true };
  }
  if (facets.patterns === undefined) return anyForm;
  switch (kind) {
    case 'boolean':
      return flagForm(facets.patterns);
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
      return numberForm(facets.patterns, kind !== 'numeric');
    case 'real':
    case 'double':
      return { writtenAs: {}, keepsForm: true };
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return secondForm(facets.patterns, base === 'time' ? 'time' : 'dateTime');
    // dates and text have only one written form; zones of dates are kept
    case 'date':
    case 'text':
      return anyForm;
  }
}

function isAnyForm({ writtenAs, keepsForm }: FormOfValues): boolean {
  return writtenAs === null && !keepsForm;
}

type Patterns = NonNullable<ValueType['facets']['patterns']>;

function flagForm(patterns: Patterns): FormOfValues {
  const [yes, no, one, zero] = ['true', 'false', '1', '0'].map((text) => mayAllowText(patterns, text));
  if ((yes! || !one!) && (no! || !zero!)) return anyForm;
  if ((one! || !yes!) && (zero! || !no!)) return { writtenAs: { digits: true }, keepsForm: false };
  return { writtenAs: {}, keepsForm: true };
}

function numberForm(patterns: Patterns, isWhole: boolean): FormOfValues {
  const texts = numberTexts(patterns);
  if (texts === null) return { writtenAs: {}, keepsForm: true };
  const { leastWhole, leastFraction, isPrintable } = texts;
  // a database changes whole numbers only by dropping leading zeros
  if (isWhole && isPrintable && leastWhole === 1) return anyForm;
  return formWith(leastWhole, leastFraction, isPrintable);
}

function secondForm(patterns: Patterns, base: 'time' | 'dateTime'): FormOfValues {
  const texts = secondsTexts(patterns, base);
  if (texts === null) return { writtenAs: {}, keepsForm: true };
  // for times, the database's own form has as few digits as possible
  if (texts.isPrintable && texts.leastFraction === 0) return anyForm;
  return formWith(1, texts.leastFraction, texts.isPrintable);
}

function formWith(whole: number, fraction: number, isPrintable: boolean): FormOfValues {
  return {
    writtenAs: { ...(whole > 1 ? { whole } : {}), ...(fraction > 0 ? { fraction } : {}) },
    keepsForm: !isPrintable,
  };
}

/** `form`: the form of values of the type, without regard to the fixed value. */
export function formOfFixed(fixed: string, { kind, list }: ColumnType, form: FormOfValues): FormOfValues {
  if (kind === 'text' || kind === 'date' || list === true) return form;
  if (form.writtenAs !== null) return { ...form, keepsForm: true };
  const text = fixed.trim();
  if (kind === 'boolean') return { writtenAs: text.length === 1 ? { digits: true } : {}, keepsForm: true };
  const [, whole = '', fraction = ''] = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  const seconds = /:\d\d\.(\d+)/.exec(text)?.[1] ?? '';
  return formWith(whole.length, fraction.length + seconds.length, false);
}
