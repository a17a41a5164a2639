/** Migration packages: one that can be imported, or a fault that is told, in time; the manifest agrees with what was changed. */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import { checkPackage } from '../../../src/service/transfer/package-import.ts';
import {
  manifestName,
  partNames,
  type PackageManifest,
} from '../../../src/service/transfer/package-format.ts';
import type { PackageFolder, PartDigest } from '../../../src/ports/files.ts';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { createServiceHome, startService } from '../../support/service/start.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import { mutate } from '../mutate.ts';

const utf8 = new TextEncoder();
const longestMs = 10_000;
const words = [
  'null',
  '0',
  '-1',
  '1e400',
  '""',
  '[]',
  '{}',
  '[[]]',
  'true',
  '"\\u0000"',
  '"\\ud800"',
  '\n',
  ',',
  ':',
  '}',
  '"__proto__":{}',
  '"constructor":1',
  '"name":"x\'; drop table svc.job; --"',
  '"parent":1',
  '"origin":2',
  '"version":0',
  '"logical_schema":1',
  '"svg":"<svg><script/></svg>"',
  '\\! id',
  '﻿',
  '9'.repeat(30),
].map((text) => utf8.encode(text));

type Parts = ReadonlyMap<string, Uint8Array>;

export async function createPackageTarget(): Promise<FuzzTarget> {
  const good = await exported();
  const seeds = partNames.map((name) => good.get(name)!);
  await checkPackage(folderOf(good));

  return {
    name: 'package',
    async step(random) {
      const name = random.chance(0.9) ? random.pick(partNames) : manifestName;
      const changed = mutate(random, [good.get(name)!], random.chance(0.2) ? [...words, ...seeds] : words);
      const parts = new Map([...good, [name, changed]]);
      if (name !== manifestName) sign(parts, name);
      const started = performance.now();
      try {
        await checkPackage(folderOf(parts));
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'unprocessable_input'))
          throw new Finding(`${name}: throws ${String(error)}`, changed, error);
      }
      const took = performance.now() - started;
      if (took > longestMs) throw new Finding(`${name}: takes ${Math.round(took)} ms`, changed);
    },
    close: () => Promise.resolve(),
  };
}

/** What a real service exports. */
async function exported(): Promise<Parts> {
  const home = await createServiceHome();
  const service = await startService(home);
  try {
    const { client } = service;
    const xsd = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const xml = await client.upload('xml', 'freight.xml', utf8.encode(freightDocuments[0]!.text));
    const { jobs } = await client.run([
      execution('xsd2er', xsd),
      execution('xml2er', xml, [['-o', 'metadb:freight']], '$0'),
    ]);
    const [made] = await Promise.all(jobs.map((idJob) => client.ended(idJob)));
    const request = { origin_id: String(made!.id_sch), output_path: 'package' };
    await client.post('/v2/schema/export', request);
    const folder = join(home.directory, 'files', String(made!.id_org), 'package');
    const names = await readdir(folder);
    return new Map(
      await Promise.all(
        names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const),
      ),
    );
  } finally {
    await service.end('SIGTERM');
    await home.remove();
  }
}

function digestOf(bytes: Uint8Array): PartDigest {
  return {
    records: bytes.filter((byte) => byte === 10).length,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

/** Hashes keep nobody out who can make them. */
function sign(parts: Map<string, Uint8Array>, name: string): void {
  const { sha256: _, ...manifest } = JSON.parse(
    new TextDecoder().decode(parts.get(manifestName)),
  ) as PackageManifest;
  const entry = digestOf(parts.get(name)!);
  const content = {
    ...manifest,
    parts: manifest.parts.map((part) => (part.name === name ? { name: part.name, ...entry } : part)),
  };
  const sha256 = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  parts.set(manifestName, utf8.encode(JSON.stringify({ ...content, sha256 })));
}

function folderOf(parts: Parts): PackageFolder {
  return {
    listFiles: async () => [...parts].map(([name, { length }]) => ({ name, bytes: length })),
    write: () => Promise.reject(new Error('packages are only read here')),
    read: (name) => {
      const bytes = parts.get(name)!;
      return {
        lines: (async function* () {
          let text: string;
          try {
            text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
          } catch {
            throw new AppError('unprocessable_input', `${name} is not UTF-8`);
          }
          const lines = text.split('\n');
          if (lines.at(-1) === '') lines.pop();
          yield* lines;
        })(),
        digest: () => digestOf(bytes),
      };
    },
  };
}
