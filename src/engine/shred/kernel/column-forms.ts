/**
 * Selects the conversion of src/engine/shred/kernel/shred.as for a column, and its parameters. The kernel has the common conversions of
 * src/engine/shred/values/conversion.ts.
 */
import type { Column } from '../../model/relational-model.ts';
import { holdsNames } from '../../model/source-model.ts';
import { isCollapsed } from '../../model/white-space.ts';
import * as layout from './layout.ts';

/** Digits and exponent that a value can have together without coming near the bounds of the type. */
const realDigits = 36;
const doubleDigits = 290;

export interface ColumnForm {
  readonly conversion: number;
  /** text: most characters, -1 for any number; integers: digits of the highest; decimal: precision, -1 without; floats: see above */
  readonly first: number;
  /** text: fewest characters; decimal: scale */
  readonly second: number;
  readonly flags: number;
  /** digits after the point in the printed form; -1: any number; SHORTEST_SCALE less n: as many as the value needs, at least n */
  readonly plainScale: number;
}

const integerKinds: ReadonlySet<Column['type']['kind']> = new Set(['smallint', 'integer', 'bigint']);
const integerDigits = { smallint: 5, integer: 10, bigint: 19 } as const;

/** `scalesDecimals`: see the settings of a walk; `keepsOffset`: the offset of a value is written to the next column */
export function columnForm(column: Column, scalesDecimals: boolean, keepsOffset: boolean): ColumnForm {
  const { type, sourceType, keepsForm } = column;
  const form = (conversion: number, first = 0, second = 0): ColumnForm => ({
    conversion,
    first,
    second,
    flags: (isCollapsed(column) ? layout.COLLAPSES : 0) | (keepsForm === true ? layout.KEEPS_FORM : 0),
    plainScale: plainScaleOf(column, scalesDecimals),
  });
  if (holdsNames(sourceType) || hasRareForm(column)) return form(layout.CONVERT_OTHERS);
  if (type.list === true) return listForm(column);
  switch (type.kind) {
    case 'text':
      return form(layout.CONVERT_TEXT, type.length ?? -1, type.fixed === true ? type.length : 0);
    case 'boolean':
      return form(layout.CONVERT_BOOLEAN);
    case 'smallint':
    case 'integer':
    case 'bigint':
      return form(layout.CONVERT_INTEGER, integerDigits[type.kind]);
    case 'numeric':
      return form(layout.CONVERT_DECIMAL, type.precision ?? -1, type.scale ?? 0);
    case 'real':
      return form(layout.CONVERT_FLOAT, realDigits);
    case 'double':
      return form(layout.CONVERT_FLOAT, doubleDigits);
    case 'date':
      return form(layout.CONVERT_DATE);
    case 'time':
      return form(layout.CONVERT_TIME);
    case 'timestamp':
      return form(layout.CONVERT_TIMESTAMP);
    case 'timestamptz':
      return form(keepsOffset ? layout.CONVERT_TIMESTAMP_OFFSET : layout.CONVERT_TIMESTAMP_UTC);
  }
}

/** Returns the form of a list column. Its items may have any form that fits. */
function listForm({ type }: Column): ColumnForm {
  const [conversion, first, second] = itemForm(type);
  const isOther = conversion === layout.CONVERT_OTHERS;
  return {
    conversion: isOther ? conversion : layout.CONVERT_LIST + conversion,
    first,
    second,
    flags: 0,
    plainScale: -1,
  };
}

function itemForm(type: Column['type']): readonly [conversion: number, first: number, second: number] {
  switch (type.kind) {
    case 'text':
      return [layout.CONVERT_TEXT, type.length ?? -1, 0];
    case 'smallint':
    case 'integer':
    case 'bigint':
      return [layout.CONVERT_INTEGER, integerDigits[type.kind], 0];
    case 'numeric':
      return [layout.CONVERT_DECIMAL, type.precision ?? -1, type.scale ?? 0];
    case 'real':
      return [layout.CONVERT_FLOAT, realDigits, 0];
    case 'double':
      return [layout.CONVERT_FLOAT, doubleDigits, 0];
    default:
      return [layout.CONVERT_OTHERS, 0, 0];
  }
}

/** True if values are compared with forms that the kernel does not know. */
function hasRareForm({ type, keepsForm, writtenAs }: Column): boolean {
  if (keepsForm !== true || writtenAs === undefined) return false;
  return (
    type.list === true || type.kind === 'double' || writtenAs.digits === true || writtenAs.whole !== undefined
  );
}

function plainScaleOf({ type, keepsForm, writtenAs }: Column, scalesDecimals: boolean): number {
  if (writtenAs !== undefined && !integerKinds.has(type.kind))
    return layout.SHORTEST_SCALE - (writtenAs.fraction ?? 0);
  if (type.precision !== undefined) return type.scale ?? 0;
  return scalesDecimals && keepsForm === true ? layout.SHORTEST_SCALE : -1;
}
