/** Programs run from their build, with compiled code kept between runs, and from their sources once those change. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../rules/project-files.ts';
import { useTrial } from '../../support/service/trial.ts';

async function run(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  await once(child, 'close');
  return output;
}

const trial = useTrial();
let folder: string;

/** A project with the launchers, the build script and two programs. */
beforeAll(async () => {
  folder = await realpath(await trial.folder('quick-start-'));
  for (const room of ['src/programs', 'src/engine/map', 'scripts', 'node_modules'])
    await mkdir(join(folder, room), { recursive: true });
  await cp(join(projectRoot, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(projectRoot, 'scripts/build.mjs'), join(folder, 'scripts/build.mjs'));
  for (const name of ['esbuild', '@esbuild'])
    await symlink(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), '{"type":"module","dependencies":{}}');
  await writeFile(join(folder, 'src/engine/map/draw.ts'), 'export const draw = (): string => "drawn";\n');
  await writeFile(join(folder, 'src/programs/service.ts'), 'export const programs = {};\n');
  await writeFile(
    join(folder, 'src/programs/tools.ts'),
    `export const programs = { xml2er: () => import('../xml2er.ts'), thread: () => import('../thread.ts') };\n`,
  );
  await writeFile(
    join(folder, 'src/thread.ts'),
    `import { parentPort } from 'node:worker_threads';\nparentPort!.postMessage(process.argv[1]!.split('/').at(-1));\n`,
  );
  await say('first');
});

/** The program prints the word, the file that it runs from, and the file that its thread runs from. */
async function say(word: string): Promise<void> {
  await writeFile(
    join(folder, 'src/xml2er.ts'),
    `import { Worker } from 'node:worker_threads';
     declare const ENGINE_IDENTITY: string | undefined;
     const word: string = '${word}';
     const identity = typeof ENGINE_IDENTITY === 'string' ? ENGINE_IDENTITY.length : 'none';
     const here = process.argv[1]!.split('/').at(-1);
     const thread = new Worker('${join(folder, 'bin/launch.mjs')}', { argv: ['tools/thread'], env: {} });
     thread.once('message', (there) => console.log(word, here, there, identity));\n`,
  );
}

const build = (): Promise<string> => run([join(folder, 'scripts/build.mjs')]);
const start = (): Promise<string> => run([join(folder, 'bin/xml2er.mjs')]);
/** Names of the files of compiled code. */
async function compiledFiles(): Promise<string[]> {
  const names = await readdir(join(folder, 'node_modules/.cache/compile'), { recursive: true });
  return names.toSorted();
}

describe('a program', () => {
  it('runs from its sources before it is built', async () => {
    expect(await start()).toBe('first tools.ts tools.ts none\n');
  });

  it('runs from its build, as its threads do', async () => {
    expect(await build()).toBe('');
    expect(await start()).toBe('first tools.cjs tools.cjs 64\n');
  });

  it('runs from its sources when one of them changed, until it is built again', async () => {
    await say('second');
    expect(await start()).toBe('second tools.ts tools.ts none\n');
    await build();
    expect(await start()).toBe('second tools.cjs tools.cjs 64\n');
    await rm(join(folder, 'src/engine/map/draw.ts'));
    expect(await start()).toBe('second tools.ts tools.ts none\n');
    await build();
  });

  it('does without sources', async () => {
    await cp(join(folder, 'src'), join(folder, 'kept'), { recursive: true });
    await rm(join(folder, 'src'), { recursive: true });
    expect(await start()).toBe('second tools.cjs tools.cjs 64\n');
    await cp(join(folder, 'kept'), join(folder, 'src'), { recursive: true });
    await build();
  });

  it('keeps what V8 compiled, until it is built again', async () => {
    await start();
    const kept = await compiledFiles();
    expect(kept.length).toBeGreaterThan(1);
    await start();
    expect(await compiledFiles()).toEqual(kept);
    // a build of the same length
    await say('thirds');
    await build();
    expect(await start()).toBe('thirds tools.cjs tools.cjs 64\n');
  });

  it('starts where nothing can be kept', async () => {
    const cache = join(folder, 'node_modules/.cache');
    await rm(cache, { recursive: true });
    await writeFile(cache, '');
    expect(await start()).toBe('thirds tools.cjs tools.cjs 64\n');
    await rm(cache);
    await start();
  });

  it('says which module is missing', async () => {
    await writeFile(join(folder, 'src/xml2er.ts'), `import './nowhere.ts';`);
    expect(await start()).toContain('nowhere.ts');
  });
});

/** What a build of this source, as part of the engine, is identified by. */
async function identityOf(source: string): Promise<string> {
  await writeFile(join(folder, 'src/engine/map/draw.ts'), source);
  await writeFile(
    join(folder, 'src/xml2er.ts'),
    'declare const ENGINE_IDENTITY: string;\nconsole.log(ENGINE_IDENTITY);\n',
  );
  await build();
  return start();
}

it('the identity of the engine changes with its code, and not with its comments', async () => {
  const first = await identityOf('export const draw = (): string => "drawn";\n');
  expect(first).toMatch(/^[0-9a-f]{64}\n$/);
  expect(await identityOf('/** Draws. */\nexport const draw = ():  string => "drawn"; // so\n')).toBe(first);
  expect(await identityOf('export const draw = (): string => "painted";\n')).not.toBe(first);
});

it('`openService` on a Node that is too old says so', async () => {
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } });
    const { openService } = await import(${JSON.stringify(pathToFileURL(join(projectRoot, 'src/runtime/node.ts')).href)});
    await openService({ environment: {} }).catch((error) => console.log(error.message));`;
  expect(await run(['--input-type=module', '-e', script])).toBe(
    'conversion-job-service needs Node 22.18 or later. Running is 20.11.1.\n',
  );
});
