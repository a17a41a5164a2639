/**
 * Renders `views.sql` of a folder, and its variants for SQLite and MySQL: views of the business entities over the tables that the load
 * scripts make.
 */
import type { Dialect } from '../../../../engine/sql/dialect.ts';
import { duckdb } from '../../../../engine/sql/dialects/duckdb.ts';
import { mysql } from '../../../../engine/sql/dialects/mysql.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sqlite } from '../../../../engine/sql/dialects/sqlite.ts';
import { entityViews, viewScript } from '../../../../engine/views/statements.ts';
import type { SinkPlan } from '../../../../ports/row-sink.ts';
import type { TargetManifest } from '../manifest.ts';
import { adaptedModel, script, tablesOfFolder } from './folder-tables.ts';

/** The command that runs a script, and the text before and after its statements. */
interface Frame {
  readonly dialect: Dialect;
  readonly run: (script: string) => string;
  readonly begin: string;
  readonly end: string;
}

const frames = {
  psql: {
    dialect: postgresql,
    run: (script) => `psql -f ${script} DATABASE`,
    begin: '\\set ON_ERROR_STOP on\nBEGIN;',
    end: 'COMMIT;',
  },
  duckdb: {
    dialect: duckdb,
    run: (script) => `duckdb -f ${script} FILE`,
    begin: 'BEGIN;',
    end: 'COMMIT;',
  },
  sqlite: {
    dialect: sqlite,
    run: (script) => `sqlite3 FILE '.read ${script}'`,
    begin: '.bail on\nBEGIN;',
    end: 'COMMIT;',
  },
  mysql: {
    dialect: mysql,
    run: (script) => `mysql DATABASE < ${script}`,
    begin: 'SET NAMES utf8mb4;',
    end: '',
  },
} as const satisfies Readonly<Record<string, Frame>>;

export type ViewFrame = keyof typeof frames;

/** Renders the script in pieces. `name`: the script's name. */
export async function renderViews(
  { model, enumerations }: SinkPlan,
  manifest: TargetManifest,
  frame: ViewFrame,
  name: string,
): Promise<Iterable<string>> {
  const valuesAt = await enumerations?.();
  const { dialect, run, begin, end } = frames[frame];
  const views = await entityViews(adaptedModel(model, manifest), {
    dialect,
    tables: tablesOfFolder(model, manifest),
    enumeration: (table, column) => valuesAt?.(table, column)?.values ?? null,
  });
  return script([
    `-- Views over the tables that the load script of this folder makes, run behind it: ${run(name)}.`,
    begin,
    viewScript(views).join('').trimEnd(),
    end,
  ]);
}
