/** Queries that answer the questions: files of SQL with one statement for each question of a standard, in their order. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Those to our tables; `folder`: of another tool's. null: a standard that there are none for. */
export function queriesOf(
  standard: { readonly name: string },
  folder = join(import.meta.dirname, 'sql'),
): string[] | null {
  const path = join(folder, `${standard.name}.sql`);
  if (!existsSync(path)) return null;
  return readFileSync(path, 'utf8')
    .replace(/^--.*\n/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** How many tables a statement reads beside its first; what it names itself (`with`) and elements of arrays are no tables. */
export function joinsOf(statement: string): number {
  const named = new Set(
    [...statement.matchAll(/(?:\bwith(?:\s+recursive)?|\),)\s+(\w+)\s+as\s*\(/g)].map(([, name]) => name!),
  );
  const read = [...statement.matchAll(/\b(?:from|join)\s+"?(\w+)"?(?!\w*\s*\()/g)].map(([, name]) => name!);
  const tables = read.filter((name) => !named.has(name) && name !== 'lateral' && name !== 'unnest');
  return Math.max(0, tables.length - 1);
}
