/** A model as a database has it. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { Dialect } from '../../engine/sql/dialect.ts';
import { withListTables, type ListTable } from '../../engine/sql/list-tables.ts';
import { physicalTables, type PhysicalTable } from '../../engine/sql/physical-model.ts';

/** Lists are arrays, or tables of their items. */
export interface DrawnModel {
  /** the tables of the job's model under their indexes, then those of lists */
  readonly model: RelationalModel;
  readonly tables: readonly PhysicalTable[];
  readonly lists: readonly ListTable[];
}

export function drawModel(model: RelationalModel, dialect: Dialect): DrawnModel {
  const { model: drawn, lists } = withListTables(model, dialect);
  return { model: drawn, tables: physicalTables(drawn, dialect, model), lists };
}
