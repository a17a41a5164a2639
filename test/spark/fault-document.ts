/**
 * The document of jobs whose parts are killed. SPARK_FAULT_DOCUMENT and SPARK_FAULT_ROW: one in place of ours, of some megabytes, and the name of
 * its rows.
 */
import { copyFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { LoadedTables } from './loaded-tables.ts';

const { SPARK_FAULT_DOCUMENT: other, SPARK_FAULT_ROW: row = 'order' } = process.env;

/** as `--row-tag` names it */
export const faultRow = row;

/** of ours */
const rows = 16_000;

export async function writeFaultDocument(path: string): Promise<void> {
  if (other === undefined) await writeFile(path, orders(rows));
  else await copyFile(other, path);
}

/** There are as many documents as there are rows. */
export function expectFaultRows(found: LoadedTables): void {
  if (other === undefined) expect(found['_documents']).toHaveLength(rows);
  else expect((found['_documents'] ?? []).length).toBeGreaterThan(1);
}

function orders(count: number): string {
  const all = Array.from(
    { length: count },
    (_, index) =>
      `<order id="${index}"><customer>C${index % 97}</customer><line>${index}</line><line/></order>\n`,
  );
  return `<orders>${all.join('')}</orders>`;
}
