/** The commands of docs/how-to/metadata.md, each with the file that it writes, on the demo's schema. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportFormats } from '../../../src/engine/metadata/formats.ts';
import { projectRoot, readText } from '../../rules/project-files.ts';
import { readZip } from '../../support/read-zip.ts';
import { createServiceHome, serviceEnvironment, type ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { blockIn, readBlocks } from './blocks.ts';

const blocks = readBlocks(readText('docs/how-to/metadata.md'));
const wordsOf = (heading: string): string[][] =>
  blockIn(blocks, heading, 'sh')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '));
const lines = wordsOf('Metadata for other tools');
const texts: Readonly<Record<string, RegExp>> = {
  odcs: /^kind: DataContract$/m,
  mermaid: /^erDiagram$/m,
  dbml: /^Table "order" \{$/m,
  frictionless: /"path": "order\.csv"/,
  jsonschema: /"order": \{/,
  avro: /"name": "order"/,
};

describe('docs/how-to/metadata.md', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  const run = (args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, [join(projectRoot, 'bin/conversion-job-service.mjs'), ...args], {
      env: serviceEnvironment(home),
      cwd: home.directory,
    });
  beforeAll(async () => {
    home = await createServiceHome();
    await convert(home, 'xsd2er', join(projectRoot, 'scripts/demo/xsd'), '--name', 'demo');
  });
  afterAll(() => home?.remove());

  it('has a command for every format', () => {
    expect(lines.map((words) => words[words.indexOf('--as') + 1])).toEqual(exportFormats);
  });

  it.for(lines.map((words) => [words.join(' '), words] as const))('%s', async ([, words]) => {
    const [npx, program, ...args] = words;
    expect([npx, program]).toEqual(['npx', 'conversion-job-service']);
    await run(args);
    const written = await readFile(join(home.directory, args.at(-1)!));
    const format = args[args.indexOf('--as') + 1]!;
    if (format !== 'dbt') return expect(written.toString()).toMatch(texts[format]!);
    const names = [...(await readZip(written)).keys()];
    expect(names).toEqual(
      expect.arrayContaining([
        'dbt_project.yml',
        'profiles.yml',
        'models/sources.yml',
        'models/staging/stg_order.sql',
      ]),
    );
  });

  it.for(wordsOf('Data dictionary').map((words) => [words.join(' '), words] as const))(
    '%s',
    async ([, words]) => {
      const [npx, program, ...args] = words;
      expect([npx, program]).toEqual(['npx', 'conversion-job-service']);
      await run(args);
      const file = args.at(-1)!;
      const written = await readFile(join(home.directory, file));
      if (file.endsWith('.md')) expect(written.toString()).toMatch(/^\| unit\\_price \|.*numeric.*\|$/m);
      else expect([...(await readZip(written)).keys()]).toContain('xl/workbook.xml');
    },
  );

  it.for([
    [['schema', 'demo', '--as', 'dbtt', '-o', 'x'], 'did you mean dbt?'],
    [['schema', 'demo', '--as', 'dbt'], '-o FILE.zip'],
    [['schema', 'demo', '-o', 'x'], '--as FORMAT'],
    [['schema', 'dem', '--as', 'dbml'], 'demo'],
  ] as const)('%s is refused with what to do', async ([args, told]) => {
    await expect(run(args)).rejects.toMatchObject({ stderr: expect.stringContaining(told) as string });
  });
});
