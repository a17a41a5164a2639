/** The code of docs/how-to/own-adapters.md is run: what it opens works, and its skeletons pass the contracts. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FileStore } from '../../../src/ports/files.ts';
import type { ProcessRunner } from '../../../src/ports/processes.ts';
import type { OpenedService } from '../../../src/runtime/node.ts';
import { fileStoreContract, processRunnerContract } from '../../../src/testing.ts';
import { readText } from '../../rules/project-files.ts';
import { createServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from './blocks.ts';

const trial = useTrial();
const blocks = readBlocks(readText('docs/how-to/own-adapters.md'));
const source = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;

let folder: string;
beforeAll(async () => {
  folder = await trial.folder('own-adapters-');
});

/** Writes a block to a file that can be imported from here. */
async function moduleOf(code: string, home = folder): Promise<string> {
  const file = join(folder, `${randomUUID()}.ts`);
  const adapted = code
    .replaceAll("'conversion-job-service/node'", `'${source('src/runtime/node.ts')}'`)
    .replaceAll("'conversion-job-service/testing'", `'${source('src/testing.ts')}'`)
    .replaceAll("'conversion-job-service'", `'${source('src/index.ts')}'`)
    .replaceAll(
      /'\.\/(memory-store|thread-runner)\.ts'/g,
      (_, name: string) => `'${source(`examples/custom-adapters/${name}.ts`)}'`,
    )
    .replaceAll('/srv/conversions', home);
  await writeFile(file, adapted);
  return file;
}

async function open(index: number): Promise<{ service: OpenedService; [name: string]: unknown }> {
  const database = await trial.database();
  const home = trial.keep(await createServiceHome({ 'metadb.url': database.url }), (one) => one.remove());
  const code = blockIn(blocks, 'Write your own adapter', 'ts', index);
  const exported = [...code.matchAll(/^const (\w+)/gm)].map(([, name]) => name).join(', ');
  const file = await moduleOf(
    `${code.replace('environment:', 'write() {},\n  environment:')}\nexport { ${exported} };\n`,
    home.directory,
  );
  const opened = (await import(file)) as { service: OpenedService };
  return trial.keep(opened, ({ service }) => service.close());
}

describe('docs/how-to/own-adapters.md', { timeout: 60_000 }, () => {
  it('opens a service with a store and a runner of the host', async () => {
    const { service, files } = await open(0);
    const { path } = await service.adapters.files.saveUpload(1, 'a.xml', new Blob(['<a/>']).stream(), 10);
    const location = await (files as FileStore).resolve(1, path, true);
    expect(await new Response(await (files as FileStore).read(location)).text()).toBe('<a/>');
  });

  it('wraps an adapter of the service', async () => {
    const { service, removed } = await open(1);
    const { catalog } = service.adapters;
    expect(await catalog.removeOrigin(1, 12_345)).toBe(false);
    expect(await catalog.listOrigins(1)).toEqual([]);
    expect(removed).toEqual([]);
  });

  it('runs the contracts by the test runner of Node', async () => {
    const file = await moduleOf(blockIn(blocks, 'Test it', 'ts'));
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file]);
    const cases =
      fileStoreContract(never<FileStore>).length + processRunnerContract(never<ProcessRunner>).length;
    expect(stdout).toMatch(new RegExp(`^# pass ${cases}$`, 'm'));
  });
});

function never<T>(): Promise<T> {
  return Promise.reject(new Error('the cases are only counted'));
}

interface Skeletons {
  createBucketStore(bucket: object): FileStore;
  createChildRunner(): ProcessRunner;
}

describe('the skeleton of a store', () => {
  for (const { name, run } of fileStoreContract(async () => {
    const file = await moduleOf(blockIn(blocks, 'A file store', 'ts'));
    const { createBucketStore } = (await import(file)) as Skeletons;
    return createBucketStore(createMemoryBucket());
  }))
    it(name, run);
});

describe('the skeleton of a runner', () => {
  for (const { name, run } of processRunnerContract(async () => {
    const file = await moduleOf(blockIn(blocks, 'A runner', 'ts'));
    return ((await import(file)) as Skeletons).createChildRunner();
  }))
    it(name, run);
});

function createMemoryBucket(): object {
  const stored = new Map<string, { bytes: Uint8Array; modified: number; version: string }>();
  let writes = 0;
  return {
    get: async (key: string) => stored.get(key)?.bytes ?? null,
    put: async (key: string, bytes: Uint8Array) =>
      void stored.set(key, { bytes, modified: Date.now(), version: String((writes += 1)) }),
    remove: async (key: string) => stored.delete(key),
    list: async (prefix: string) =>
      [...stored]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { bytes, ...facts }]) => ({ key, bytes: bytes.length, ...facts })),
  };
}
