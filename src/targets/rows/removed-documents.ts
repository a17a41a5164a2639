/** Counts the documents whose rows were removed from a target. */
export interface RemovedDocuments {
  readonly documents: number;
  /** the number of different document names, or merge keys */
  readonly names: number;
  /** by table, without tables that lost no rows */
  readonly rows: Readonly<Record<string, number>>;
}

export const nothingRemoved: RemovedDocuments = { documents: 0, names: 0, rows: {} };

export function addRemoved(one: RemovedDocuments, other: RemovedDocuments): RemovedDocuments {
  const rows = { ...one.rows };
  for (const [table, count] of Object.entries(other.rows)) rows[table] = (rows[table] ?? 0) + count;
  return { documents: one.documents + other.documents, names: one.names + other.names, rows };
}
