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

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xedb88320 : 0);
  }
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
