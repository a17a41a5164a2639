/** What the values of all units decide for the types of each one's Parquet files, and which units have others. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { UnitFile, UnitReceipt } from '../../../../ports/rows/units.ts';
import { UnfitColumns } from '../../../rows/unfit-columns.ts';
import { mostDigits, typesOf, type ColumnDigits, type ColumnTyping } from '../parquet.ts';
import { digitsOf, typingOf, type SettledColumns } from './token.ts';

/** What they have decided so far: digits grow until each unit has counted its own. */
export function settledBy(receipts: readonly UnitReceipt[]): SettledColumns {
  const unfit = new UnfitColumns();
  const digits = new Map<number | string, ColumnDigits>();
  for (const { unconverted, files = [] } of receipts) {
    unfit.addAll(unconverted);
    for (const file of files) {
      if (file.digits === undefined) continue;
      const own = new Map(file.digits.map(([column, whole, fraction]) => [column, { whole, fraction }]));
      digits.set(file.table, mostDigits(digits.get(file.table) ?? new Map(), own));
    }
  }
  return {
    unfit: unfit.columns,
    digits: [...digits].map(([table, columns]) => [
      table,
      [...columns].map(([column, { whole, fraction }]) => [column, whole, fraction] as const),
    ]),
  };
}

/** `typingFor`: what a format of tables adds; `numbered`: whether a file has the numbers that its columns are to have. */
export interface TypeRules {
  readonly typingFor?: (key: number | string) => Pick<ColumnTyping, 'typeOf'>;
  readonly numbered?: (file: UnitFile) => Promise<boolean>;
}

/** Numbers of the units that have a file of other types, or have not counted digits that count. */
export async function unsettledUnits(
  model: RelationalModel,
  receipts: readonly UnitReceipt[],
  settled: SettledColumns,
  { typingFor, numbered }: TypeRules,
): Promise<number[]> {
  const types = new Map<number | string, readonly string[]>();
  const expected = async (key: number | string): Promise<readonly string[]> => {
    let found = types.get(key);
    if (found === undefined) {
      const typing = { ...typingOf(model, key, settled), ...typingFor?.(key) };
      types.set(key, (found = await typesOf(typing, digitsOf(key, settled))));
    }
    return found;
  };
  const counted = new Set(settled.digits.map(([table]) => table));
  const isSettled = async (file: UnitFile): Promise<boolean> => {
    if (counted.has(file.table) && file.digits === undefined) return false;
    const wanted = await expected(file.table);
    return (
      wanted.every((type, at) => type === file.types?.[at]) &&
      (numbered === undefined || (await numbered(file)))
    );
  };
  const found: number[] = [];
  for (const [unit, { files = [] }] of receipts.entries())
    for (const file of files)
      if (!(await isSettled(file))) {
        found.push(unit);
        break;
      }
  return found;
}
