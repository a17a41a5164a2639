/** Where documents begin in a file of several. */
import { describe, expect, test } from 'vitest';
import { createConcatenatedReader, type FoundDocument } from '../../../../src/engine/xml/concatenated.ts';
import { bytesOf } from './read-tokens.ts';

function found(bytes: Uint8Array, chunkBytes = bytes.length): FoundDocument[] {
  const documents: FoundDocument[] = [];
  const reader = createConcatenatedReader((document) => void documents.push(document));
  for (let at = 0; at < bytes.length; at += Math.max(1, chunkBytes)) {
    // what is handed in is the caller's again afterwards
    const chunk = bytes.slice(at, at + chunkBytes);
    reader.write(chunk);
    chunk.fill(0x3c);
  }
  reader.end();
  return documents;
}

function textsOf(text: string, chunkBytes?: number): string[] {
  const bytes = bytesOf(text);
  return found(bytes, chunkBytes).map(({ from, to }) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to)),
  );
}

const documents = [
  '<rec><n>1</n></rec>\n',
  '<?xml version="1.0"?>\n<!DOCTYPE rec SYSTEM "x.dtd" [ ]>\n<rec><n>2</n></rec>\n',
  '<rec a="<>\'" b=\'"/>\'/>',
  '<rec><!-- <rec> </rec> ]]> --><![CDATA[</rec><rec>]]]]><?p <rec> ?></rec><!-- behind <b> --><?q?> ',
  '<!DOCTYPE rec [<!ENTITY e "<a>]>"><!-- \' ]> --><?p ]> "?><!ENTITY f \'>\'>]>\r\n<rec>&e;</rec>\r\n\r\n',
  '\uFEFF<rec><rec><rec/></rec ></rec\n>',
  '<é/>',
  '<?xml version="1.1" encoding="utf-8"?><rec/>',
];

describe('documents one after the other', () => {
  test.each([1, 2, 3, 7, 64, 10_000])('are told apart, in pieces of %i bytes', (chunkBytes) => {
    expect(textsOf(documents.join(''), chunkBytes)).toEqual(documents);
  });

  test.each(documents)('%j alone is one', (document) => {
    expect(textsOf(document)).toEqual([document]);
  });

  test('lines and columns are those of the file', () => {
    expect(found(bytesOf('<a/>\n<b>\r\n</b>\r<c/>é<d/><!-- é\n --><e/>'), 3)).toEqual([
      { from: 0, to: 5, line: 1, column: 1 },
      { from: 5, to: 15, line: 2, column: 1 },
      { from: 15, to: 21, line: 4, column: 1 },
      { from: 21, to: 37, line: 4, column: 6 },
      { from: 37, to: 41, line: 5, column: 5 },
    ]);
  });

  test('one that breaks off ends before the next declaration', () => {
    const broken = [
      '<?xml version="1.0"?><a><b>',
      '<?xml version="1.0"?><a/>\n',
      '<!DOCTYPE a><a><b></a>',
      '<!DOCTYPE a><a/></a>x',
    ];
    expect(textsOf(broken.join(''))).toEqual(broken);
    expect(textsOf('<a></b></c>text<a>')).toEqual(['<a></b></c>text', '<a>']);
    expect(textsOf('<a><!-- <?xml version="1.0"?><a/>')).toHaveLength(1);
  });

  test.each(['', ' \n', '<', '<a', '<a b="', '<!DOCTYPE', '<!-- ', 'text', '<a/><', '<?xml'])(
    '%j is one, too',
    (text) => {
      for (const chunkBytes of [1, 100]) expect(textsOf(text, chunkBytes)).toEqual([text]);
    },
  );
});

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const utf16 = (text: string, isBigEndian = false) =>
  Uint8Array.from({ length: text.length * 2 }, (_, at) =>
    (at % 2 === 0) === isBigEndian ? text.charCodeAt(at >> 1) >> 8 : text.charCodeAt(at >> 1) & 255,
  );

describe('encodings', () => {
  test('a document without a declaration has that of the first', () => {
    const declared = '<?xml version="1.0" encoding="ISO-8859-1"?>';
    const file = latin1(
      `${declared}<a>\xe9</a>\n<a>\xe9</a>${declared.replace('ISO-8859-1', 'utf-8')}<a/><?xml version="1.0"?><b/>`,
    );
    for (const chunkBytes of [1, 1000])
      expect(found(file, chunkBytes).map(({ encoding }) => encoding)).toEqual([
        undefined,
        'iso-8859-1',
        undefined,
        'iso-8859-1',
      ]);
  });

  test.each([false, true])('UTF-16, big-endian: %j', (isBigEndian) => {
    const texts = [`\uFEFF<a>\n<b k="中>"/></a>\n`, `\uFEFF<?xml version="1.0"?><a/>`, '<㰼 x=""/>', '<a/>'];
    const file = utf16(texts.join(''), isBigEndian);
    for (const chunkBytes of [1, 3, 1000])
      expect(found(file, chunkBytes).map(({ from, to }) => (to - from) / 2)).toEqual(
        texts.map(({ length }) => length),
      );
  });

  test('documents of several', () => {
    const parts = [
      bytesOf('<a/>'),
      utf16('\uFEFF<a/>\n'),
      utf16('\uFEFF<a/>', true),
      bytesOf('\uFEFF<a/>'),
      utf16('<a/>'),
    ];
    const file = Uint8Array.from(parts.flatMap((part) => [...part]));
    for (const chunkBytes of [1, 2, 1000])
      expect(found(file, chunkBytes).map(({ from, to }) => to - from)).toEqual(
        parts.map(({ length }) => length),
      );
  });
});
