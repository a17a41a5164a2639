/** Targets that a version before 1.0 made. Their ledger or manifest lacks members that 1.0 always writes, so they are refused. */
import { sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';

/** The refusal of such a target. `label`: the target, or its manifest; `lack`: the missing part, as `_loads has no column job_uuid`. */
export class PreReleaseFault extends AppError {
  constructor(label: string, lack: string) {
    super(
      'conflict',
      `${label}: ${lack}. A version before 1.0 made this target, or another program made or changed it. To keep its documents, write them back with the version that loaded them (er2xml), and load them into a new target with this version.`,
    );
  }
}

interface Columns {
  has(column: string): boolean;
}

/**
 * Throws AppError `conflict` for a database with a table `_loads` if that, or another table beside the data, lacks a column. `columnsOf`: returns
 * the columns of a table, or undefined if there is no table of that name.
 */
export function refusePreRelease(label: string, columnsOf: (table: string) => Columns | undefined): void {
  if (columnsOf(sideTableNames.loads) === undefined) return;
  for (const { name, columns } of Object.values(sideTableDefinitions)) {
    const there = columnsOf(name);
    const missing = there === undefined ? undefined : columns.find((column) => !there.has(column.name));
    if (missing !== undefined) throw new PreReleaseFault(label, `${name} has no column ${missing.name}`);
  }
}
