/** Random documents with row elements (`--row-tag row`), as inputs. */
import type { InputMember } from '../../../src/inputs/members.ts';
import type { Choices } from './random.ts';

export const rowTag = { namespaceUri: null, localName: 'row' };

const documentType = `<!DOCTYPE p:list [
  <!ENTITY plain "x">
  <!ENTITY text "some &#38;lt;row> text">
  <!ENTITY rows "<row><a>in an entity</a></row>&#13;<row b='&plain;'/>">
  <!ATTLIST row kind CDATA "by default">
  <!ATTLIST group CDATA.is NMTOKENS " x   y ">
]>`;

/** Row elements at several depths, nested ones, and all that only looks like one. */
export function documentOf(choices: Choices, withDtd = choices.chance(50)): string {
  const nl = (): string => choices.pick(['\n', '\r\n', '\r', ' ', '', '\n\n  ']);
  const text = (): string =>
    choices.pick([
      'text',
      'naïve – 日本 🙂',
      '<![CDATA[ <row> ]] ]]>',
      'a&amp;b&#10;c',
      withDtd ? '&text;' : '&lt;row/>',
      ' ',
    ]);
  const between = (): string =>
    choices.pick([
      '',
      nl(),
      `<!-- <row>${nl()} -->`,
      `<?row <row> ${nl()}?>`,
      '<![CDATA[<row>]]>',
      'stray text',
      `<other at="1"><deep>x</deep></other>`,
      withDtd ? '&rows;' : '',
    ]);
  const row = (depth: number): string => {
    const prefix = choices.pick(['', '', 'p:']);
    const attributes = choices.several(
      0,
      2,
      (at) => ` ${choices.pick(['b', 'c'])}${at}${nl() || ' '}= "v${nl()}>"`,
    );
    const declared = choices.chance(20) ? ` xmlns:q="urn:q"` : '';
    const open = `<${prefix}row${attributes.join('')}${declared}${nl()}`;
    if (choices.chance(20)) return `${open}/>`;
    const content = choices.several(0, 3, () =>
      choices.pick([
        () => text(),
        () => `<a>${text()}</a>`,
        () => `<!-- </row> -->${nl()}<d xsi:type="p:kind">${text()}</d>`,
        () => (depth < 2 ? row(depth + 1) : ''),
      ])(),
    );
    return `${open}>${content.join(nl())}</${prefix}row>`;
  };
  const group = (depth: number): string => {
    const items = choices.several(0, 6, () =>
      choices.pick([
        () => row(0),
        () => row(0),
        () => row(0),
        () => between(),
        () => (depth < 3 ? group(depth + 1) : ''),
      ])(),
    );
    const tag = choices.pick(['group', 'p:group']);
    const attributes = choices.pick([
      '',
      ` a='>"&gt;row>'`,
      ` xmlns="urn:${depth}"`,
      ` xml:lang="de"${nl()} x="y"`,
    ]);
    return `<${tag}${attributes}>${items.join(nl())}</${tag}${nl()}>`;
  };
  return [
    choices.pick([
      '',
      '\uFEFF',
      '<?xml version="1.0" encoding="UTF-8"?>\r\n',
      '<?xml version="1.0" encoding="us-ascii"?>',
    ]),
    choices.pick(['', '<!-- <row/> -->\n', '<?x y?>']),
    withDtd ? documentType : '',
    nl(),
    `<p:list xmlns:p="urn:p" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" at='1'>`,
    ...choices.several(
      1,
      12,
      () => choices.pick([() => row(0), () => row(0), between, () => group(0)])() + nl(),
    ),
    '</p:list>',
    choices.pick(['', '<!-- end <row/> -->', '\n<?x?>\n']),
  ].join('');
}

export function memberOf(bytes: Uint8Array, pieceBytes: number): InputMember {
  async function* chunks(from: number, to: number): AsyncIterable<Uint8Array> {
    for (let at = from; at < to; at += pieceBytes) yield bytes.slice(at, Math.min(at + pieceBytes, to));
  }
  return {
    name: 'list.xml',
    path: '/in/list.xml',
    diskBytes: bytes.length,
    source: { file: '/in/list.xml', member: 0, packed: false, direct: true },
    chunks: () => chunks(0, bytes.length),
    parts: {
      bytes: ({ from, to }) => chunks(from, Math.min(to, bytes.length)),
      modified: async () => 1,
    },
  };
}

/** In the encoding that it says it has. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text.includes('us-ascii') ? text.replaceAll(/[^\0-\x7f]/gu, '?') : text);
}
