/** The commands of docs/how-to/iceberg.md, and what a reader of Iceberg makes of what they wrote. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readText } from '../../rules/project-files.ts';
import { runPyiceberg } from '../../contracts/targets/readers/pyiceberg.ts';
import { isHere, needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell } from './shell.ts';

const blocks = readBlocks(readText('docs/how-to/iceberg.md'));

describe('docs/how-to/iceberg.md', { timeout: 180_000 }, () => {
  const trial = useTrial();

  it('two loads', needs('whole run'), async () => {
    const folder = await trial.folder('iceberg-page-');
    const adapt = (code: string): string => code.replaceAll('/tmp/', `${folder}/`);
    const script = adapt(blockIn(blocks, 'Write Iceberg tables', 'sh'));
    const { url } = await trial.emptyDatabase();
    const { code, output } = await runShell(script, {
      SVC_HOME: join(folder, 'home'),
      SVC_METADB_URL: url,
    });
    expect(code, output).toBe(0);
    const table = join(folder, 'ice', 'line');
    const versions = (await readdir(join(table, 'metadata'))).filter((name) => name.endsWith('.json'));
    expect(versions.toSorted()).toEqual(['v1.metadata.json', 'v2.metadata.json']);
    if (!isHere('pyiceberg')) return;
    const printed = await runPyiceberg(adapt(blockIn(blocks, 'Query it', 'python')));
    expect(printed.trim().split('\n')).toEqual(['2 /orders/order/line/sku', '117']);
  });
});
