/** What makes a start short: code is kept compiled in processes and threads alike, and what few runs need is loaded by those. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/service/waiting.ts';
import { projectRoot } from '../../rules/project-files.ts';

async function run(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  await once(child, 'close');
  return output;
}

/** In a script: a file of the project. */
const href = (path: string): string => JSON.stringify(pathToFileURL(join(projectRoot, path)).href);

/** A module that says the word. */
const saying = (word: string): string =>
  `const word: string = '${word}';\nexport const say = (): string => \`é \${word}\`;\n`;

describe('a quick start', () => {
  let folder: string;

  const word = (): string => join(folder, 'src/engine/word.ts');
  const kept = (): string => join(folder, 'node_modules/.cache/compile/sources');
  const start = (): Promise<string> => run([join(folder, 'src/tools/bin/unload.mjs')]);
  /** Started until they are kept: what has just changed is not. */
  const startUntilKept = (text: string): Promise<string> =>
    eventually(`${text} is kept`, async () => {
      const output = await start();
      return (await readFile(kept(), 'utf8').catch(() => '')).includes(`'${text}'`) ? output : null;
    });

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'quick-start-')));
    for (const room of ['src/engine', 'src/tools/commands', 'src/tools/load/threads'])
      await mkdir(join(folder, room), { recursive: true });
    await cp(join(projectRoot, 'src/tools/bin'), join(folder, 'src/tools/bin'), { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('keeps compiled code of processes and of their threads', async () => {
    await writeFile(
      join(folder, 'src/engine/cache.ts'),
      `import { getCompileCacheDir } from 'node:module'; export const cache = (): string => getCompileCacheDir() ?? 'none';`,
    );
    await writeFile(
      join(folder, 'src/tools/load/threads/load-thread.ts'),
      `import { parentPort } from 'node:worker_threads'; import { cache } from '../../../engine/cache.ts'; parentPort!.postMessage(cache());`,
    );
    await writeFile(
      join(folder, 'src/tools/commands/xml2er.ts'),
      `import { Worker } from 'node:worker_threads';
       import { cache } from '../../engine/cache.ts';
       const thread = new Worker(new URL('../bin/load-thread.mjs', import.meta.url), { env: {} });
       thread.once('message', (ofThread: string) => console.log(JSON.stringify([cache(), ofThread])));`,
    );
    const [ofProcess, ofThread] = JSON.parse(
      await run([join(folder, 'src/tools/bin/xml2er.mjs')]),
    ) as string[];
    expect(ofProcess).toContain(join(folder, 'node_modules/.cache/compile'));
    expect(ofThread).toBe(ofProcess);
  });

  it('keeps sources of threads, which others end', async () => {
    await writeFile(
      join(folder, 'src/tools/load/threads/load-thread.ts'),
      `import { parentPort } from 'node:worker_threads'; const only: string = 'in the thread'; parentPort!.on('message', () => parentPort!.postMessage(only));`,
    );
    await writeFile(
      join(folder, 'src/tools/commands/xml2er.ts'),
      `import { Worker } from 'node:worker_threads';
       const thread = new Worker(new URL('../bin/load-thread.mjs', import.meta.url), { env: {} });
       thread.once('message', (word: string) => { console.log(word); void thread.terminate(); });
       thread.postMessage('begin');`,
    );
    // what has just changed is not kept
    await eventually('the module of the thread is kept', async () => {
      expect(await run([join(folder, 'src/tools/bin/xml2er.mjs')])).toBe('in the thread\n');
      return (await readFile(kept(), 'utf8').catch(() => '')).includes(`'in the thread'`) ? true : null;
    });
  });

  describe('keeps sources without their types', () => {
    beforeAll(async () => {
      await writeFile(word(), saying('first'));
      await writeFile(
        join(folder, 'src/tools/commands/unload.ts'),
        `import { say } from '../../engine/word.ts';\nconsole.log(say(), new Error('x').stack!.split('unload.ts:')[1]!.split('\\n')[0]);`,
      );
    });

    it('and runs by them, with lines and columns as they are written', async () => {
      expect(await startUntilKept('first')).toBe('é first 2:20\n');
      // as long, so that the file stays whole
      await writeFile(kept(), (await readFile(kept(), 'utf8')).replace("'first'", "'later'"));
      expect(await start()).toBe('é later 2:20\n');
    });

    it('until a module changes, whatever time it is given', async () => {
      await startUntilKept('later');
      const before = await stat(word());
      await writeFile(word(), saying('other'));
      await utimes(word(), before.atime, before.mtime);
      expect(await start()).toBe('é other 2:20\n');
      expect(await startUntilKept('other')).toBe('é other 2:20\n');
    });

    it.each([
      ['is cut off', (whole: string) => whole.slice(0, 30)],
      ['another Node wrote', (whole: string) => whole.replace(process.version, 'v1.2.3')],
      ['is no such file', () => '\0\n\n'],
    ])('and does without a file that %s', async (_what, damage) => {
      await startUntilKept('other');
      await writeFile(kept(), damage(await readFile(kept(), 'utf8')));
      expect(await start()).toBe('é other 2:20\n');
      expect(await startUntilKept('other')).toBe('é other 2:20\n');
    });
  });

  it('tells which module is missing', async () => {
    await writeFile(join(folder, 'src/tools/commands/er2xml.ts'), `import '../../engine/nowhere.ts';`);
    expect(await run([join(folder, 'src/tools/bin/er2xml.mjs')])).toContain('nowhere.ts');
  });

  it('reaches a database that wants encryption', async () => {
    const sockets = new Set<Socket>();
    const hello = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      // the answer to SSLRequest; what follows is the client's hello
      socket.once('data', () => {
        socket.once('data', (bytes: Buffer) => {
          hello.resolve(bytes);
          socket.destroy();
        });
        socket.write('S');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const script = `
      const { quickStart } = await import(${href('src/tools/bin/quick-start.mjs')});
      quickStart();
      const { connectPostgres } = await import(${href('src/adapters/postgres/client/connect.ts')});
      const sql = connectPostgres('postgres://u@127.0.0.1:${port}/d?sslmode=require', { applicationName: 'test', max: 1 });
      await sql\`select 1\`.catch(() => undefined);
      await sql.end({ timeout: 0 });`;
    await run(['--input-type=module', '-e', script]);
    for (const socket of sockets) socket.destroy();
    server.close();
    // a handshake record (RFC 8446, 5.1)
    expect([...(await hello.promise).subarray(0, 2)]).toEqual([0x16, 0x03]);
  });
});
