/** `scripts/bench/runs/tokenise.ts fast|plain FILE`: our tokeniser alone, or what it is without WebAssembly; prints what it found as JSON. */
import { openSync, readSync } from 'node:fs';
import { createFastXmlTokenizer } from '../../../src/engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import {
  KIND_ATTRIBUTE,
  KIND_MASK,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
} from '../../../src/engine/xml/tokens.ts';

const [, , way, path] = process.argv as [string, string, string, string];
const create = way === 'plain' ? createXmlTokenizer : createFastXmlTokenizer;
const counts = { elements: 0, attributes: 0, textBytes: 0 };
const started = performance.now();
const cpuStarted = process.cpuUsage();
const tokenizer = create({
  onBatch({ events, count }) {
    let elements = 0;
    let attributes = 0;
    let textBytes = 0;
    // integer arithmetic throughout: half of what a consumer of so many records costs
    const end = count * RECORD_INTS;
    for (let n = 0; n < end; n += RECORD_INTS) {
      const kind = events[n]! & KIND_MASK;
      if (kind === KIND_TEXT) textBytes = (textBytes + (events[n + 3]! - events[n + 2]!)) | 0;
      else if (kind === KIND_START) elements = (elements + 1) | 0;
      else if (kind === KIND_ATTRIBUTE) attributes = (attributes + 1) | 0;
    }
    counts.elements += elements;
    counts.attributes += attributes;
    counts.textBytes += textBytes;
  },
});
const file = openSync(path, 'r');
const first = new Uint8Array(64 * 1024);
tokenizer.write(first.subarray(0, readSync(file, first)));
for (;;) {
  const room = tokenizer.room()!;
  const length = readSync(file, room);
  if (length === 0) break;
  tokenizer.filled(length);
}
tokenizer.end();
const { user, system } = process.cpuUsage(cpuStarted);
console.log(
  JSON.stringify({
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (user + system) / 1e6,
    ...counts,
  }),
);
