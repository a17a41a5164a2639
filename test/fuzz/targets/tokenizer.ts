/**
 * The tokeniser: tokens or a fault with its place, the same for every cut of the bytes, every window and both kernels, in time; and
 * libxml2 says the same.
 */
import { InputError } from '../../../src/engine/diagnostics.ts';
import { defaultEngineLimits, type EngineLimits } from '../../../src/engine/limits.ts';
import {
  createFastXmlTokenizer,
  createTokenizerKernels,
  type TokenizerKernels,
} from '../../../src/engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import { readTokens, type ReadOptions } from '../../unit/engine/xml/read-tokens.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import { comparable, libxml2Opinion } from '../xml/libxml2-tokens.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';
import { tokenizerSeeds, tokenizerWords, type Seeds } from '../xml/seeds.ts';
import { encodeXml } from '../xml/encodings.ts';
import { makeXml } from '../xml/generator.ts';

/** far more than any input of this size may take, on a busy machine too */
const longestMs = 5000;
const grownBytes = 1024 * 1024;

/** How a document is read, beside what is read. */
interface Way {
  readonly chunkBytes: number;
  readonly windowBytes: number;
  readonly options: ReadOptions;
  /** whether places of all records are compared, too */
  readonly places: boolean;
}

export function createTokenizerTarget(): FuzzTarget {
  const kernels = createTokenizerKernels(1);
  const seeds = tokenizerSeeds();
  return {
    name: 'tokenizer',
    step(random) {
      const input = makeInput(random, seeds);
      if (random.chance(0.02)) return { input: grown(random, input), check: checkTime };
      const way = makeWay(random);
      return { input, check: (bytes) => check(bytes, way, kernels) };
    },
    close: () => Promise.resolve(),
  };
}

function makeInput(random: Random, seeds: Seeds): Uint8Array {
  const pick = () => seeds.read(random.below(seeds.count));
  if (random.chance(0.4)) return mutate(random, [pick(), pick(), pick()], tokenizerWords);
  const text = makeXml(random);
  if (random.chance(0.4)) return encodeXml(random, text);
  // damage to characters, then they are encoded: wrong in words, but not in bytes
  const damaged = mutate(random, [new TextEncoder().encode(text), pick()], tokenizerWords);
  return random.chance(0.3) ? damaged : encodeXml(random, new TextDecoder().decode(damaged));
}

function makeWay(random: Random): Way {
  const limits = (): EngineLimits => ({
    ...defaultEngineLimits,
    xmlMaxDepth: random.pick([1, 3, 4096]),
    xmlMaxAttributes: random.pick([1, 4, 10_000]),
    xmlMaxNameBytes: random.pick([4, 40, 65_536]),
    xmlMaxTextBytes: random.pick([10, 1000, defaultEngineLimits.xmlMaxTextBytes]),
    xmlMaxEntityExpansionBytes: random.pick([10, 1000, defaultEngineLimits.xmlMaxEntityExpansionBytes]),
  });
  return {
    chunkBytes: 1 + random.below(random.chance(0.5) ? 40 : 3000),
    windowBytes: 1 + random.below(random.chance(0.5) ? 64 : 5000),
    options: {
      comments: random.chance(0.5),
      ...(random.chance(0.1) ? { limits: limits() } : {}),
      ...(random.chance(0.03) ? { encoding: random.pick(['utf-8', 'utf-16', 'iso-8859-1', 'x']) } : {}),
    },
    places: random.chance(0.3),
  };
}

function check(
  bytes: Uint8Array,
  { chunkBytes, windowBytes, options, places }: Way,
  kernels: TokenizerKernels,
): void {
  const fast: NonNullable<ReadOptions['create']> = (settings) => createFastXmlTokenizer(settings, kernels);
  const started = performance.now();
  const whole = outcome(bytes, { ...options, places });
  const took = performance.now() - started;
  if (took > longestMs) throw new Finding(`takes ${Math.round(took)} ms for ${bytes.length} bytes`, bytes);
  const others: readonly (readonly [string, ReadOptions])[] = [
    ['in pieces', { chunkBytes }],
    ['through a window', { windowBytes, chunkBytes }],
    ['by WebAssembly', { create: fast }],
    ['by WebAssembly through a window', { create: fast, windowBytes, chunkBytes }],
  ];
  for (const [how, other] of others)
    expectSame(whole, outcome(bytes, { ...options, places, ...other }), `says something else ${how}`, bytes);
  if (options.limits === undefined && options.encoding === undefined) compareWithLibxml2(bytes);
}

/** As lines of tokens, or the fault and its place. */
function outcome(bytes: Uint8Array, options: ReadOptions): readonly string[] {
  try {
    return readTokens(bytes, options);
  } catch (error) {
    if (!(error instanceof InputError)) throw new Finding(`throws ${String(error)}`, bytes, error);
    const { code, line, column } = error.diagnostic;
    if (!(Number(line) >= 1 && Number(column) >= 1)) throw new Finding(`${code} has no place`, bytes, error);
    return [`${code} at ${line}:${column}`];
  }
}

