/** All that a shredder gives for documents, byte for byte: to compare what must be the same by two ways. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { createShredder, type ShredderOptions } from '../../../src/engine/shred/shredder.ts';
import { createFastXmlTokenizer } from '../../../src/engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../../src/engine/xml/names/expanded-names.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import type { TokenBatch, XmlTokenizer } from '../../../src/engine/xml/tokens.ts';
import { bytesOf } from './shredding.ts';

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
  const shredder = createShredder({
    model,
    names,
    encoding: way.encoding,
    idJob: 1,
    keyOffsets: new Map(model.tables.map(({ name }, index) => [name, index * 7])),
    widensInPlace: way.widensInPlace ?? true,
    scalesDecimals: way.scalesDecimals ?? false,
    unmapped: way.unmapped ?? 'capture',
    extraValues: (key) => (way.extra ?? []).map((value) => (value === '#' ? `${key}` : value)),
    kernelFrom: way.kernelFrom,
  });
  for (const [index, document] of documents.entries()) {
    shredder.beginDocument(`document-${index + 1}.xml`, way.hashes?.[index]);
    const options = {
      names,
      onBatch: (batch: TokenBatch) => shredder.consume(batch, (record) => tokenizer.locate(record)),
      ...(way.windowBytes === undefined ? {} : { windowBytes: way.windowBytes }),
    };
    const kernels = shredder.tokenizerKernels();
    const tokenizer: XmlTokenizer =
      way.tokenizer === 'plain'
        ? createXmlTokenizer(options)
        : createFastXmlTokenizer(options, { ...kernels, take: () => kernels.take(Infinity) });
    const bytes = bytesOf(document);
    tokenizer.write(bytes);
    tokenizer.end();
    shredder.endDocument({ sha256: 'x', bytes: bytes.length, loadedAt: '2026-01-01T00:00:00Z' });
  }
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
