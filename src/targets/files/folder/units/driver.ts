/** The publishing side of units that are files: what executors are told, whether their types agree, and that the target takes them. */
import { join } from 'node:path';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { AppError } from '../../../../errors.ts';
import type { UnitFile, UnitTarget } from '../../../../ports/rows/units.ts';
import { columnId, type UnfitColumns } from '../../../rows/unfit-columns.ts';
import { isOwnName } from '../../json.ts';
import type { TypeRules } from './settle.ts';
import { nothingSettled, type FileUnitToken, type SettledColumns } from './token.ts';

export interface FileUnitsOptions {
  readonly model: RelationalModel;
  readonly tokenFor: (settled: SettledColumns) => Promise<FileUnitToken>;
  /** null: files have no types */
  readonly rulesFor: ((settled: SettledColumns) => Promise<TypeRules>) | null;
  /** A unit’s file at that path becomes one of the target’s. */
  readonly take: (file: UnitFile, path: string, unit: number) => Promise<void>;
  readonly nullAllowed: Set<string>;
  readonly unfit: UnfitColumns;
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

export function createFileUnits(options: FileUnitsOptions): UnitTarget {
  const { model, tokenFor, rulesFor, guarded } = options;
  let expected = 0;
  return {
    begin: (units) => {
      expected = units;
      return guarded(() => tokenFor(nothingSettled));
    },

    unsettled: async (receipts) => {
      if (rulesFor === null) return null;
      return guarded(async () => {
        // loaded where files have types
        const { settledBy, unsettledUnits } = await import('./settle.ts');
        const settled = settledBy(receipts);
        const units = await unsettledUnits(model, receipts, settled, await rulesFor(settled));
        return units.length === 0 ? null : { units, token: await tokenFor(settled) };
      });
    },

    adopt: (receipts, folderOf) =>
      guarded(async () => {
        if (receipts.length !== expected)
          throw new AppError('internal_error', `Of ${expected} units, ${receipts.length} were told of.`);
        for (const [unit, { nullAllowed, unconverted, files = [] }] of receipts.entries()) {
          for (const [table, column] of nullAllowed) options.nullAllowed.add(columnId(table, column));
          options.unfit.addAll(unconverted);
          for (const file of files) {
            if (!isOwnName(file.name))
              throw new AppError('internal_error', `Unit ${unit} tells of a file that is not its own.`);
            await options.take(file, join(folderOf(unit), file.name), unit);
          }
        }
      }),
  };
}
