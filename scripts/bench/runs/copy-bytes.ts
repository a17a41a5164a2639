/**
 * `scripts/bench/runs/copy-bytes.ts FILE [plain]`: a document to COPY bytes that nobody reads, with a model known beforehand; prints counts
 * as JSON. `plain`: rows and statistics without their kernels in WebAssembly.
 */
import { openSync, readSync } from 'node:fs';
import { createStatisticsCollector } from '../../../src/engine/infer/collector.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { createShredder } from '../../../src/engine/shred/shredder.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { createFastXmlTokenizer } from '../../../src/engine/xml/tokenizer/fast.ts';
import type { TokenBatch, XmlTokenizer } from '../../../src/engine/xml/tokens.ts';

const path = process.argv[2]!;
const kernels = process.argv[3] === 'plain' ? { kernelFrom: Infinity } : {};

function read(tokenizer: XmlTokenizer, afterPiece: () => void = () => undefined): number {
  const file = openSync(path, 'r');
  const first = new Uint8Array(64 * 1024);
  tokenizer.write(first.subarray(0, readSync(file, first)));
  for (;;) {
    const room = tokenizer.room()!;
    afterPiece();
    const length = readSync(file, room);
    if (length === 0) break;
    tokenizer.filled(length);
  }
  tokenizer.end();
  return tokenizer.bytesRead;
}

const inferring = performance.now();
const collected = createNameTable();
const collector = createStatisticsCollector(collected, { samples: true, ...kernels });
collector.beginDocument();
const bytesRead = read(
  createFastXmlTokenizer(
    { names: collected, onBatch: (batch) => collector.consume(batch) },
    collector.tokenizerKernels(),
  ),
);
collector.endDocument(bytesRead);
const model = buildRelationalModel(inferSourceModel(collector.statistics), { mapLevel: 3 });
const inferSeconds = (performance.now() - inferring) / 1000;

const started = performance.now();
const cpuStarted = process.cpuUsage();
const names = createNameTable();
const shredder = createShredder({
  model,
  names,
  encoding: 'copy-text',
  idJob: 1,
  jobUuid: '00000000-0000-4000-8000-000000000001',
  keyOffsets: new Map(),
  widensInPlace: true,
  unmapped: 'capture',
  extraValues: () => [],
  ...kernels,
});
let copyBytes = 0;
const drain = (): void => {
  for (const chunk of shredder.output.chunks.splice(0)) {
    copyBytes += chunk.bytes.length;
    shredder.output.recycle(chunk.bytes);
  }
};
shredder.beginDocument(path);
const onBatch = (batch: TokenBatch): void => shredder.consume(batch, (record) => tokenizer.locate(record));
const tokenizer: XmlTokenizer = createFastXmlTokenizer({ names, onBatch }, shredder.tokenizerKernels());
read(tokenizer, drain);
shredder.endDocument({ sha256: '', bytes: bytesRead, loadedAt: new Date(0).toISOString() });
shredder.output.flush();
drain();
const seconds = (performance.now() - started) / 1000;
const cpu = process.cpuUsage(cpuStarted);
const cpuSeconds = (cpu.user + cpu.system) / 1e6;
const rows = shredder.output.rowCounts.reduce((sum, count) => sum + count, 0);
console.log(
  JSON.stringify({
    seconds,
    cpuSeconds,
    inferSeconds,
    rows,
    copyBytes,
    unconvertedValues: shredder.unconvertedValues.length,
  }),
);
