/**
 * Lists the targets for rows: the driver, the mechanism that makes a load atomic, and the versions that were tested (docs/targets.md,
 * “What was run”).
 */
import type { WhatWasRun } from './kind.ts';
import { targetKinds } from './kinds.ts';

/** Databases that get scripts and DDL alone. */
const byScripts: readonly WhatWasRun[] = [
  {
    target: 'Snowflake, BigQuery, Redshift, Databricks: scripts',
    driver: 'the warehouse’s own client',
    transaction: 'as above',
    run_against: 'none of them: sqlglot parses each; Snowflake’s loads by fakesnow 0.12',
  },
  {
    target: 'Trino, ClickHouse: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'ClickHouse 26.9 (chdb 4.4), with rows and views; sqlglot parses both',
  },
  {
    target: 'SQL Server, Oracle: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'nothing: a parser of each dialect (sqlglot) reads it',
  },
];

export function whatWasRun(): readonly WhatWasRun[] {
  return [...targetKinds.flatMap((kind) => kind.whatWasRun), ...byScripts];
}

/** Returns the rows without the Markdown of the page. */
export function whatWasRunPlain(): readonly WhatWasRun[] {
  return whatWasRun().map((row) => ({
    target: plain(row.target),
    driver: plain(row.driver),
    transaction: plain(row.transaction),
    run_against: plain(row.run_against),
  }));
}

function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}
