/** DTDs and entities that lie beside documents, and those that must not be read. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { describeRecord } from '../../../src/engine/xml/kernel/tape.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { documentTest } from '../../../src/inputs/document-names.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { readDocument } from '../../../src/inputs/read-document.ts';
import { tarOf, zipped } from '../../support/service/archives.ts';

const utf8 = new TextEncoder();
const catalog = `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog" prefer="public">
  <public publicId="-//X//DTD  d//EN" uri="dtds/d.dtd"/>
  <rewriteSystem systemIdStartString="http://x.example/" rewritePrefix="dtds/"/>
  <system systemId="http://x.example/away.dtd" uri="http://elsewhere.example/away.dtd"/>
</catalog>`;
const files: Readonly<Record<string, string>> = {
  'in/catalog.xml': catalog,
  'in/dtds/d.dtd': '<!ENTITY % more SYSTEM "more/e.ent">%more;<!ATTLIST d lang CDATA "eo">',
  'in/dtds/more/e.ent': '<!ENTITY e "\u0125">',
  'in/sub/relative.xml': '<!DOCTYPE d SYSTEM "../dtds/d.dtd"><d>&e;</d>',
  'in/sub/public.xml': '<!DOCTYPE d PUBLIC "-//X//DTD d//EN" "http://nowhere.invalid/d.dtd"><d>&e;</d>',
  'in/rewritten.xml': '<!DOCTYPE d SYSTEM "http://x.example/d.dtd"><d>&e;</d>',
  'in/chapters.xml': '<!DOCTYPE d [<!ENTITY c SYSTEM "sub/c.ent">]><d>&c;</d>',
  'in/sub/c.ent': '<?xml encoding="UTF-8"?><c>text</c>',
  'in/spaced.xml': '<!DOCTYPE d SYSTEM "dtds/more%2F..%2Fd.dtd"><d>&e;</d>',
  'outside.dtd': '<!ENTITY e "secret">',
};
const refused: Readonly<Record<string, readonly [string, string]>> = {
  'in/up.xml': ['<!DOCTYPE d SYSTEM "../outside.dtd"><d>&e;</d>', 'it points outside'],
  'in/sub/up.xml': ['<!DOCTYPE d SYSTEM "../../outside.dtd"><d>&e;</d>', 'it points outside'],
  'in/coded.xml': ['<!DOCTYPE d SYSTEM "%2e%2e/outside.dtd"><d>&e;</d>', 'it points outside'],
  'in/back.xml': ['<!DOCTYPE d SYSTEM "..\\outside.dtd"><d>&e;</d>', 'it points outside'],
  'in/http.xml': ['<!DOCTYPE d SYSTEM "http://127.0.0.1:1/d.dtd"><d>&e;</d>', 'it is outside'],
  'in/file.xml': ['<!DOCTYPE d SYSTEM "file:///etc/passwd"><d>&e;</d>', 'it is outside'],
  'in/absolute.xml': ['<!DOCTYPE d SYSTEM "/etc/passwd"><d>&e;</d>', 'it is outside'],
  'in/mapped.xml': ['<!DOCTYPE d SYSTEM "http://x.example/away.dtd"><d>&e;</d>', 'it is outside'],
  'in/none.xml': ['<!DOCTYPE d SYSTEM "none.dtd"><d>&e;</d>', 'no such file'],
  'in/linked.xml': ['<!DOCTYPE d SYSTEM "link.dtd"><d>&e;</d>', 'it points outside'],
  'in/entity.xml': ['<!DOCTYPE d [<!ENTITY e SYSTEM "../outside.dtd">]><d>&e;</d>', 'it points outside'],
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'external-files-'));
  for (const [name, text] of [
    ...Object.entries(files),
    ...Object.entries(refused).map(([name, [text]]) => [name, text] as const),
  ]) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await symlink(join(folder, 'outside.dtd'), join(folder, 'in/link.dtd'));
  const members = Object.entries(files)
    .filter(([name]) => name.startsWith('in/'))
    .map(([name, text]) => ({ name: name.slice(3), bytes: utf8.encode(text) }));
  const up = { name: 'sub/up.xml', bytes: utf8.encode(refused['in/sub/up.xml']![0]) };
  // documents that stand before what they name, and behind it
  for (const [at, order] of [members, members.toReversed()].entries()) {
    await writeFile(join(folder, `${at}.zip`), zipped([...order, up]));
    await writeFile(join(folder, `${at}.tar`), tarOf([...order, up]));
    await writeFile(join(folder, `${at}.tgz`), gzipSync(tarOf([...order, up])));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Tokens of each document by its name, or what is wrong with it. */
