/** Columns with values that their types cannot hold, and the types that they get instead when the job publishes. */
import {
  maxDecimalDigits,
  type ColumnType,
  type RelationalModel,
} from '../../engine/model/relational-model.ts';
import type { UnfitColumn, UnfitDigits } from '../../ports/row-sink.ts';

/** Keyed by `columnId`. */
export type WidenedTypes = ReadonlyMap<string, ColumnType>;

/** The maximum digits of exact numbers in a target, and the maximum after the point. */
export interface DecimalRoom {
  readonly digits: number;
  readonly fraction: number;
}

export const usualRoom: DecimalRoom = { digits: maxDecimalDigits, fraction: maxDecimalDigits };

const text: ColumnType = { kind: 'text' };
/** without leading zeros, as every database prints it */
const plainNumber = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/;
const wholeKinds: ReadonlySet<ColumnType['kind']> = new Set(['smallint', 'integer', 'bigint']);

function holdsWholeNumbers({ kind, scale, list }: ColumnType): boolean {
  return list !== true && (wholeKinds.has(kind) || (kind === 'numeric' && scale === 0));
}

/** Returns the identifier of a column of the model; tables and columns count from 0. */
export function columnId(table: number, column: number): string {
  return `${table}:${column}`;
}

/** Returns the index of the table of a `columnId`. */
export function tableOfId(id: string): number {
  return Number(id.slice(0, id.indexOf(':')));
}

export class UnfitColumns {
  readonly #columns = new Map<string, UnfitColumn>();

  /** `digits`: see `UnfitColumn` */
  add(table: number, column: number, digits: UnfitDigits | null): void {
    const id = columnId(table, column);
    const known = this.#columns.get(id)?.[2];
    this.#columns.set(id, [table, column, known === undefined ? digits : mostOf(known, digits)]);
  }

  addAll(columns: readonly UnfitColumn[]): this {
    for (const column of columns) this.add(...column);
    return this;
  }

  get columns(): readonly UnfitColumn[] {
    return [...this.#columns.values()];
  }

  /** Returns the new types: numbers with as many digits as the values need if the target supports them; otherwise text. */
  types({ tables }: RelationalModel, room: DecimalRoom): WidenedTypes {
    return new Map(
      [...this.#columns].map(([id, [table, column, digits]]) => {
        const { type, keepsForm = false } = tables[table]!.columns[column]!;
        return [
          id,
          (digits === null ? null : widerNumber(type, digits, { room, keepsForm })) ?? text,
        ] as const;
      }),
    );
  }
}

function mostOf(a: UnfitDigits | null, b: UnfitDigits | null): UnfitDigits | null {
  if (a === null || b === null) return null;
  return {
    whole: Math.max(a.whole, b.whole),
    fraction: Math.max(a.fraction, b.fraction),
    fewest: Math.min(a.fewest, b.fewest),
    padded: Math.max(a.padded, b.padded),
  };
}

/** Returns null if the target has no such number type, or if it would not return the values in their written form when that matters. */
function widerNumber(
  type: ColumnType,
  { whole, fraction, fewest, padded }: UnfitDigits,
  { room, keepsForm }: { readonly room: DecimalRoom; readonly keepsForm: boolean },
): ColumnType | null {
  if (holdsWholeNumbers(type)) {
    if (fraction + padded > 0 || whole > room.digits) return null;
    return room.digits === Infinity
      ? { kind: 'numeric' }
      : { kind: 'numeric', precision: room.digits, scale: 0 };
  }
  const { kind, precision, scale = 0, list } = type;
  if (kind !== 'numeric' || precision === undefined || list === true) return null;
  // without a scale, each value is read back as it was written
  if (room.digits === Infinity) return { kind: 'numeric' };
  const behind = Math.max(scale, fraction);
  if (keepsForm && (fewest < scale || Math.max(behind, padded) > scale)) return null;
  const digits = Math.max(precision - scale, whole) + behind;
  if (digits > room.digits || behind > room.fraction) return null;
  return { kind: 'numeric', precision: digits, scale: behind };
}

/** Counts the digits of a number that has no exponent, plus sign or leading zeros. Returns null for any other text. */
export function plainDigits(value: string): UnfitDigits | null {
  const parts = plainNumber.exec(value);
  if (parts === null) return null;
  const [, whole = '', fraction = ''] = parts;
  const counted = fraction.replace(/0+$/, '').length;
  return {
    whole: whole === '0' ? 0 : whole.length,
    fraction: counted,
    fewest: fraction.length,
    padded: counted === fraction.length ? 0 : fraction.length,
  };
}

export function widenedWords({ kind }: ColumnType): string {
  return `widened to ${kind}`;
}
