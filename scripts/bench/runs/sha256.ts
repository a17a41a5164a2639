/** SHA-256 of a file alone, as a load takes it of each document: `scripts/bench/runs/sha256.ts FILE`. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

const started = performance.now();
const hash = createHash('sha256');
for await (const chunk of createReadStream(process.argv[2]!, { highWaterMark: 1 << 20 })) hash.update(chunk);
console.log(JSON.stringify({ sha256: hash.digest('hex'), seconds: (performance.now() - started) / 1000 }));
