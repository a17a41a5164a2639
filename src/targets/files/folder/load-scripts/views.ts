/** `views.sql` of a folder, and its like for SQLite and MySQL: views of the business entities over the tables that the load scripts make. */
import type { Dialect } from '../../../../engine/sql/dialect.ts';
import { duckdb as duckdbDialect } from '../../../../engine/sql/dialects/duckdb.ts';
import { mysql as mysqlDialect } from '../../../../engine/sql/dialects/mysql.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sqlite as sqliteDialect } from '../../../../engine/sql/dialects/sqlite.ts';
import { entityViews, viewScript } from '../../../../engine/views/statements.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import {
  mysqlViewsName,
  sqliteViewsName,
  viewScriptNames,
  viewsName,
  type TargetManifest,
} from '../contents/manifest.ts';
import { adaptedModel, script, tablesOfFolder } from './psql.ts';

/** How it is run, what comes before the statements, and what behind them. */
interface Frame {
  readonly dialect: Dialect;
  readonly run: string;
  readonly begin: string;
  readonly end: string;
}

const psql: Frame = {
  dialect: postgresql,
  run: `psql -f ${viewsName} DATABASE`,
  begin: '\\set ON_ERROR_STOP on\nBEGIN;',
  end: 'COMMIT;',
};
const duckdb: Frame = {
  dialect: duckdbDialect,
  run: `duckdb -f ${viewsName} FILE`,
  begin: 'BEGIN;',
  end: 'COMMIT;',
};
const sqlite: Frame = {
  dialect: sqliteDialect,
  run: `sqlite3 FILE '.read ${sqliteViewsName}'`,
  begin: '.bail on\nBEGIN;',
  end: 'COMMIT;',
};
const mysql: Frame = {
  dialect: mysqlDialect,
  run: `mysql DATABASE < ${mysqlViewsName}`,
  begin: 'SET NAMES utf8mb4;',
  end: '',
};

/** Text by name, in pieces; none where no load asked for views. */
export async function viewScripts(
  { model, enumerations }: SinkPlan,
  manifest: TargetManifest,
): Promise<Record<string, Iterable<string>>> {
  const names = viewScriptNames(manifest);
  if (names.length === 0) return {};
  const valuesAt = await enumerations?.();
  const adapted = adaptedModel(model, manifest);
  const scripts: Record<string, Iterable<string>> = {};
  for (const name of names) {
    const { dialect, run, begin, end } = frameOf(name, manifest);
    const views = await entityViews(adapted, {
      dialect,
      tables: tablesOfFolder(model, manifest),
      enumeration: (table, column) => valuesAt?.(table, column)?.values ?? null,
    });
    scripts[name] = script([
      `-- Views over the tables that the load script of this folder makes, run behind it: ${run}.`,
      begin,
      viewScript(views).join('').trimEnd(),
      end,
    ]);
  }
  return scripts;
}

function frameOf(name: string, { format }: TargetManifest): Frame {
  if (name === sqliteViewsName) return sqlite;
  if (name === mysqlViewsName) return mysql;
  return format === 'parquet' ? duckdb : psql;
}
