/** Places to cut a document at, found by tags alone: those that the tokeniser finds. */
import { describe, expect, it } from 'vitest';
import type { RowElementName } from '../../../../src/engine/shred/row-tag/elements.ts';
import { createQuickCuts } from '../../../../src/engine/shred/row-tag/tag-reader.ts';
import { createRowCutFinder, type RowCut } from '../../../../src/engine/shred/row-tag/ranges.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';

const row: RowElementName = { namespaceUri: null, localName: 'row' };

function quickly(
  text: string,
  { name = row, pieceBytes = 1000, rangeBytes = 1 } = {},
): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } | null {
  const bytes = new TextEncoder().encode(text);
  const quick = createQuickCuts(name, rangeBytes, 0)!;
  for (let at = 0; at < bytes.length; at += pieceBytes)
    if (!quick.write(bytes.subarray(at, at + pieceBytes))) return null;
  return quick.end();
}

/** At most one in a window. */
function byTokens(
  text: string,
  name = row,
): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } {
  const names = createNameTable();
  const finder = createRowCutFinder(name, names);
  const tokenizer = createXmlTokenizer({
    names,
    windowBytes: 64,
    onBatch: (batch) => {
      finder.request();
      finder.consume(batch, (record) => tokenizer.locate(record));
    },
  });
  tokenizer.write(new TextEncoder().encode(text));
  tokenizer.end();
  return finder;
}

const filling = [
  '<a>text – naïve</a>\n',
  '<b at="1"/>',
  `<b at='/>' to="a>b"><c/></b>\r\n`,
  '<!-- <row> </row> - ->  -->',
  '<![CDATA[</row><row>]] ]]>',
  '<?row </row> <row>?>',
  '<row><row/></row>',
  '<d><e><f>1</f><f>2</f><f>3</f></e><e><f/></e></d>',
  'a text that is longer than what is looked at in one go, and has no tag at all, but a /> and a > in it\n',
  '<p:row xmlns:p="urn:p">inner</p:row>',
  '<a><a><a><a><a><a>deep</a></a></a></a></a></a>',
];

/** Rows of all sorts of content, some in groups. */
function list(rows: number): string {
  let text = '<?xml version="1.0"?>\n<!-- <row> -->\n<p:list xmlns:p="urn:p" x="1">\n';
  for (let number = 1; number <= rows; number += 1) {
    const parts = Array.from(
      { length: number % 17 },
      (_, at) => filling[(number * 7 + at * (1 + (number % 5))) % filling.length]!,
    );
    if (number % 13 === 0) text += `<group of="${number}" xmlns="urn:g">\n`;
    text += number % 11 === 0 ? `<row n="${number}"/>` : `<row n="${number}">${parts.join('')}</row>\n`;
    if (number % 13 === 4 && number > 13) text += '</group >';
    if (number % 9 === 0) text += '<other><x>y</x></other> between ';
  }
  return `${text}${'</group>'.repeat(Math.floor(rows / 13) - Math.floor((rows - 4) / 13))}</p:list>\n<!-- end -->`;
}

describe('cuts by tags alone', () => {
  it('are those of the tokeniser, in whatever pieces the document comes', () => {
    const rows = 1000;
    const text = list(rows);
    const tokens = byTokens(text);
    expect(tokens.cuts.length).toBeGreaterThan(500);
    for (const pieceBytes of [1, 7, 64, 100_000_000]) {
      const quick = quickly(text, { pieceBytes })!;
      expect(quick.prologBytes).toBe(tokens.prologBytes);
      expect(quick.cuts.map(({ number }) => number)).toEqual(
        Array.from({ length: rows - 1 }, (_, at) => at + 2),
      );
      for (const cut of tokens.cuts) expect(quick.cuts[cut.number - 2]).toEqual(cut);
    }
  });

  it('are as far apart as is asked for', () => {
    const all = quickly(list(500))!.cuts;
    const some = quickly(list(500), { rangeBytes: 20_000 })!.cuts;
    expect(some.length).toBeGreaterThan(2);
    expect(some).toEqual(
      some.map((_, at) => all.find(({ location }) => location.offset >= (at + 1) * 20_000)),
    );
  });

  it('are before elements of the namespace that is asked for', () => {
    const text =
      '<list xmlns="urn:a"><row/><row xmlns="urn:b"/><row/><b:row xmlns:b="urn:b"/><x xmlns="urn:b"><row/><row/></x><row/></list>';
    for (const [namespaceUri, count] of [
      ['urn:a', 3],
      ['urn:b', 4],
      ['urn:c', 0],
    ] as const) {
      const name = { namespaceUri, localName: 'row' };
      const quick = quickly(text, { name })!;
      expect(quick.cuts).toHaveLength(Math.max(0, count - 1));
      for (const cut of byTokens(text, name).cuts) expect(quick.cuts).toContainEqual(cut);
    }
  });

  it.each([
    ['a DTD', '<!DOCTYPE list><list><row/><row/></list>'],
    ['more than one root', '<row/><row/>'],
    ['no root', '<!-- <list> -->'],
    ['an end too few', '<list><row/><row></list>'],
    ['an end too many', '<list><row/></list></list>'],
    ['a comment without end', '<list><row/></list><!-- '],
    ['a prefix that nobody declares', '<list><p:row/></list>'],
    ['a tag that is longer than the window', `<list><row a="${'x'.repeat(600_000)}"/></list>`],
  ])('are not looked for in %s', (_, text) => {
    expect(quickly(text, { name: { namespaceUri: '', localName: 'row' } })).toBeNull();
  });
});
