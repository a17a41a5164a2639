/** Rows of `_codes` in a folder (`--codes`): those of earlier jobs and of this one, each type and code once. */
import { codeRows } from '../../../../engine/sql/code-lists.ts';
import { codesTable } from '../../../../engine/model/side-tables.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import { codesOf } from '../../../rows/code-lists.ts';
import type { CodeRow, TargetManifest } from './manifest.ts';

export interface KeptCodes {
  /** null: what is there stays */
  readonly rows: readonly CodeRow[] | null;
  /** for the log */
  readonly changes: readonly string[];
}

/** What a folder's manifest says of them. */
export interface CodesBefore extends Pick<TargetManifest, 'codes'> {
  readonly tables: readonly { readonly name: string }[];
}

/** `isWritten`: tables that this job has rows for. */
export async function keptCodes(
  plan: SinkPlan,
  before: CodesBefore,
  isWritten: (table: string) => boolean,
): Promise<KeptCodes> {
  const choice = plan.codes ?? (before.codes === undefined ? 'none' : 'table');
  if (choice === 'none') return { rows: null, changes: [] };
  const { tables } = plan.model;
  const { name } = codesTable;
  const there = new Set(before.tables.map((table) => table.name));
  if (tables.some((table) => table.name === name) || (before.codes === undefined && there.has(name)))
    return {
      rows: null,
      changes: [`${name}: not filled with codes, it is the name of another table`],
    };
  const planned = await codesOf(
    plan,
    (table) => isWritten(tables[table]!.name) || there.has(tables[table]!.name),
  );
  const rows = new Map((before.codes ?? []).map((row) => [JSON.stringify(row.slice(0, 2)), row]));
  for (const { type, code, label, documentation } of codeRows(planned)) {
    const key = JSON.stringify([type, code]);
    const known = rows.get(key);
    rows.set(key, [type, code, label ?? known?.[2] ?? null, documentation ?? known?.[3] ?? null]);
  }
  return {
    rows: rows.size === 0 ? null : [...rows.values()],
    changes: choice === 'check' ? ['files have no checks of codes, --codes check fills _codes alone'] : [],
  };
}
