/** Counts the documents whose rows were removed from a target. */
export interface RemovedDocuments {
  readonly documents: number;
  /** different names, or keys of a merge, of theirs */
  readonly names: number;
  /** by table; tables that lost none are left out */
  readonly rows: Readonly<Record<string, number>>;
}

export const nothingRemoved: RemovedDocuments = { documents: 0, names: 0, rows: {} };

export function addRemoved(one: RemovedDocuments, other: RemovedDocuments): RemovedDocuments {
  const rows = { ...one.rows };
  for (const [table, count] of Object.entries(other.rows)) rows[table] = (rows[table] ?? 0) + count;
  return { documents: one.documents + other.documents, names: one.names + other.names, rows };
}
