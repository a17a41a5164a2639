/** The tokeniser: tokens or a fault with its place, the same for every cut of the bytes and for both kernels, in time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../src/engine/diagnostics.ts';
import { createFastXmlTokenizer, createTokenizerKernels } from '../../src/engine/xml/fast-tokenizer.ts';
import { freightDocuments } from '../support/service-fixtures.ts';
import { readTokens, type ReadOptions } from '../unit/xml/read-tokens.ts';
import { Finding, type FuzzTarget } from './fuzzer.ts';
import { mutate } from './mutate.ts';

const utf8 = new TextEncoder();
/** far more than any input of this size may take, on a busy machine too */
const longestMs = 5000;

const documents = [
  ...freightDocuments.map(({ text }) => text),
  ...['first', 'second', 'third'].map((name) =>
    readFileSync(join(import.meta.dirname, `../fixtures/targets/${name}.xml`), 'utf8'),
  ),
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><!-- c --><?p i?><a xmlns="u" xmlns:p="v" p:b=\'1\' c="&lt;&#65;&#x1F600;"><![CDATA[ ]] > ]]>t<p:e/></a><?q?>',
  '<!DOCTYPE a [<!ELEMENT a (b|c)*><!ATTLIST a x CDATA "d" y ID #REQUIRED z (m|n) \'m\'><!ENTITY e "<b>&f;</b>"><!ENTITY f "t&#38;lt;"><!ENTITY % p "<!ENTITY g \'h\'>">%p;<!NOTATION n SYSTEM "s"><?x y?>]><a y="i">&e;&g;</a>',
  '<a>\r\n\t<b>é</b>\u2028\u{10FFFF}</a>',
];
const seeds = [
  ...documents.map((text) => utf8.encode(text)),
  new Uint8Array(Buffer.from(`\uFEFF<?xml version="1.0" encoding="UTF-16"?>${documents.at(-1)!}`, 'utf16le')),
  new Uint8Array(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1')),
];
const words = [
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
  'p:',
  ':',
  ' xml:space="preserve"',
  '="',
  "='",
  '"',
  "'",
  '<!ATTLIST a b CDATA "',
  '<!ELEMENT a ',
  'SYSTEM "x"',
  '<?xml version="1.0"?>',
  ' encoding="UTF-16"',
  ' encoding="windows-1252"',
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

export function createTokenizerTarget(): FuzzTarget {
  const kernels = createTokenizerKernels(1);
  const fast: NonNullable<ReadOptions['create']> = (options) => createFastXmlTokenizer(options, kernels);

  return {
    name: 'tokenizer',
    step(random) {
      const bytes = mutate(random, seeds, words);
      const started = performance.now();
      const whole = outcome(bytes, {});
      const took = performance.now() - started;
      if (took > longestMs)
        throw new Finding(`takes ${Math.round(took)} ms for ${bytes.length} bytes`, bytes);
      const cut = outcome(bytes, { chunkBytes: 1 + random.below(40) });
      if (cut !== whole) throw new Finding(`says something else in pieces: ${whole} / ${cut}`, bytes);
      const other = outcome(bytes, { create: fast });
      if (other !== whole)
        throw new Finding(`says something else by WebAssembly: ${whole} / ${other}`, bytes);
    },
    close: () => Promise.resolve(),
  };
}

/** The tokens, or the fault and its place. */
function outcome(bytes: Uint8Array, options: ReadOptions): string {
  try {
    return readTokens(bytes, options).join('\n');
  } catch (error) {
    if (!(error instanceof InputError)) throw new Finding(`throws ${String(error)}`, bytes, error);
    const { code, line, column } = error.diagnostic;
    if (!(Number(line) >= 1 && Number(column) >= 1)) throw new Finding(`${code} has no place`, bytes, error);
    return `${code} at ${line}:${column}`;
  }
}
