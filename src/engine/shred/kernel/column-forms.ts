/** Which conversion of src/engine/shred/kernel/shred.as a column takes, and with what: those of src/engine/shred/values/conversion.ts that are common. */
import type { Column } from '../../model/relational-model.ts';
import { isCollapsed } from '../values/conversion.ts';

/** what the kernel leaves to others: lists, names whose prefixes mean something */
const OTHERS = 0;
const TEXT = 1;
const BOOLEAN = 2;
const INTEGER = 3;
const DECIMAL = 4;
const FLOAT = 5;
const DATE = 6;
const TIME = 7;
const TIMESTAMP = 8;
const TIMESTAMP_UTC = 9;

const COLLAPSES = 1;
const KEEPS_FORM = 2;

/** Digits and exponent that a value can have together without coming near the bounds of the type. */
const realDigits = 36;
const doubleDigits = 290;

export interface ColumnForm {
  readonly conversion: number;
  /** text: most characters, -1 for any number; integers: digits of the highest; decimal: precision, -1 without; floats: see above */
  readonly first: number;
  /** decimal: scale */
  readonly second: number;
  readonly flags: number;
  /** digits after the point in the form that the database prints; -1: any number */
  readonly plainScale: number;
}

const integerDigits = { smallint: 5, integer: 10, bigint: 19 } as const;

export function columnForm(column: Column): ColumnForm {
  const { type, sourceType, keepsForm } = column;
  const form = (conversion: number, first = 0, second = 0): ColumnForm => ({
    conversion,
    first,
    second,
    flags: (isCollapsed(column) ? COLLAPSES : 0) | (keepsForm === true ? KEEPS_FORM : 0),
    plainScale: type.precision === undefined ? -1 : (type.scale ?? 0),
  });
  if (type.list === true || sourceType === 'QName' || sourceType === 'NOTATION') return form(OTHERS);
  switch (type.kind) {
    case 'text':
      return form(TEXT, type.length ?? -1);
    case 'boolean':
      return form(BOOLEAN);
    case 'smallint':
    case 'integer':
    case 'bigint':
      return form(INTEGER, integerDigits[type.kind]);
    case 'numeric':
      return form(DECIMAL, type.precision ?? -1, type.scale ?? 0);
    case 'real':
      return form(FLOAT, realDigits);
    case 'double':
      return form(FLOAT, doubleDigits);
    case 'date':
      return form(DATE);
    case 'time':
      return form(TIME);
    case 'timestamp':
      return form(TIMESTAMP);
    case 'timestamptz':
      return form(TIMESTAMP_UTC);
  }
}
