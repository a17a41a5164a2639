/** Secrets that are looked for everywhere, a server that repeats what it is sent, and where they might be. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';

/** What all of them hold; each has a name beside it, and what ends a word, a part of an address or a text somewhere. */
const core = 'zqCanary9';
export const canary = (name: string): string => `${core}${name}/+="é&`;
/** The same where it must stand in an address as it is. */
export const raw = (name: string): string => `${core}${name}`;
const forms = secretForms(core);
/** closed */
export const nobody = '127.0.0.1:9';

export const found = (text: string): string[] =>
  forms.flatMap((form) => {
    const at = text.indexOf(form);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 120), at + 80)];
  });

/** Repeats whatever it is sent, as servers do that help people to find a fault. */
export function echo(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url!, 'http://web');
  const told = `${request.url} ${JSON.stringify(request.headers)}`;
  const xml = `<Error><Code>${told.replaceAll(/[<&]/g, '')}</Code><Message>${told.replaceAll(/[<&]/g, '')}</Message></Error>`;
  if (pathname === '/feed/a.xml') response.writeHead(200, { ETag: '"1"' }).end('<a><b>1</b></a>');
  else if (pathname === '/feed/bad.xml') response.writeHead(200, { ETag: '"2"' }).end('<a><b>1</a>');
  else if (pathname === '/signed')
    response
      .writeHead(302, { Location: `/refused?X-Amz-Signature=${raw('Redirect')}&sig=${raw('Redirect')}` })
      .end();
  else if (pathname === '/elsewhere')
    response
      .writeHead(302, {
        Location: `https://ann:${raw('Elsewhere')}@169.254.169.254/?sig=${raw('Elsewhere')}`,
      })
      .end();
  else
    response
      .writeHead(403, told.replaceAll(/[^\x20-\x7e]/g, ''), { 'Content-Type': 'application/xml' })
      .end(xml);
}

/** Adds what files hold below a folder, as it is now. */
export async function readFiles(directory: string, to: Map<string, string>): Promise<void> {
  await mkdir(directory, { recursive: true });
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, 'latin1').catch(() => '');
    to.set(path.slice(directory.length + 1), text);
  }
}

/** Arguments and environments of all processes but those that a person has started here with a secret among the words. */
export async function readProcesses(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const texts = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string): Promise<string> =>
        readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
      const before = await read('cmdline');
      const environment = await read('environ');
      const after = await read('cmdline');
      const lines = [before, after];
      if (lines.some((line) => /\/bin\/\w+\.mjs/.test(line) && !line.includes('\0-j\0'))) return [];
      return [...lines, environment];
    }),
  );
  return texts.flat().filter((text) => text !== '');
}
