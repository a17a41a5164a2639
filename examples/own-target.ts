/**
 * A kind of targets of one's own: `-o documents:FILE` keeps every row as a JSON document in one table of a SQLite file, as a document database would. A service or tool
 * learns of it by the property `svc.targets.modules`, which has the absolute path of this file.
 */
import { DatabaseSync } from 'node:sqlite';
import { registerTarget, type RowStore } from 'conversion-job-service/targets';

registerTarget({
  scheme: 'documents',
  form: 'documents:FILE',
  check: (file) => (/^\/[\w./-]+$/.test(file) ? null : 'needs the absolute path of a file'),
  open: async ({ text: file }) => openDocuments(file),
});

export function openDocuments(file: string): RowStore {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS state (text TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS document (batch TEXT NOT NULL, collection TEXT NOT NULL, body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS document_batch ON document (batch);`);
  return {
    async readState() {
      return (database.prepare('SELECT text FROM state').get()?.['text'] as string | undefined) ?? null;
    },

    async change({ state, add, drop }, mayCommit) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const remove = database.prepare('DELETE FROM document WHERE batch = ?');
        for (const batch of drop) remove.run(batch);
        const insert = database.prepare('INSERT INTO document (batch, collection, body) VALUES (?, ?, ?)');
        for (const batch of add)
          for await (const line of linesIn(batch.lines())) insert.run(batch.name, batch.table, line);
        database.exec('DELETE FROM state');
        database.prepare('INSERT INTO state (text) VALUES (?)').run(state);
        await mayCommit();
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },

    async *readLines(batch) {
      const rows = database.prepare('SELECT body FROM document WHERE batch = ? ORDER BY rowid');
      for (const { body } of rows.iterate(batch)) yield new TextEncoder().encode(`${body as string}\n`);
    },

    async close() {
      database.close();
    },
  };
}

/** Lines without their ends. */
async function* linesIn(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
