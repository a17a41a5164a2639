/** Several files as one upload: a tar archive that is put together of the files themselves, without reading them. */

interface Member {
  readonly path: string;
  readonly file: Blob;
}

const block = 512;
const encoder = new TextEncoder();

export function tarOf(members: readonly Member[]): Blob {
  const parts: BlobPart[] = members.flatMap(({ path, file }) => [
    ...pathHeader(path),
    header(path, file.size, '0'),
    file,
    padding(file.size),
  ]);
  return new Blob([...parts, new Uint8Array(2 * block)], { type: 'application/x-tar' });
}

/** Returns a pax header (POSIX.1-2001) for a name that is too long for the old header, or has other characters. */
function pathHeader(path: string): BlobPart[] {
  if (/^[\x20-\x7e]{1,99}$/.test(path)) return [];
  const content = encoder.encode(` path=${path}\n`);
  let length = content.length + 1;
  // the number counts its own digits, too
  while (String(length).length + content.length !== length) length = String(length).length + content.length;
  const record = encoder.encode(`${length} path=${path}\n`);
  return [header('path', record.length, 'x'), record, padding(record.length)];
}

function header(path: string, size: number, type: '0' | 'x'): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(block);
  const put = (text: string, at: number, length: number): void => {
    bytes.set(encoder.encode(text).subarray(0, length), at);
  };
  put(path.replaceAll(/[^\x20-\x7e]/g, '_'), 0, 99);
  put('0000644\0', 100, 8);
  put('0000000\0', 108, 8);
  put('0000000\0', 116, 8);
  putSize(bytes, size);
  put('00000000000\0', 136, 12);
  put('        ', 148, 8);
  put(type, 156, 1);
  put('ustar\u000000', 257, 8);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8);
  return bytes;
}

/** Eleven octal digits reach to 8 GiB; beyond, the number is binary, as GNU tar has it. */
function putSize(bytes: Uint8Array, size: number): void {
  if (size < 8 ** 11) {
    bytes.set(encoder.encode(`${size.toString(8).padStart(11, '0')}\0`), 124);
    return;
  }
  bytes[124] = 0x80;
  new DataView(bytes.buffer).setBigUint64(128, BigInt(size));
}

function padding(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((block - (size % block)) % block);
}
