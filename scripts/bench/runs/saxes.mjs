/** `scripts/bench/runs/saxes.mjs FILE MODULE`: saxes, from where it is installed; prints what it found as JSON. */
import { createReadStream } from 'node:fs';

const { SaxesParser } = await import(process.argv[3]);
const counts = { elements: 0, attributes: 0 };
const started = performance.now();
const parser = new SaxesParser({ xmlns: true });
parser.on('opentag', (tag) => {
  counts.elements++;
  for (const _ in tag.attributes) counts.attributes++;
});
parser.on('text', () => undefined);
for await (const chunk of createReadStream(process.argv[2], { encoding: 'utf8', highWaterMark: 256 * 1024 }))
  parser.write(chunk);
parser.close();
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, ...counts }));
