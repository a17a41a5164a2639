/** `tokenise.ts FILE`: our tokeniser alone; prints what it found as JSON. */
import { openSync, readSync } from 'node:fs';
import { createFastXmlTokenizer } from '../../../src/engine/xml/fast-tokenizer.ts';
import {
  KIND_ATTRIBUTE,
  KIND_MASK,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
} from '../../../src/engine/xml/tokens.ts';

const counts = { elements: 0, attributes: 0, textBytes: 0 };
const started = performance.now();
const tokenizer = createFastXmlTokenizer({
  onBatch({ events, count }) {
    for (let n = 0; n < count * RECORD_INTS; n += RECORD_INTS) {
      const kind = events[n]! & KIND_MASK;
      if (kind === KIND_START) counts.elements++;
      else if (kind === KIND_ATTRIBUTE) counts.attributes++;
      else if (kind === KIND_TEXT) counts.textBytes += events[n + 3]! - events[n + 2]!;
    }
  },
});
const file = openSync(process.argv[2]!, 'r');
const buffer = new Uint8Array(64 * 1024);
for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer))
  tokenizer.write(buffer.subarray(0, length));
tokenizer.end();
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, ...counts }));
