/** Where files may be cut, and what is read of them then. */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '../../../src/engine/diagnostics.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { endTagsOf } from '../../../src/engine/shred/row-tag/ranges.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { createDocumentCut } from '../../../src/tools/load/document-cut.ts';
import { memberOfRange, rangesAsFound, splitDocument } from '../../../src/inputs/readable-ranges.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { hashDocument, readDocument } from '../../../src/inputs/read-document.ts';
import type { DocumentRange, InputMember } from '../../../src/inputs/members.ts';
import { useTrial } from '../../support/service/trial.ts';

const rowTag = { namespaceUri: 'urn:o', localName: 'order' };
const limits = defaultEngineLimits;
const kernels = createTokenizerKernels();
const rangeBytes = 200_000;

const order = (number: number): string =>
  `<o:order id="${number}">\r\n<!-- <o:order> --><note>${'x'.repeat(number % 90)}</note></o:order>\n`;
const orders = Array.from({ length: 12_000 }, (_, index) => order(index + 1)).join('');
const list = `<?xml version="1.0" encoding="UTF-8"?>\n<o:orders xmlns:o="urn:o" a="1">${orders}</o:orders>\n`;

/** Documents as `number line:column bytes`, and the attributes and texts outside of them. */
async function read(members: readonly InputMember[]): Promise<readonly [string[], number]> {
  const names = createNameTable();
  const found: string[] = [];
  let place = '';
  const cut = createDocumentCut(rowTag, names, {
    begin: (_file, number) => void (place = `${number}`),
    consume(_batch, locate) {
      const { line, column } = locate(0);
      if (!place.includes(' ')) place += ` ${line}:${column}`;
    },
    end: (bytes) => void found.push(`${place} ${bytes}`),
  });
  for (const member of members) {
    cut.beginFile(member.name, member.range);
    const onBatch = cut.consume;
    cut.endFile(
      (await readDocument(member, { names, limits, kernels, onBatch, afterChunk: () => undefined })).bytes,
    );
  }
  return [found, cut.outside];
}

const split = (member: InputMember) => splitDocument(member, { rowTag, limits, kernels, rangeBytes });

/** With how many bytes of the document have been handed on. */
async function found(member: InputMember): Promise<{ ranges: DocumentRange[]; bytes: number }> {
  const ranges: DocumentRange[] = [];
  let bytes = 0;
  const count = (chunk: Uint8Array): void => void (bytes += chunk.length);
  for await (const range of rangesAsFound(member, { rowTag, rangeBytes, sha256: '' }, count))
    ranges.push(range);
  return { ranges, bytes };
}

