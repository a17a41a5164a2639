/** er2xml that a signal ends in the middle of a document: it says so, and leaves no part of it. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, startTool } from '../../support/service/tools.ts';
import { eventually } from '../../support/service/waiting.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('er2xml in the middle of a document', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let rows: string;

  beforeAll(async () => {
    home = await trial.home();
    rows = join(home.directory, 'rows');
    const document = join(home.directory, 'large.xml');
    const row = '<row><text>some words of a row</text><text>and others</text></row>\n';
    await writeFile(document, `<rows>${row.repeat(800_000)}</rows>`);
    await convert(home, 'xml2er', document, '-o', rows, '-f', 'tsv');
  }, 120_000);

  it.each([
    ['SIGHUP', 129],
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends by %s with %i, and says what stays', async (signal, code) => {
    const out = join(home.directory, signal);
    await mkdir(out);
    const tool = startTool(home, 'er2xml', ['-i', rows, '-o', out]);
    await eventually('a part is there', async () => ((await readdir(out)).length > 0 ? true : null));
    process.kill(tool.pid, signal);
    const run = await tool.ended;
    expect([run.code, run.stdout]).toEqual([
      code,
      expect.stringMatching(/^interrupted; documents that were already written are complete, and stay$/m),
    ]);
    expect(await readdir(out)).toEqual([]);
    expect((await readdir(rows)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});