function expectSame(
  expected: readonly string[],
  actual: readonly string[],
  what: string,
  bytes: Uint8Array,
): void {
  const at = expected.findIndex((token, index) => token !== actual[index]);
  if (at < 0 && actual.length === expected.length) return;
  // the length of a value is added up where a window ends: it may be over by what a window holds
  const isLimit = [expected, actual].some((tokens) => tokens[0]?.startsWith('xml_text_limit') === true);
  if (isLimit) return;
  const from = at < 0 ? expected.length : at;
  throw new Finding(
    `${what}: ${String(expected[from]).slice(0, 120)} / ${String(actual[from]).slice(0, 120)}`,
    bytes,
  );
}

/** Faults that libxml2 does not see as such, or sees only where it reads more. */
const ownRules = new Set([
  // external parts are not read, and what they would declare is missing
  'xml_external_entity',
  'xml_undeclared_entity',
  // limits
  'xml_depth_limit',
  'xml_attribute_limit',
  'xml_name_limit',
  'xml_text_limit',
  'xml_token_limit',
  'xml_name_count_limit',
  'xml_entity_expansion_limit',
  'xml_entity_amplification_limit',
  'xml_entity_depth_limit',
  // names in declarations it lets pass
  'xml_bad_qualified_name',
  // it guesses
  'xml_encoding_mismatch',
  'xml_unsupported_encoding',
  'xml_unsupported_version',
]);

/** UTF-16 without a mark, and encodings that are not built in, it does not read. */
function isReadByLibxml2(bytes: Uint8Array): boolean {
  if (bytes[0] === 0 || (bytes[1] === 0 && bytes[0] !== 0xff)) return false;
  const head = Buffer.from(bytes.subarray(0, 400)).toString('latin1').replaceAll('\0', '');
  const encoding = /encoding\s*=\s*["']([^"']*)/.exec(head)?.[1];
  return encoding === undefined || /^(utf-?8|utf-16|iso-8859-1|us-ascii)$/i.test(encoding);
}

function depthOf(tokens: readonly string[]): number {
  let depth = 0;
  let deepest = 0;
  for (const token of tokens) {
    if (token.startsWith('START')) depth += 1;
    else if (token.startsWith('END')) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function compareWithLibxml2(bytes: Uint8Array): void {
  if (!isReadByLibxml2(bytes)) return;
  let own: readonly string[] | null = null;
  let code = '';
  let message = '';
  try {
    own = comparable(readTokens(bytes));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    ({ code, message } = error.diagnostic);
    // of predefined entities that are declared wrongly it sees some
    if (ownRules.has(code) || message.includes('may be declared only as')) return;
  }
  const other = libxml2Opinion(bytes, own !== null && depthOf(own) < 200);
  if (own === null) {
    if (other.wellFormed === true) throw new Finding(`libxml2 takes what is ${code}: ${message}`, bytes);
  } else if (other.wellFormed === false) throw new Finding(`libxml2 refuses it: ${other.complaint}`, bytes);
  else if (other.wellFormed === true && other.tokens !== null) {
    const lines = (tokens: readonly string[]): readonly string[] =>
      other.hasEntities
        ? tokens.map((token) => token.replaceAll(/(?:\\r|\\n)+/g, '\\n').replaceAll(/ +/g, ' '))
        : tokens;
    expectSame(lines(own), lines(other.tokens), 'libxml2 reads something else', bytes);
  }
}

/** One place of the input many times: time must grow as the input does. */
function grown(random: Random, input: Uint8Array): Uint8Array {
  const from = random.below(input.length + 1);
  const piece = input.subarray(from, from + 1 + random.below(random.chance(0.5) ? 8 : 100));
  if (piece.length === 0) return input;
  const times = Math.floor(grownBytes / piece.length);
  return new Uint8Array(
    Buffer.concat([
      input.subarray(0, from),
      Buffer.alloc(times * piece.length, piece),
      input.subarray(from + piece.length),
    ]),
  );
}

function checkTime(bytes: Uint8Array): void {
  for (const create of [createXmlTokenizer, createFastXmlTokenizer]) {
    const started = performance.now();
    try {
      const tokenizer = create({ onBatch: () => undefined });
      for (let from = 0; from < bytes.length; from += 10_000)
        tokenizer.write(bytes.subarray(from, from + 10_000));
      tokenizer.end();
    } catch (error) {
      if (!(error instanceof InputError)) throw new Finding(`throws ${String(error)}`, bytes, error);
    }
    const took = performance.now() - started;
    if (took > longestMs) throw new Finding(`takes ${Math.round(took)} ms for ${bytes.length} bytes`, bytes);
  }
}
