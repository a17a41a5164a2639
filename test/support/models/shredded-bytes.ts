/** All that a shredder gives for documents, byte for byte: to compare what must be the same by two ways. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { createRowElements } from '../../../src/engine/shred/row-tag/elements.ts';
import { partText } from '../../../src/engine/shred/row-tag/parts.ts';
import { createShredder, type Shredder, type ShredderOptions } from '../../../src/engine/shred/shredder.ts';
import { createFastXmlTokenizer } from '../../../src/engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import type { NameTable, TextLocation, TokenBatch, XmlTokenizer } from '../../../src/engine/xml/tokens.ts';
import { sha256Of } from '../../../src/storage/staging/durable-file.ts';
import { bytesOf } from './shredding.ts';
import { uuidOfJob } from './job-names.ts';

export interface ShreddingWay {
  readonly encoding: ShredderOptions['encoding'];
  /** 0: with the kernel from the first record on; Infinity: without */
  readonly kernelFrom: number;
  /** shared: it writes its tape where the kernel reads it */
  readonly tokenizer: 'plain' | 'shared';
  /** batches end where a window does */
  readonly windowBytes?: number;
  readonly widensInPlace?: boolean;
  readonly scalesDecimals?: boolean;
  readonly unmapped?: ShredderOptions['unmapped'];
  readonly extra?: readonly (string | null)[];
  /** keys that follow from documents: SHA-256 of each */
  readonly hashes?: readonly string[];
}

export interface ShreddedBytes {
  /** rows as text, by table or side table */
  readonly tables: ReadonlyMap<string, string>;
  readonly rowCounts: readonly number[];
  readonly unconvertedValues: readonly unknown[];
  readonly nullAllowed: readonly string[];
  readonly deviations: unknown;
  readonly lastKeys: unknown;
}

export function shredToBytes(
  model: RelationalModel,
  documents: readonly (string | Uint8Array)[],
  way: ShreddingWay,
): ShreddedBytes {
  const names = createNameTable();
  const shredder = shredderOf(model, names, way);
  for (const [index, document] of documents.entries()) {
    shredder.beginDocument(`document-${index + 1}.xml`, way.hashes?.[index]);
    const bytes = bytesOf(document);
    read(bytes, names, shredder, way, (batch, locate) => shredder.consume(batch, locate));
    shredder.endDocument({ sha256: 'x', bytes: bytes.length, loadedAt });
  }
  return shreddedBytes(shredder);
}

export interface ShreddedParts extends ShreddedBytes {
  /** attributes and texts outside of them */
  readonly outside: number;
  /** parts that were not begun by themselves */
  readonly taken: number;
}

/**
 * The elements of a local name out of a larger document, one after the other; `areTaken`: those that follow one another at once, as far as that
 * can be. `way.hashes`: of the larger document, from which theirs follow.
 */
export function shredPartsToBytes(
  model: RelationalModel,
  document: string,
  localName: string,
  way: ShreddingWay,
  areTaken: boolean,
): ShreddedParts {
  const names = createNameTable();
  const shredder = shredderOf(model, names, way);
  const name = 'a, "larger" one.xml';
  const sha256 = way.hashes?.[0] ?? null;
  let number = 1;
  let taken = 0;
  const parts = createRowElements({ namespaceUri: null, localName }, names, {
    begin(inherited) {
      const hash = sha256 === null ? undefined : sha256Of(partText(sha256, number));
      shredder.beginDocument(partText(name, number), hash, inherited);
      number += 1;
    },
    take(batch, at, inherited) {
      const some = areTaken
        ? shredder.takeParts(batch, at, { name, number, sha256, inherited, loadedAt })
        : null;
      const begun = (some?.ended ?? 0) + ((some?.depth ?? 0) > 0 ? 1 : 0);
      number += begun;
      taken += begun;
      return some;
    },
    consume: (batch, locate, first) => shredder.consume(batch, locate, first),
    end: (bytes) => shredder.endDocument({ sha256: null, bytes, loadedAt }),
  });
  read(bytesOf(document), names, shredder, way, (batch, locate) => parts.consume(batch, locate));
  return { ...shreddedBytes(shredder), outside: parts.outside, taken };
}

const loadedAt = '2026-01-01T00:00:00Z';

function shredderOf(model: RelationalModel, names: NameTable, way: ShreddingWay): Shredder {
  return createShredder({
    model,
    names,
    encoding: way.encoding,
    idJob: 1,
    jobUuid: uuidOfJob(1),
    keyOffsets: new Map(model.tables.map(({ name }, index) => [name, index * 7])),
    widensInPlace: way.widensInPlace ?? true,
    scalesDecimals: way.scalesDecimals ?? false,
    unmapped: way.unmapped ?? 'capture',
    extraValues: (key) => (way.extra ?? []).map((value) => (value === '#' ? `${key}` : value)),
    kernelFrom: way.kernelFrom,
  });
}

function read(
  bytes: Uint8Array,
  names: NameTable,
  shredder: Shredder,
  way: ShreddingWay,
  consume: (batch: TokenBatch, locate: (record: number) => TextLocation) => void,
): void {
  const options = {
    names,
    onBatch: (batch: TokenBatch) => consume(batch, (record) => tokenizer.locate(record)),
    ...(way.windowBytes === undefined ? {} : { windowBytes: way.windowBytes }),
  };
  const kernels = shredder.tokenizerKernels();
  const tokenizer: XmlTokenizer =
    way.tokenizer === 'plain'
      ? createXmlTokenizer(options)
      : createFastXmlTokenizer(options, { ...kernels, take: () => kernels.take(Infinity) });
  tokenizer.write(bytes);
  tokenizer.end();
}

/** All that has been made by now. */
function shreddedBytes(shredder: Shredder): ShreddedBytes {
  shredder.output.flush();
  const tables = new Map<string, string>();
  for (const { table, bytes } of shredder.output.chunks)
    tables.set(`${table}`, (tables.get(`${table}`) ?? '') + new TextDecoder().decode(bytes));
  const { paths, unconvertedValues, ignored, total } = shredder.deviations;
  return {
    tables: new Map([...tables].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    rowCounts: [...shredder.output.rowCounts],
    unconvertedValues: shredder.unconvertedValues,
    nullAllowed: shredder.nullAllowed.map(({ table, column }) => `${table}/${column}`).toSorted(),
    deviations: {
      paths: [...paths],
      unconvertedValues: [...unconvertedValues],
      ignored: [...ignored],
      total,
    },
    lastKeys: [...shredder.lastKeys()],
  };
}
