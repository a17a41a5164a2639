/** Name and version out of package.json, and in a checkout the commit. */
import { readFile } from 'node:fs/promises';
import { installation } from '../installation.ts';
import type { BuildInfo } from '../ports/adapters.ts';

export async function readBuildInfo(): Promise<BuildInfo> {
  const { name, version } = JSON.parse(await readFile(new URL('package.json', installation), 'utf8')) as {
    name: string;
    version: string;
  };
  return { name, version, time: null, git: await readHead().catch(() => null) };
}

async function readHead(): Promise<BuildInfo['git']> {
  const head = (await readFile(new URL('.git/HEAD', installation), 'utf8')).trim();
  const ref = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
  if (ref === undefined)
    return /^[0-9a-f]{40,64}$/.test(head) ? { branch: 'HEAD', commit: { id: head, time: null } } : null;
  const id = await readFile(new URL(`.git/${ref}`, installation), 'utf8').catch(() => packedRef(ref));
  const branch = ref.replace(/^refs\/heads\//, '');
  return /^[0-9a-f]{40,64}\s*$/.test(id) ? { branch, commit: { id: id.trim(), time: null } } : null;
}

async function packedRef(ref: string): Promise<string> {
  const packed = await readFile(new URL('.git/packed-refs', installation), 'utf8');
  return (
    packed
      .split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(' ')[0] ?? ''
  );
}