async function read(
  inputs: readonly string[],
  links: 'follow' | 'refuse' = 'follow',
): Promise<Record<string, string>> {
  const told: string[] = [];
  const set = await openInputs(inputs, documentTest(false), undefined, links, {
    refused: (document, name, why) => told.push(`${document} ${name}: ${why}`),
  });
  const found: Record<string, string> = {};
  for await (const member of set.members()) {
    const names = createNameTable();
    const tokens: string[] = [];
    try {
      await readDocument(member, {
        names,
        limits: defaultEngineLimits,
        kernels: createTokenizerKernels(0),
        onBatch: (batch) => {
          for (let at = 0; at < batch.count; at += 1) tokens.push(describeRecord(batch, at, names));
        },
        afterChunk: () => undefined,
      });
      found[member.name] = tokens.join(' ');
    } catch (error) {
      found[member.name] = (error as Error).message;
    }
  }
  expect(told.every((line) => !line.includes(folder))).toBe(true);
  return found;
}

const whole = 'START d ATTRIBUTE lang "eo" defaulted TEXT "\u0125" END d';
const expected = {
  'sub/relative.xml': whole,
  'sub/public.xml': whole,
  'rewritten.xml': whole,
  'spaced.xml': whole,
  'chapters.xml': 'START d START c TEXT "text" END c END d',
};

describe('a DTD', () => {
  it('beside a document in UTF-16 is read, wherever the document lies in an archive', async () => {
    const text = '\ufeff<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE d SYSTEM "dtds/d.dtd"><d>&e;</d>';
    const little = Buffer.from(text, 'utf16le');
    const big = Buffer.from(text, 'utf16le').swap16();
    const parts = ['dtds/d.dtd', 'dtds/more/e.ent'].map((name) => ({
      name,
      bytes: utf8.encode(files[`in/${name}`]),
    }));
    const documents = [little, big, Buffer.from('\ufeff<d/>', 'utf16le')];
    const found: string[] = [];
    // a letter more in the name moves the document by a byte
    for (const name of ['w.xml', 'wi.xml'])
      for (const bytes of documents)
        for (const isStored of [true, false]) {
          await writeFile(join(folder, 'wide.zip'), zipped([{ name, bytes, isStored }, ...parts]));
          await writeFile(join(folder, 'wide.tar'), tarOf([{ name, bytes }, ...parts]));
          for (const archive of ['wide.zip', 'wide.tar'])
            found.push((await read([join(folder, archive)]))[name]!);
        }
    const ofDocuments = [whole, whole, 'START d END d'].flatMap((one) => [one, one, one, one]);
    expect(found).toEqual([...ofDocuments, ...ofDocuments]);
  });

  it('of a document that was fetched by itself is not read, and the message says what was fetched', async () => {
    const path = join(folder, 'in/none.xml');
    const told: string[] = [];
    const set = await openInputs([path], documentTest(false), undefined, 'refuse', {
      refused: (_, name, why) => told.push(`${name}: ${why}`),
      fetchedAlone: new Map([[path, 's3://lake/in/none.xml']]),
    });
    for await (const { external } of set.members())
      external!.read({ publicId: null, systemId: 'none.dtd', base: null });
    expect(told).toEqual([
      'none.dtd: only the document was fetched from s3://lake/in/none.xml, and no file beside it: give a folder or an archive that holds both',
    ]);
  });

  it.each(['follow', 'refuse'] as const)('in the folder of the input is read; links: %s', async (links) => {
    const found = await read([join(folder, 'in')], links);
    expect(found).toMatchObject(expected);
    for (const [name, [, why]] of Object.entries(refused)) {
      expect(found[name.slice(3)]).toContain(why);
      expect(found[name.slice(3)]).not.toContain('secret');
    }
  });

  it.each(['0.zip', '1.zip', '0.tar', '1.tar', '0.tgz', '1.tgz'])(
    'in an archive is read: %s',
    async (name) => {
      const found = await read([join(folder, name)]);
      expect(found).toMatchObject(expected);
      expect(found['sub/up.xml']).toContain('it points outside');
    },
  );

  it('beside a file that is named by itself is read, and nothing above that folder', async () => {
    const found = await read([join(folder, 'in/rewritten.xml'), join(folder, 'in/sub/relative.xml')]);
    expect(found['rewritten.xml']).toBe(whole);
    expect(found['relative.xml']).toContain('it points outside');
  });
});
