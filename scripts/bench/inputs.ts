/** The documents the bench reads: three shapes, of any size, the same bytes every time. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

export type Shape = 'element' | 'attribute' | 'text';
export const shapes: readonly Shape[] = ['element', 'attribute', 'text'];

/** What a document holds, counted while it was written: what every contestant has to find. */
export interface Counts {
  elements: number;
  attributes: number;
  /** rows of the element-heavy shape: orders, their lines and their notes */
  rows: number;
}

export interface BenchInput {
  readonly shape: Shape;
  readonly path: string;
  readonly bytes: number;
  readonly counts: Counts;
}

export const noCounts: Counts = { elements: 0, attributes: 0, rows: 0 };

/** Deterministic numbers (xorshift), so that results of two days can be compared. */
function createNumbers(): (below: number) => number {
  let state = 0x2545f491;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const words =
  'the of account bill delivery freight green harbour invoice journal kilogram ledger measure number order paper quality return shipment tariff unit value warehouse year Zürich café 東京 naïve'.split(
    ' ',
  );

const records: Readonly<
  Record<Shape, (serial: number, pick: (below: number) => number, counts: Counts) => string>
> = {
  element(serial, pick, counts) {
    const lines = 1 + pick(4);
    const notes = pick(3);
    let text = `  <order>\n    <number>${serial}</number>\n    <date>2026-${two(1 + pick(12))}-${two(1 + pick(28))}</date>\n    <customer><code>C${10_000 + pick(90_000)}</code><city>${words[pick(24)]}</city></customer>\n`;
    for (let line = 1; line <= lines; line++) {
      text += `    <line>\n      <sku>AB-${1000 + pick(9000)}</sku>\n      <quantity>${1 + pick(99)}</quantity>\n      <price>${pick(10_000)}.${two(pick(100))}</price>\n      <unit>piece</unit>\n    </line>\n`;
    }
    for (let note = 0; note < notes; note++)
      text += `    <note>${words[pick(24)]} ${words[pick(28)]}</note>\n`;
    counts.elements += 6 + lines * 5 + notes;
    counts.rows += 1 + lines + notes;
    return `${text}  </order>\n`;
  },
  attribute(serial, pick, counts) {
    counts.elements += 1;
    counts.attributes += 10;
    counts.rows += 1;
    return `  <reading id="${serial}" station="ST-${pick(500)}" at="2026-03-${two(1 + pick(28))}T${two(pick(24))}:${two(pick(60))}:${two(pick(60))}Z" kind="${words[pick(24)]}" value="${pick(100_000)}.${two(pick(100))}" unit="kWh" quality="${pick(5)}" source="meter" estimated="${pick(2) === 0}" note="${words[pick(28)]} ${words[pick(28)]}"/>\n`;
  },
  text(serial, pick, counts) {
    let body = '';
    const length = 200 + pick(200);
    for (let word = 0; word < length; word++)
      body += `${words[pick(28)]}${pick(60) === 0 ? ' &amp;' : ''}${pick(12) === 0 ? '\n' : ' '}`;
    counts.elements += 3;
    counts.rows += 1;
    return `  <article>\n    <title>${words[pick(28)]} ${serial}</title>\n    <body>${body}</body>\n  </article>\n`;
  },
};

const two = (value: number): string => String(value).padStart(2, '0');

/** Writes a document of about `bytes` bytes (at least one record of everything that the shape has). */
export async function generateInput(shape: Shape, bytes: number, directory: string): Promise<BenchInput> {
  const path = join(directory, `${shape}-${bytes}.xml`);
  const file = createWriteStream(path);
  const pick = createNumbers();
  const counts: Counts = { ...noCounts, elements: 1 };
  const root = `${shape}s`;
  let written = 0;
  const write = async (text: string): Promise<void> => {
    const chunk = Buffer.from(text);
    written += chunk.length;
    if (!file.write(chunk)) await once(file, 'drain');
  };
  await write(`<?xml version="1.0" encoding="UTF-8"?>\n<${root}>\n`);
  let serial = 1;
  for (let full = false; !full; full = written >= bytes && serial >= 16) {
    let block = '';
    while (block.length < 256 * 1024 && (written + block.length < bytes || serial < 16))
      block += records[shape](serial++, pick, counts);
    await write(block);
  }
  await write(`</${root}>\n`);
  file.end();
  await once(file, 'finish');
  return { shape, path, bytes: written, counts };
}
