/** The launchers on an old Node: another one is found and used, or the message says what to do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../rules/project-files.ts';

/** Makes the running Node say that it is an old one. */
const pretendOld = `--import=data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } });",
)}`;

const probe = `
const words: string[] = process.argv.slice(2);
if (words[0] === 'wait') {
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => undefined, 1000);
} else process.exitCode = 3;
console.log(JSON.stringify({ words, version: process.versions.node, execPath: process.execPath }));
`;

function start(folder: string, flags: readonly string[], words: readonly string[]) {
  const child = spawn(process.execPath, [...flags, join(folder, 'bin/xml2er.mjs'), ...words]);
  const answer = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (answer.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (answer.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ ...answer, code: code as number | null }));
  return { child, ended };
}

describe('the launcher', () => {
  let project: string;

  /** A project folder with the launcher and a probe, and where `bundled`, with this Node as the package's. */
  async function makeProject(name: string, bundled: boolean): Promise<string> {
    const folder = join(project, name);
    await mkdir(join(folder, 'src/programs'), { recursive: true });
    await cp(join(projectRoot, 'bin'), join(folder, 'bin'), { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(folder, 'src/programs/tools.ts'),
      "export const programs = { xml2er: () => import('../xml2er.ts') };",
    );
    await writeFile(join(folder, 'src/xml2er.ts'), probe);
    if (bundled) {
      await mkdir(join(folder, 'node_modules/node/bin'), { recursive: true });
      await symlink(process.execPath, join(folder, 'node_modules/node/bin/node'));
    }
    return folder;
  }

  beforeAll(async () => {
    project = await realpath(await mkdtemp(join(tmpdir(), 'launch-')));
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it('runs the entry in this Node when it is new enough', async () => {
    const folder = await makeProject('new', false);
    const { code, stdout } = await start(folder, [], ['a', 'b c', '--d=$e']).ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      words: ['a', 'b c', '--d=$e'],
      version: process.versions.node,
      execPath: process.execPath,
    });
  });

  it('goes over to the Node of the package when this one is old, arguments and exit code kept', async () => {
    const folder = await makeProject('old', true);
    const { code, stdout } = await start(folder, [pretendOld], ['a', 'b c', '--d=$e']).ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      words: ['a', 'b c', '--d=$e'],
      version: process.versions.node,
    });
  });

  it('passes signals on', async () => {
    const folder = await makeProject('signals', true);
    const { child, ended } = start(folder, [pretendOld], ['wait']);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(7);
  });

  it('is linked where npx looks first', async () => {
    const folder = await makeProject('linked', true);
    await mkdir(join(folder, 'scripts'));
    await cp(join(projectRoot, 'scripts/link-bins.mjs'), join(folder, 'scripts/link-bins.mjs'));
    await writeFile(join(folder, 'package.json'), '{"type":"module","bin":{"xml2er":"bin/xml2er.mjs"}}');
    for (const time of ['first', 'again']) {
      const [linked] = await once(spawn(process.execPath, [join(folder, 'scripts/link-bins.mjs')]), 'close');
      expect(linked, time).toBe(0);
    }
    const child = spawn(join(folder, 'node_modules/.bin/xml2er'), ['a'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(output.toString())).toMatchObject({ words: ['a'] });
    expect(await once(child, 'close')).toEqual([3, null]);
  });

  it('says what to do where the package is missing', async () => {
    const folder = await makeProject('bare', false);
    const { code, stdout, stderr } = await start(folder, [pretendOld], ['a']).ended;
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('This needs Node 22.18 or later. Running is 20.11.1');
    expect(stderr).toContain('npm ci');
    expect(stderr).toContain('--ignore-scripts');
  });
});
