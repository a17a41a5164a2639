/** The command of docs/how-to/database-rows.md, on a small database. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../../src/targets/sql/sqlite/database.ts';
import { readText } from '../../rules/project-files.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell } from './shell.ts';

describe('docs/how-to/database-rows.md', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let inbox: string;

  beforeAll(async () => {
    home = await trial.home();
    inbox = join(await trial.folder('columns-'), 'inbox.sqlite');
    const database = await openSqlite(inbox, { label: inbox, isNew: true });
    await database.run(
      `CREATE TABLE inbox (id INTEGER, payload TEXT, received_at TEXT); INSERT INTO inbox VALUES (7, '<order no="a"/>', '2026-11-25')`,
    );
    database.close();
  });

  it('loads what is new, and nothing twice', async () => {
    const command = blockIn(
      readBlocks(readText('docs/how-to/database-rows.md')),
      'Read XML from rows of a database',
      'sh',
    );
    const environment = { SVC_HOME: home.directory, INBOX: `sqlite:${inbox}` };
    for (const loaded of ['1 document loaded', '0 documents loaded']) {
      const { code, output } = await runShell(command, environment);
      expect(code, output).toBe(0);
      expect(output).toContain(loaded);
      expect(output).toContain('--after id continues after 7');
    }
    const sql = await trial.metadb(home);
    expect([...(await sql`select no, id, received_at from inbox."order"`)]).toEqual([
      { no: 'a', id: 7, received_at: '2026-11-25' },
    ]);
  });
});
