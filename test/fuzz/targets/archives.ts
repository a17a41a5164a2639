/** Archives: members with names that stay inside, or a fault that is told, in time. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InputError } from '../../../src/engine/diagnostics.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { tarred, zipped } from '../../support/service/archives.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import { mutate } from '../mutate.ts';

const utf8 = new TextEncoder();
const longestMs = 10_000;
/** far more than archives of this size may become */
const maxBytes = 256 * 1024 * 1024;
const limits = { maxExpansion: 100, maxMembers: 1000 };

export async function createArchivesTarget(): Promise<FuzzTarget> {
  const entries = ['a.xml', 'deep/er/b.xml', 'c.xml.gz', 'é.xml'].map((name) => ({
    name,
    bytes: name.endsWith('.gz') ? gzipSync(utf8.encode('<c/>')) : utf8.encode(`<a>${'x'.repeat(500)}</a>`),
  }));
  const tar = await tarred(entries);
  const kinds: Readonly<Record<string, readonly Uint8Array[]>> = {
    'x.zip': [zipped(entries), zipped(entries, 3)],
    'x.tar': [tar],
    'x.tgz': [gzipSync(tar)],
    'x.xml.gz': [gzipSync(utf8.encode('<a/>')), gzipSync(new Uint8Array(100_000))],
  };
  const words = [
    '../',
    '/',
    '\\',
    '\0',
    'C:',
    'PK\u0001\u0002',
    'PK\u0003\u0004',
    'PK\u0005\u0006',
    'PK\u0006\u0006',
    '19 path=../../x.xml\n',
    '20 size=99999999999\n',
    'ustar\u000000',
    '\u001f\u008b\u0008',
    '7777777',
  ].map((text) => new Uint8Array(Buffer.from(text, 'latin1')));
  const folder = await mkdtemp(join(tmpdir(), 'archives-fuzz-'));

  return {
    name: 'archives',
    async step(random) {
      const name = random.pick(Object.keys(kinds));
      const bytes = mutate(random, kinds[name]!, [...words, Uint8Array.of(255, 255, 255, 255)]);
      const path = join(folder, name);
      await writeFile(path, bytes);
      const started = performance.now();
      try {
        const inputs = await openInputs([path], () => true, limits, 'refuse');
        let total = 0;
        for await (const member of inputs.members()) {
          try {
            for await (const chunk of member.chunks()) total += chunk.length;
          } catch (error) {
            // a member at fault is told, and the others are read
            if (error instanceof InputError) continue;
            throw error;
          }
          if (/^\/|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\p{Cc}/u.test(member.name))
            throw new Finding(`a member is called ${JSON.stringify(member.name)}`, bytes);
          if (total > maxBytes) throw new Finding(`expands to more than ${maxBytes} bytes`, bytes);
        }
      } catch (error) {
        if (error instanceof Finding) throw error;
        if (!(error instanceof InputError))
          throw new Finding(`${name} throws ${String(error)}`, bytes, error);
      }
      const took = performance.now() - started;
      if (took > longestMs) throw new Finding(`${name} takes ${Math.round(took)} ms`, bytes);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
