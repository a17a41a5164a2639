/** The commands of docs/how-to/delta.md, and what a reader of Delta makes of what they wrote. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readText } from '../../rules/project-files.ts';
import { runDeltalake } from '../../contracts/targets/readers/deltalake.ts';
import { isHere, needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell } from './shell.ts';

const blocks = readBlocks(readText('docs/how-to/delta.md'));

describe('docs/how-to/delta.md', { timeout: 180_000 }, () => {
  const trial = useTrial();

  it('two loads, partitions, and compaction', needs('whole run'), async () => {
    const folder = await trial.folder('delta-page-');
    const adapt = (code: string): string => code.replaceAll('/tmp/', `${folder}/`);
    const script = adapt(blockIn(blocks, 'Write Delta tables', 'sh'));
    const { url } = await trial.emptyDatabase();
    const { code, output } = await runShell(script, {
      SVC_HOME: join(folder, 'home'),
      SVC_METADB_URL: url,
    });
    expect(code, output).toBe(0);
    const table = join(folder, 'lake', 'line');
    expect((await readdir(join(table, '_delta_log'))).toSorted()).toEqual([
      '00000000000000000000.json',
      '00000000000000000001.json',
    ]);
    if (isHere('deltalake')) {
      const printed = await runDeltalake(adapt(blockIn(blocks, 'Query it', 'python')));
      expect(printed.trim().split('\n')).toEqual(['1 /orders/order/line/sku', '117']);
    }
    const partitioned = await runShell(adapt(blockIn(blocks, 'Partitions', 'sh')), {
      SVC_HOME: join(folder, 'home'),
      SVC_METADB_URL: url,
    });
    expect(partitioned.code, partitioned.output).toBe(0);
    const log = join(folder, 'partitioned', 'order', '_delta_log', '00000000000000000000.json');
    expect(await readFile(log, 'utf8')).toContain('"partitionColumns":["ordered_month","status"]');
    const compact = await runShell(adapt(blockIn(blocks, 'Small files', 'sh')), {
      SVC_HOME: join(folder, 'home'),
      SVC_METADB_URL: url,
    });
    expect(compact.output).toContain('line: 2 files became 1');
    expect(compact.code).toBe(0);
  });
});
