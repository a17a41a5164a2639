/** What makes a start short: code is kept compiled in processes and threads alike, and what few runs need is loaded by those. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/service/waiting.ts';
import { projectRoot } from '../../rules/project-files.ts';

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
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
  /** What is kept of a program; none yet: as if it were empty. */
  const kept = async (program: string): Promise<{ readonly file: string; readonly text: string }> => {
    const cache = join(folder, 'node_modules/.cache/compile');
    const files = await readdir(cache, { recursive: true }).catch(() => []);
    const file = join(cache, files.find((path) => path.endsWith(`modules/${program}`)) ?? program);
    return { file, text: await readFile(file, 'latin1').catch(() => '') };
  };
  const start = (env?: NodeJS.ProcessEnv): Promise<string> =>
    run([join(folder, 'src/tools/bin/unload.mjs')], env);
  /** Started until they are kept: what has just changed is not. */
  const startUntilKept = (text: string): Promise<string> =>
    eventually(`${text} is kept`, async () => {
      const output = await start();
      const all = (await kept('commands-unload.ts')).text;
      return all.includes(`'${text}'`) && all.includes('"/tools/commands/unload.ts"') ? output : null;
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
      return (await kept('threads-load-thread.ts')).text.includes(`'in the thread'`) ? true : null;
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

    it('and reads none of them again, with lines and columns as they are written', async () => {
      expect(await startUntilKept('first')).toBe('é first 2:20\n');
      const preload = join(folder, 'tell-reads.mjs');
      await writeFile(
        preload,
        `import fs from 'node:fs';
         import { syncBuiltinESMExports } from 'node:module';
         const { readFileSync } = fs;
         fs.readFileSync = (path, ...rest) => {
           if (String(path).endsWith('.ts')) console.log('reads', String(path).split('/').at(-1));
           return readFileSync(path, ...rest);
         };
         syncBuiltinESMExports();`,
      );
      const told = { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` };
      expect(await start(told)).toBe('reads commands-unload.ts\né first 2:20\n');
      await writeFile(word(), saying('other'));
      expect(await start(told)).toBe(
        'reads commands-unload.ts\nreads word.ts\nreads unload.ts\né other 2:20\nreads commands-unload.ts\n',
      );
    });

    it('until a module changes, whatever time it is given', async () => {
      await startUntilKept('other');
      const before = await stat(word());
      await writeFile(word(), saying('third'));
      await utimes(word(), before.atime, before.mtime);
      expect(await start()).toBe('é third 2:20\n');
      expect(await startUntilKept('third')).toBe('é third 2:20\n');
    });

    it('but not by flags that were set on the way', async () => {
      await startUntilKept('third');
      const before = (await kept('commands-unload.ts')).text;
      await writeFile(
        join(folder, 'src/engine/flags.ts'),
        `import { setFlagsFromString } from 'node:v8';\nsetFlagsFromString('--heap-growing-percent=50');\nawait import('./word.ts');`,
      );
      const script = join(folder, 'src/tools/commands/unload.ts');
      const written = await readFile(script, 'utf8');
      await writeFile(script, `import '../../engine/flags.ts';\n${written}`);
      expect(await start()).toContain('é third');
      expect((await kept('commands-unload.ts')).text).toBe(before);
      await writeFile(script, written);
    });

    it.each([
      ['is cut off', (whole: string) => whole.slice(0, 30)],
      ['ends in the middle of a module', (whole: string) => whole.slice(0, -300)],
      ['has other code in it', (whole: string) => whole.replaceAll(`'third'`, `'other'`)],
      ['another Node wrote', (whole: string) => whole.replace(process.version, 'v1.2.3')],
      ['is no such file', () => '\0\n\n'],
    ])('and does without a file that %s', async (_what, damage) => {
      await startUntilKept('third');
      const { file, text } = await kept('commands-unload.ts');
      await writeFile(file, damage(text), 'latin1');
      expect(await start()).toBe('é third 2:20\n');
      expect(await startUntilKept('third')).toBe('é third 2:20\n');
    });
  });

  it('does without where nothing can be kept', async () => {
    const cache = join(folder, 'node_modules/.cache');
    await rm(cache, { recursive: true });
    await writeFile(cache, '');
    expect(await start()).toContain('é third');
    await rm(cache);
  });

  it('leaves to Node what it does not understand, and has no module twice', async () => {
    await writeFile(join(folder, 'src/engine/one.ts'), `export class One {}\nexport default 'initial';`);
    await writeFile(
      join(folder, 'src/engine/odd.ts'),
      `import initial, { One as Only } from './one.ts';\nexport let turns = 1;\nexport const turn = () => { turns += 1; return [initial, Only]; };`,
    );
    await writeFile(
      join(folder, 'src/tools/commands/xsd2er.ts'),
      `import { One } from '../../engine/one.ts';
       const odd = await import('../../engine/odd.ts');
       const [initial, Same] = odd.turn();
       console.log(odd.turns, initial, One === Same, odd === await import('../../engine/odd.ts'));`,
    );
    const program = join(folder, 'src/tools/bin/xsd2er.mjs');
    expect([await run([program]), await run([program])]).toEqual(
      Array.from({ length: 2 }, () => '2 initial true true\n'),
    );
  });

  it('keeps the driver of databases with its own modules, and encryption for those who use it', async () => {
    const driver = join(folder, 'node_modules/postgres');
    await mkdir(join(driver, 'src'), { recursive: true });
    await writeFile(join(driver, 'package.json'), '{"type":"module","exports":"./src/index.js"}');
    await writeFile(
      join(driver, 'src/index.js'),
      `import tls from 'tls'\nimport Reply from './reply.js'\nexport default function connect() { return new Reply(tls.DEFAULT_MIN_VERSION) }`,
    );
    await writeFile(
      join(driver, 'src/reply.js'),
      `export default class Reply { constructor(version) { this.version = version } }`,
    );
    await writeFile(
      join(folder, 'src/engine/odd.ts'),
      `import Same from 'postgres';\nexport let turns = 1;\nexport const same = () => { turns += 1; return Same; };`,
    );
    await writeFile(
      join(folder, 'src/tools/commands/xsd2er.ts'),
      `import connect from 'postgres';
       const hasTls = (): boolean => process.moduleLoadList.includes('NativeModule tls');
       const before = hasTls();
       const { version } = connect();
       console.log(before, version, hasTls(), connect === (await import('../../engine/odd.ts')).same());`,
    );
    const program = join(folder, 'src/tools/bin/xsd2er.mjs');
    await eventually('it is kept', async () => {
      expect(await run([program])).toBe('false TLSv1.2 true true\n');
      return (await kept('commands-xsd2er.ts')).text.includes('"/:postgres/src/reply.js"') ? true : null;
    });
    expect(await run([program])).toBe('false TLSv1.2 true true\n');
    await writeFile(
      join(driver, 'src/reply.js'),
      `export default class Reply { constructor() { this.version = 'another release' } }`,
    );
    expect(await run([program])).toBe('false another release true true\n');
    await rename(join(driver, 'src'), join(driver, 'lib'));
    await writeFile(join(driver, 'package.json'), '{"type":"module","exports":"./lib/index.js"}');
    expect(await run([program])).toBe('true another release true true\n');
    await rm(driver, { recursive: true });
    expect(await run([program])).toContain("Cannot find package 'postgres'");
  });

  it('has modules that need each other', async () => {
    await writeFile(
      join(folder, 'src/engine/even.ts'),
      `import { odd } from './uneven.ts';\nexport const zero = 0;\nexport function even(n: number): boolean { return n === zero || odd(n - 1); }`,
    );
    await writeFile(
      join(folder, 'src/engine/uneven.ts'),
      `import { even } from './even.ts';\nexport function odd(n: number): boolean { return n !== 0 && even(n - 1); }`,
    );
    await writeFile(
      join(folder, 'src/tools/commands/er2xml.ts'),
      `import { even } from '../../engine/even.ts'; console.log(even(8), even(7));`,
    );
    const program = join(folder, 'src/tools/bin/er2xml.mjs');
    await eventually('they are kept', async () => {
      expect(await run([program])).toBe('true false\n');
      return (await kept('commands-er2xml.ts')).text.includes('even.ts') ? true : null;
    });
    expect(await run([program])).toBe('true false\n');
    await writeFile(
      join(folder, 'src/engine/uneven.ts'),
      `import { even, zero } from './even.ts';\nexport function odd(n: number): boolean { return n !== zero && even(n - 1); }`,
    );
    // Node has it as it is written: a constant is not there in time for a copy
    expect(await run([program])).toBe('true false\n');
  });

  it.each([
    ['a name that is not exported', `import { nothing } from '../../engine/said.ts'; console.log(nothing);`],
    ['what is no code', 'const ; await import("node:fs");'],
  ])('tells of %s', async (_what, source) => {
    await writeFile(join(folder, 'src/engine/said.ts'), saying('here'));
    await writeFile(join(folder, 'src/tools/commands/transfer.ts'), source);
    expect(await run([join(folder, 'src/tools/bin/migrate.mjs')])).toContain('SyntaxError');
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
      const { openModules } = await import(${href('src/tools/bin/modules/load.mjs')});
      const { load } = openModules(${JSON.stringify(join(folder, 'kept'))});
      const { connectPostgres } = await load(${href('src/adapters/postgres/client/connect.ts')});
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