describe('ranges of a document', () => {
  const trial = useTrial();
  let folder: string;
  beforeAll(async () => {
    folder = await trial.folder('ranges-');
  });

  async function file(name: string, content: string | Uint8Array): Promise<InputMember> {
    const path = join(folder, name);
    await writeFile(path, content);
    for await (const member of (await openInputs([path], () => true)).members()) return member;
    throw new Error('no member');
  }

  it('are all of it, and give its documents with their places', async () => {
    const member = await file('list.xml', list);
    const ranges = (await split(member))!;
    expect(ranges.length).toBeGreaterThan(4);
    expect(ranges[0]).toMatchObject({ from: 0, number: 1, lead: '', sha256: await hashDocument(member) });
    for (const [index, range] of ranges.slice(1).entries()) expect(range.from).toBe(ranges[index]!.to);
    expect(ranges.at(-1)).toMatchObject({ to: Buffer.byteLength(list), trail: '' });
    expect(await read(ranges.map((range) => memberOfRange(member, range)))).toEqual(await read([member]));
  });

  it('are not made where bytes are not to be had apart, are not UTF-8, or are not well-formed', async () => {
    expect(await split(await file('small.xml', list.slice(0, 1000)))).toBeNull();
    expect(await split(await file('packed.xml.gz', gzipSync(list, { level: 0 })))).toBeNull();
    const utf16 = Buffer.from(`\uFEFF${list.replace('UTF-8', 'UTF-16')}`, 'utf16le');
    expect(await split(await file('utf-16.xml', utf16))).toBeNull();
    const latin = Buffer.from(list.replace('UTF-8', 'iso-8859-1'), 'latin1');
    expect(await split(await file('latin.xml', latin))).toBeNull();
    expect(await split(await file('broken.xml', list.slice(0, -4)))).toBeNull();
    expect(await split(await file('other.xml', list.replaceAll('urn:o', 'urn:other')))).toBeNull();
  });

  it('come one by one while the document is read, and go as far as it can be cut', async () => {
    const member = await file('list.xml', list);
    const whole = (await split(member))!.map((range) => ({ ...range, sha256: '' }));
    expect(await found(member)).toEqual({ ranges: whole, bytes: Buffer.byteLength(list) });
    // others look at what tags alone do not tell, and at what is small
    const doctype = list.replace('<o:orders', '<!DOCTYPE o:orders>\n<o:orders');
    for (const text of [doctype, list.slice(0, 1000), Buffer.from(`\uFEFF${list}`, 'utf16le')])
      expect((await found(await file('others.xml', text))).ranges).toEqual([]);
    const { ranges: one } = await found(await file('other.xml', list.replaceAll('urn:o', 'urn:other')));
    expect(one).toMatchObject([{ from: 0, lead: '', trail: '', number: 1 }]);
    const at = list.indexOf('</o:order>', whole[3]!.from);
    const broken = `${list.slice(0, at)}</o:orders>${list.slice(at)}`;
    const { ranges } = await found(await file('broken.xml', broken));
    expect(ranges.slice(0, 3)).toEqual(
      whole.slice(0, 3).map((range) => ({ ...range, modified: ranges[0]!.modified })),
    );
    expect(ranges.at(-1)).toMatchObject({ to: Buffer.byteLength(broken), trail: '' });
    for (const [index, range] of ranges.slice(1).entries()) expect(range.from).toBe(ranges[index]!.to);
  });

  it('are refused when the file has changed since', async () => {
    const member = await file('changing.xml', list);
    const [, second] = (await split(member))!;
    await utimes(join(folder, 'changing.xml'), 1, 1);
    await expect(read([memberOfRange(member, second!)])).rejects.toThrow(/changing\.xml: the file changed/);
  });

  it('say where what is wrong stands in the whole', async () => {
    const member = await file('list.xml', list);
    const [, second] = (await split(member))!;
    const at = list.indexOf('<note>', second!.from + 3000);
    const line = list.slice(0, at).split('\n').length;
    const column = at - list.lastIndexOf('\n', at);
    const tight = { ...limits, xmlMaxDepth: 2 };
    const names = createNameTable();
    const reader = { names, limits: tight, kernels, onBatch: () => undefined, afterChunk: () => undefined };
    // of a shorter range, so that it is not the first note
    const shifted = {
      ...second!,
      from: list.lastIndexOf('<o:order id', at),
      location: { line: line - 1, column: 1, offset: 0 },
    };
    await expect(readDocument(memberOfRange(member, shifted), reader)).rejects.toThrow(
      `list.xml: line ${line}, column ${column}: elements are nested deeper than 2 levels`,
    );
  });

  it('end with the end tags that the open tags need', () => {
    expect(endTagsOf(`<a><p:b c='>' d="'>">\n<été\n>`)).toBe('</été></p:b></a>');
  });
});

describe('row elements', () => {
  it('of a file begin anew, however the file before ended', async () => {
    const names = createNameTable();
    const found: string[] = [];
    const cut = createDocumentCut({ namespaceUri: null, localName: 'row' }, names, {
      begin: (file, number, inherited) =>
        void found.push(`${file}#${number} ${[...(inherited ?? [])].join(' ')}`),
      consume: () => undefined,
      end: () => undefined,
    });
    const read = async (name: string, text: string): Promise<void> => {
      cut.beginFile(name);
      const member: InputMember = {
        name,
        path: name,
        diskBytes: text.length,
        source: { file: name, member: 0, packed: false, direct: true },
        async *chunks() {
          yield new TextEncoder().encode(text);
        },
      };
      const onBatch = cut.consume;
      await readDocument(member, { names, limits, kernels, onBatch, afterChunk: () => undefined });
    };
    await expect(
      read('a.xml', `<l xmlns:p="urn:p"><row>${'<c/>'.repeat(50_000)}<b></row></l>`),
    ).rejects.toThrow(InputError);
    await read('b.xml', '<l><row/><row/></l>');
    expect(found).toEqual(['a.xml#1 p,urn:p', 'b.xml#1 ', 'b.xml#2 ']);
  });
});
