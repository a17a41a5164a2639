/** The client for Java that openapi-generator makes of the served document: it compiles, and converts a document. */
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { convertedByClient } from '../../support/generated-clients.ts';
import { needs, openapiGenerator, skipFor } from '../../support/needs.ts';
import { projectRoot } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { firstLine } from '../../support/tool-cache.ts';

const execute = promisify(execFile);
const document = join(projectRoot, 'scripts/demo/documents/orders-2026-03-04-a.xml');
const trial = useTrial();

it('converts a document', { timeout: 600_000, ...needs(['java client', 'whole run']) }, async (context) => {
  const service = await trial.service(await trial.home({ 'cmd.enabled': 'true' }));
  const folder = await trial.folder('java-client-');
  const run = async (program: string, ...argv: string[]): Promise<string> =>
    (await execute(program, argv, { cwd: folder, maxBuffer: 2 ** 26 })).stdout;
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${service.url}/openapi.json`)).text());
  const options = ['-g', 'java', '--library', 'native', '-i', 'openapi.json', '-o', '.'];
  await run('java', '-jar', openapiGenerator(), 'generate', ...options);
  const libraries = ['dependency:copy-dependencies', '-DincludeScope=compile'];
  await run('mvn', '-q', '-B', ...libraries).catch((error: unknown) =>
    skipFor(context, 'java client', firstLine(error)),
  );
  // the program, too, so that the types of the answers are checked
  await cp(join(projectRoot, 'test/fixtures/clients/Main.java'), join(folder, 'src/main/java/Main.java'));
  await mkdir(join(folder, 'classes'));
  const sources = (await run('find', 'src/main/java', '-name', '*.java')).trim().split('\n');
  await run('javac', '-d', 'classes', '-cp', 'target/dependency/*', ...sources);
  const told = await run(
    'java',
    '-cp',
    'classes:target/dependency/*',
    'Main',
    service.url,
    service.key,
    document,
  );
  expect(JSON.parse(told.trim().split('\n').at(-1)!)).toEqual(convertedByClient);
});
