/** Archives made in memory, by the formats' own descriptions. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import tar from 'tar-stream';

export interface ArchiveEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** in a zip: not deflated */
  readonly isStored?: boolean;
}

/** A member as writers of archives do not make them: each field is written as given. */
export interface RawTarEntry extends ArchiveEntry {
  /** the type flag, one character */
  readonly flag?: string;
  readonly linkName?: string;
  /** records of a pax header in front */
  readonly pax?: Readonly<Record<string, string>>;
}

/** POSIX pax, "ustar Interchange Format": a header of 512 bytes, content padded to 512, two empty blocks. */
export function tarOf(entries: readonly RawTarEntry[]): Uint8Array {
  const parts = entries.flatMap(({ name, bytes, flag = '0', linkName = '', pax }) => [
    ...(pax === undefined ? [] : tarBlocks('pax', paxRecords(pax), 'x', '')),
    ...tarBlocks(name, bytes, flag, linkName),
  ]);
  return new Uint8Array(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

function tarBlocks(name: string, bytes: Uint8Array, flag: string, linkName: string): Uint8Array[] {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
  header.fill(' ', 148, 156);
  header.write(flag, 156);
  header.write(linkName, 157);
  header.write('ustar\u{0}00', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
}

/** `LENGTH KEY=VALUE` and a line end, the length counting its own digits. */
function paxRecords(records: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const bytes = Buffer.byteLength(rest);
    let length = bytes + 1;
    while (String(length).length + bytes !== length) length += 1;
    return `${length}${rest}`;
  });
  return Buffer.from(lines.join(''));
}

/** A zip whose directory names one member so often that together they claim far more than the archive has. */
export function overlappingZip(count: number, bytes: Uint8Array): Uint8Array {
  return zipped([{ name: '0.xml', bytes }], count);
}

/** APPNOTE.TXT 4.3: local headers with content, deflated or stored, the central directory, its end. */
export function zipped(entries: readonly ArchiveEntry[], timesListed = 1): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, isStored = false } of entries) {
    const nameBytes = Buffer.from(name);
    const packed = isStored ? Buffer.from(bytes) : deflateRawSync(bytes);
    // version 2.0, names in UTF-8, the method, 1980-01-01 00:00
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x0800, 2);
    facts.writeUInt16LE(isStored ? 0 : 8, 4);
    facts.writeUInt16LE(0, 6);
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, nameBytes, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const listed = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, rest, nameBytes]);
    for (let time = 0; time < timesListed; time += 1) directory.push(listed);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length * timesListed, 4);
  end.writeUInt16LE(entries.length * timesListed, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...parts, central, Buffer.from('PK\x05\x06'), end]));
}

export async function tarGzipped(entries: readonly ArchiveEntry[]): Promise<Uint8Array> {
  return new Uint8Array(gzipSync(await tarred(entries)));
}

export async function tarred(entries: readonly ArchiveEntry[]): Promise<Uint8Array> {
  const pack = tar.pack();
  for (const { name, bytes } of entries) pack.entry({ name }, Buffer.from(bytes));
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack) chunks.push(chunk as Buffer);
  return new Uint8Array(Buffer.concat(chunks));
}
