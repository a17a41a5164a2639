/** Which files of folders and archives are documents. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentStart } from '../../../src/engine/xsd/read/document.ts';
import { documentTest } from '../../../src/inputs/document-names.ts';
import { openInputs, type InputSet } from '../../../src/inputs/list-files.ts';
import { tarOf, zipped } from '../../support/service/archives.ts';

const utf8 = new TextEncoder();
const xsd = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>';
const utf16 = (text: string, order: 'le' | 'be'): Uint8Array => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};

/** Names of documents, and what is passed over with why. */
const documents: Readonly<Record<string, Uint8Array | string>> = {
  'a.xml': '<a/>',
  'b.gml': '\ufeff<?xml version="1.0"?>\n<b/>',
  noext: ' \r\n<!-- c --><c/>',
  'd.16': utf16('<?xml version="1.0" encoding="UTF-16"?><d/>', 'le'),
  'e.be': utf16('<e/>', 'be'),
  'f.xbrl.gz': gzipSync('<f/>'),
  'g.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"/>',
  'h.svc': `<?xml version="1.0"?><?xml-stylesheet href="x"?><!DOCTYPE h [<!ENTITY e "]>"> <!-- > -->]><h/>`,
  'json.xml': '{}',
  'late.data': `<!--${'x'.repeat(20_000)}--><i/>`,
};
const others: Readonly<Record<string, readonly [Uint8Array | string, string]>> = {
  'readme.txt': ['hello <a/>', 'does not begin as XML does'],
  'data.json': ['{"a": "<a/>"}', 'is JSON'],
  'l.dtd': ['<?xml version="1.0"?><!-- x --><!ELEMENT a ANY>', 'is a DTD, or a part of one'],
  'l.mod': ['<?xml encoding="UTF-8"?>text', 'is a DTD, or a part of one'],
  's.xsd': [xsd, 'is an XSD, not a document'],
  's.schema': [xsd, 'is an XML Schema'],
  's.xml': [xsd, 'is an XML Schema'],
  'sub/catalog.xml': [
    '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog"/>',
    'is an OASIS XML catalogue',
  ],
  'w.wsdl': ['<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"/>', 'is a WSDL'],
  'index.html': ['<!DOCTYPE html><html><body/></html>', 'is an HTML page'],
  none: ['', 'is empty'],
  'picture.png': [Uint8Array.of(0x89, 0x50, 0x4e, 0x47), 'does not begin as XML does'],
  'notes.gz': [gzipSync('plain'), 'does not begin as XML does'],
  'late.txt': [`<!--${'x'.repeat(20_000)}--><!ELEMENT a ANY>`, 'is a DTD, or a part of one'],
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'document-names-'));
  await mkdir(join(folder, 'in/sub'), { recursive: true });
  await mkdir(join(folder, 'in/.git'));
  await writeFile(join(folder, 'in/.git/x'), '<x/>');
  await writeFile(join(folder, 'in/.a.xml.swp'), '<x/>');
  for (const [name, bytes] of Object.entries(documents)) await writeFile(join(folder, 'in', name), bytes);
  for (const [name, [bytes]] of Object.entries(others)) await writeFile(join(folder, 'in', name), bytes);
  await symlink(join(folder, 'in/a.xml'), join(folder, 'in/link.dat'));
  const all = [
    ...Object.entries(documents),
    ...Object.entries(others).map(([name, [bytes]]) => [name, bytes] as const),
  ];
  const members = all
    .filter(([name]) => name !== 's.xml')
    .map(([name, bytes]) => ({ name, bytes: typeof bytes === 'string' ? utf8.encode(bytes) : bytes }));
  const large = { name: 'large.any', bytes: utf8.encode(`<l>${'x'.repeat(300_000)}</l>`) };
  const binary = { name: 'large.bin', bytes: new Uint8Array(300_000).fill(0x41) };
  await writeFile(join(folder, 'all.zip'), zipped([large, ...members, binary]));
  await writeFile(join(folder, 'all.tar'), tarOf([large, ...members, binary]));
  await writeFile(join(folder, 'all.tgz'), gzipSync(tarOf([large, ...members, binary])));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function namesIn(set: InputSet): Promise<string[]> {
  const names: string[] = [];
  for await (const member of set.members()) {
    let bytes = 0;
    for await (const chunk of member.chunks('fleeting')) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(0);
    names.push(member.name);
  }
  return names;
}

const wanted = Object.keys(documents).map((name) => name.replace(/\.gz$/, ''));

describe('documents', () => {
  it('of a folder are all files that begin as XML does', async () => {
    const told: unknown[] = [];
    const set = await openInputs([join(folder, 'in')], documentTest(false), undefined, 'follow', {
      walked: (seen) => told.push(seen),
    });
    expect((await namesIn(set)).toSorted()).toEqual(wanted.toSorted());
    await namesIn(set);
    const { read, skipped, examples } = set.seen();
    expect(told).toHaveLength(1);
    expect({ read, skipped }).toEqual({ read: wanted.length, skipped: Object.keys(others).length + 1 });
    expect(Object.fromEntries(examples.map(({ name, why }) => [name, why]))).toEqual({
      ...Object.fromEntries(Object.entries(others).map(([name, [, why]]) => [name, why])),
      'link.dat': 'is a link: name it by itself',
    });
  });

  it.each(['zip', 'tar', 'tgz'])('of a .%s are those of a folder', async (kind) => {
    const set = await openInputs([join(folder, `all.${kind}`)], documentTest(false));
    for (let walk = 0; walk < 2; walk += 1)
      expect((await namesIn(set)).toSorted()).toEqual(['large.any', ...wanted].toSorted());
    expect(set.seen()).toMatchObject({ read: wanted.length + 1, skipped: Object.keys(others).length });
  });

  it('are XSDs, where those are documents', async () => {
    const set = await openInputs([join(folder, 'in')], documentTest(true));
    expect((await namesIn(set)).toSorted()).toEqual([...wanted, 's.xml', 's.xsd', 's.schema'].toSorted());
  });

  it('are what they are, when a file is named by itself', async () => {
    const names = ['readme.txt', 'w.wsdl', 'index.html'].map((name) => join(folder, 'in', name));
    expect(await namesIn(await openInputs(names, documentTest(false)))).toHaveLength(3);
  });

  it.each([
    [[0x4c, 0x6f, 0xa7, 0x94], 'document'],
    [[0, 0, 0, 0x3c, 0, 0, 0, 0x61], 'document'],
    [[0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x3c, 0x61], 'document'],
    [[0x3c, 0x3f, 0x70, 0x68, 0x70, 0x20], 'other'],
    [[0x3c, 0x20], 'other'],
  ])('begin with %j: %s', (bytes, kind) => {
    expect(documentStart(Uint8Array.from(bytes)).kind).toBe(kind);
  });
});
