/** Documents cut at any byte, read with small windows. */
import { describe, expect, test } from 'vitest';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { KIND_MASK, KIND_TEXT, RECORD_INTS } from '../../../../src/engine/xml/tokens.ts';
import { bytesOf, failureAt, readTokens } from './read-tokens.ts';

const documents: Record<string, string> = {
  'text of every kind':
    '<a>plain]] &amp;é中😀\r\n\r&#x41;<![CDATA[x]]]]>\r\n<![CDATA[]]>]<!-- c-d --><?p q? ?> <b/>\r</a>\r\n<!-- e -->',
  'tags and namespaces':
    '<?xml version="1.0" encoding="UTF-8"?>\r\n<p:a xmlns:p="urn:p" p:x=\'"é"\' y = "1\r\n2&lt;" >\r<p:b\n/><c xmlns="urn:c" ><d></d ></c></p:a>',
  'a DTD':
    '<!DOCTYPE a [<!-- - --><?p ?><!ENTITY e "x<b>&f;</b>"><!ENTITY f "&#38;amp;\r\n"><!ENTITY % d "<!ELEMENT b ANY>">%d;<!ATTLIST a k NMTOKENS " 1  2 " l CDATA #IMPLIED>]><a l="&f;">&e;<c/>&f;</a>',
};

describe.each(Object.entries(documents))('%s', (_, document) => {
  const whole = readTokens(document, { places: true });

  test('is the same with a window of any size', () => {
    for (let windowBytes = 1; windowBytes <= bytesOf(document).length + 8; windowBytes++)
      expect(readTokens(document, { places: true, windowBytes }), `window of ${windowBytes}`).toEqual(whole);
  });

  test('is the same fed in pieces of any size', () => {
    for (let chunkBytes = 1; chunkBytes < 40; chunkBytes++)
      expect(readTokens(document, { places: true, chunkBytes, windowBytes: 16 })).toEqual(whole);
  });

  test('is the same put into the window by its reader', () => {
    for (let windowBytes = 1; windowBytes < 60; windowBytes++)
      for (const chunkBytes of [1, 7, 64])
        expect(readTokens(document, { places: true, inPlace: true, chunkBytes, windowBytes })).toEqual(whole);
  });

  test('is the same split in two at every byte', () => {
    const { length } = bytesOf(document);
    for (let split = 1; split <= length; split++)
      expect(readTokens(document, { places: true, chunkBytes: split })).toEqual(whole);
  });

  test('is refused when it ends early, anywhere', () => {
    const bytes = bytesOf(document);
    const rootEnd = new TextDecoder().decode(bytes).lastIndexOf('</');
    const bytesToRootEnd = bytesOf(document.slice(0, rootEnd)).length;
    for (let length = 0; length <= bytesToRootEnd; length++)
      expect(failureAt(bytes.subarray(0, length))).toMatch(/^xml_unexpected_end /);
  });

  test('has comments and instructions in any window', () => {
    const all = readTokens(document, { comments: true, places: true });
    for (let windowBytes = 1; windowBytes < 80; windowBytes++)
      expect(readTokens(document, { comments: true, places: true, windowBytes })).toEqual(all);
  });
});

test('faults are placed the same with a window of any size', () => {
  const document = '<a>\r\n中😀\r<b x="é"\n>\n\n文字 text &bad;</b></a>';
  for (let windowBytes = 1; windowBytes < 64; windowBytes++)
    expect(failureAt(document, { windowBytes })).toBe('xml_undeclared_entity 6:9');
});

test.each([
  ['before the root element', [0xef, 0x3e, 0x3c]],
  ['after the root element', [0x3c, 0x61, 0x2f, 0x3e, 0xe2, 0x82, 0x41]],
  ['before the root element, a character', [0xe2, 0x82, 0xac]],
])('what is wrong with bytes %s does not depend on where the input is cut', (_, document) => {
  const bytes = Uint8Array.from([0x20, 0x0a, ...document]);
  const whole = failureAt(bytes);
  for (const options of [
    { windowBytes: 1 },
    { windowBytes: 2 },
    { chunkBytes: 1 },
    { windowBytes: 3, chunkBytes: 1 },
  ])
    expect(failureAt(bytes, options)).toBe(whole);
});

test('long text, tags and comments pass through a small window', () => {
  const text = 'lorem ipsum é '.repeat(5000);
  const document = `<a x="${text}"><!--${text}-->${text}<![CDATA[${text}]]></a>`;
  const tokens = readTokens(document, { windowBytes: 1024, chunkBytes: 777 });
  expect(tokens).toEqual([
    'START a',
    `ATTRIBUTE x ${JSON.stringify(text)}`,
    `TEXT ${JSON.stringify(text + text)}`,
    'END a',
  ]);
});

test('a long text that has to be decoded is handed over in parts', () => {
  const sizes: number[] = [];
  let total = 0;
  const tokenizer = createXmlTokenizer({
    windowBytes: 1024 * 1024,
    onBatch(batch) {
      for (let i = 0; i < batch.count; i++) {
        if ((batch.events[i * RECORD_INTS]! & KIND_MASK) !== KIND_TEXT) continue;
        sizes.push(batch.events[i * RECORD_INTS + 3]! - batch.events[i * RECORD_INTS + 2]!);
        total += sizes.at(-1)!;
      }
    },
  });
  tokenizer.write(bytesOf(`<a>${'x&amp;'.repeat(150_000)}</a>`));
  tokenizer.end();
  expect(total).toBe(300_000);
  expect(Math.max(...sizes)).toBeLessThan(66_000);
});
