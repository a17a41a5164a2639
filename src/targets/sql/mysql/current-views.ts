/** Views of rows that are current (`--history`), made behind the job, as each of them would end its transaction. No fault of one fails the load. */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { currentViews } from '../../../engine/views/current-rows.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { Mysql } from './connection.ts';
import { foldedName, readTables } from './tables.ts';

/** Answers what to say of it. `tables`: the model's. */
export async function makeCurrentViews(
  database: Mysql,
  { model }: SinkPlan,
  tables: readonly PhysicalTable[],
): Promise<readonly string[]> {
  const known = await readTables(database);
  const definitions = await database.rows(
    'SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()',
  );
  const ours = new Set(
    definitions.flatMap(([name, text]) =>
      text?.includes(sideTableNames.documents) === true && text.includes('valid_to')
        ? [foldedName(name!)]
        : [],
    ),
  );
  const views = currentViews(model, {
    dialect: mysql,
    sqlSchema: null,
    columnsOf: (table) => {
      const there = known.get(foldedName(tables[table]!.name));
      return there === undefined ? null : [...there.columns.values()].map(({ name }) => name);
    },
  });
  const told: string[] = [];
  for (const { name, statements } of views) {
    if (known.has(foldedName(name)) && !ours.has(foldedName(name))) {
      told.push(`${name}: not made as a view, no load made what has this name`);
      continue;
    }
    try {
      await database.run(statements[0]!.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW'));
    } catch (error) {
      told.push(`${name}: no view could be made: ${(error as Error).message}`);
    }
  }
  return told;
}
