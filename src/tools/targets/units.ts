/** Opens the sink of one unit from the data that the target gave its executors. */
import type { FileUnitToken } from '../../targets/files/units.ts';
import type { LakeUnitToken } from '../../targets/files/lake/units.ts';
import type { PostgresUnitToken } from '../../targets/sql/postgres/units.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { UnitToken, UnitSink } from '../../ports/row-sink.ts';

/** The unit, the model of its tables, and the folder for its files. */
export interface UnitPlace {
  readonly unit: number;
  readonly model: RelationalModel;
  /** folder of this attempt alone */
  readonly folder: string;
}

/** AppError: the target cannot be reached from here, or does not let the job in. */
export async function openUnit(token: UnitToken, { unit, model, folder }: UnitPlace): Promise<UnitSink> {
  switch (token.kind) {
    case 'postgresql': {
      const { openPostgresUnit } = await import('../../targets/sql/postgres/units.ts');
      return openPostgresUnit(token as PostgresUnitToken, unit);
    }
    case 'folder': {
      const { openFileUnit } = await import('../../targets/files/units.ts');
      return openFileUnit(token as FileUnitToken, model, folder);
    }
    case 'lake': {
      const { openLakeUnit } = await import('../../targets/files/lake/units.ts');
      return openLakeUnit(token as LakeUnitToken, model, folder);
    }
  }
}
