/** ZIP archives of a few parts that are in memory (APPNOTE 6.3, deflate, no ZIP64). Web standards alone. */

export interface ZipPart {
  readonly name: string;
  readonly content: string;
}

/** Every archive of the same parts is the same: the time in it is always 1980-01-01. */
export async function zip(parts: readonly ZipPart[]): Promise<Uint8Array<ArrayBuffer>> {
  const utf8 = new TextEncoder();
  const bodies: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content } of parts) {
    const plain = utf8.encode(content);
    const packed = await deflate(plain);
    const nameBytes = utf8.encode(name);
    // version 2.0, UTF-8 name, deflate, 1980-01-01 00:00
    const facts = [
      u16(20),
      u16(0x0800),
      u16(8),
      u16(0),
      u16(0x21),
      u32(crc32(plain)),
      u32(packed.length),
      u32(plain.length),
    ];
    const local = [u32(0x04034b50), ...facts, u16(nameBytes.length), u16(0), nameBytes, packed];
    const comment = [u16(0), u16(0), u16(0), u16(0), u32(0)];
    directory.push(
      u32(0x02014b50),
      u16(20),
      ...facts,
      u16(nameBytes.length),
      ...comment,
      u32(offset),
      nameBytes,
    );
    bodies.push(...local);
    offset += lengthOf(local);
  }
  const size = lengthOf(directory);
  const end = [
    u32(0x06054b50),
    u16(0),
    u16(0),
    u16(parts.length),
    u16(parts.length),
    u32(size),
    u32(offset),
    u16(0),
  ];
  return joined([...bodies, ...directory, ...end]);
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** what each value of a byte does to the sum, in four tables: four bytes are taken at a time */
const crcTables: readonly Uint32Array[] = [0, 1, 2, 3].map(() => new Uint32Array(256));
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xedb88320 : 0);
  crcTables[0]![byte] = crc;
}
for (let byte = 0; byte < 256; byte += 1)
  for (let nth = 1; nth < 4; nth += 1) {
    const before = crcTables[nth - 1]![byte]!;
    crcTables[nth]![byte] = (before >>> 8) ^ crcTables[0]![before & 0xff]!;
  }

function crc32(bytes: Uint8Array): number {
  const [t0, t1, t2, t3] = crcTables as readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  let crc = ~0;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc = t3[crc & 0xff]! ^ t2[(crc >>> 8) & 0xff]! ^ t1[(crc >>> 16) & 0xff]! ^ t0[crc >>> 24]!;
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

function u16(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, (value >>> 8) & 0xff);
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
