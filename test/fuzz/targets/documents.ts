/**
 * Documents through tokeniser, shredder and their WebAssembly: the same rows, or a fault, by every way, in time; and what is written
 * back from the rows says what the document said.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../../src/engine/diagnostics.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { AppError } from '../../../src/errors.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { mutated } from '../../support/documents/mutated.ts';
import { roundTrip } from '../../support/round-trip/in-memory.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { shredToBytes, type ShreddingWay } from '../../support/models/shredded-bytes.ts';
import { compiled, inferred, modelOf } from '../../support/models/shredding.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';

const utf8 = new TextEncoder();
const longestMs = 5000;
const mixed =
  '<m xmlns:x="urn:x"><p>a <b>bold</b> word</p><n>1</n><n>2</n><d>2026-01-31</d><f>1.50</f><x:y z="t">\\N</x:y><e/></m>';
const targets = ['first', 'second', 'third'].map((name) =>
  readFileSync(join(import.meta.dirname, `../../fixtures/targets/${name}.xml`), 'utf8'),
);
const words = [
  '<n>',
  '</n>',
  '<n/>',
  '<p>',
  '</p>',
  '<b>',
  '</b>',
  '<unknown a="1"/>',
  '<x:y z="',
  ' a="1"',
  ' xmlns="urn:y"',
  ' xsi:nil="true"',
  ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
  '&#9;',
  '&#10;',
  '&#13;',
  '&amp;',
  '<![CDATA[',
  ']]>',
  '<!-- -->',
  '<?p?>',
  '\\.',
  '\\N',
  '\t',
  '\r\n',
  ',',
  '"',
  '=1+1',
  'NaN',
  'INF',
  '-0',
  '9'.repeat(40),
  'é',
  '\u{1F600}',
  'true',
  '24:00:00',
].map((text) => utf8.encode(text));

export function createDocumentsTarget(): FuzzTarget {
  const freight = Object.fromEntries(
    filesBelow(freightXsdFolder).map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]),
  );
  const families = [
    { source: compiled(freight), documents: freightDocuments.map(({ text }) => text) },
    { source: inferred([mixed]), documents: [mixed] },
    { source: inferred(targets), documents: targets },
  ].map(({ source, documents }, index) => ({
    source,
    // values of inferred types are compared as they are written
    asText: index > 0,
    models: ([0, 1, 2, 3] as const).map((mapLevel) => modelOf(source, mapLevel)),
    seeds: documents.map((text) => utf8.encode(text)),
  }));

  return {
    name: 'documents',
    step(random) {
      const { source, asText, models, seeds } = random.pick(families);
      const model = random.pick(models);
      const first = random.pick(seeds);
      const common = {
        encoding: random.pick(['copy-text', 'csv', 'tsv'] as const),
        widensInPlace: random.chance(0.5),
        unmapped: random.pick(['capture', 'report'] as const),
        ...(random.chance(0.5) ? {} : { hashes: ['0'.repeat(64), '1'.repeat(64)] }),
      };
      const windowBytes = 16 + random.below(400);
      const written = random.chance(0.2);
      return {
        input: makeDocument(random, seeds),
        async check(input) {
          checkRows(model, [first, input], common, windowBytes);
          if (written) await checkWriting(model, input, source, asText);
        },
      };
    },
    close: () => Promise.resolve(),
  };
}

/** Bytes that are changed anywhere, or elements and values of a document that stays well-formed. */
function makeDocument(random: Random, seeds: readonly Uint8Array[]): Uint8Array {
  if (random.chance(0.5)) return mutate(random, seeds, words);
  return utf8.encode(mutated(random.pick(seeds), random.below(0x7fffffff), 1 + random.below(8)));
}

function checkRows(
  model: RelationalModel,
  documents: readonly Uint8Array[],
  common: Pick<ShreddingWay, 'encoding' | 'widensInPlace' | 'unmapped' | 'hashes'>,
  windowBytes: number,
): void {
  const started = performance.now();
  const expected = outcome(model, documents, { ...common, kernelFrom: Infinity, tokenizer: 'plain' });
  const took = performance.now() - started;
  if (took > longestMs) throw new Finding(`takes ${Math.round(took)} ms`, documents[1]!);
  for (const tokenizer of ['plain', 'shared'] as const)
    if (outcome(model, documents, { ...common, kernelFrom: 0, tokenizer, windowBytes }) !== expected)
      throw new Finding(`other rows by WebAssembly (${tokenizer}, ${windowBytes})`, documents[1]!);
}

async function checkWriting(
  model: RelationalModel,
  document: Uint8Array,
  source: SourceModel,
  asText: boolean,
): Promise<void> {
  let written: Uint8Array | undefined;
  try {
    [written] = await roundTrip(model, [document]);
  } catch (error) {
    if (error instanceof InputError || error instanceof AppError) return;
    throw new Finding(`it cannot be written back: ${String(error)}`, document, error);
  }
  const [difference] = compareXml(document, written!, { source, asText, limit: 1 });
  if (difference !== undefined)
    throw new Finding(`written back otherwise: ${JSON.stringify(difference)}`, document);
}

function outcome(model: RelationalModel, documents: readonly Uint8Array[], way: ShreddingWay): string {
  try {
    const { tables, ...rest } = shredToBytes(model, documents, way);
    return JSON.stringify([[...tables], rest], (_, value: unknown) =>
      value instanceof Map ? [...value] : value,
    );
  } catch (error) {
    // which of several faults comes first depends on where batches end
    if (error instanceof InputError) return 'a fault';
    throw new Finding(`throws ${String(error)}`, documents[1]!, error);
  }
}
