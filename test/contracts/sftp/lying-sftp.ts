/** What stands in for the program ssh: a server of SFTP whose folders each have a fault of their own, which the first part of a path names. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Answers a value for PATH. Folders `whole`, `cuts` (now and then), `breaks` (for ever), `short` (than it says), `grows`, `refuses`, `lists` (what is not
 * there) have one file `a.xml` of that content.
 */
export async function lyingSftp(folder: string, content: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'ssh'), program(join(folder, 'calls'), content), { mode: 0o755 });
  return `${folder}:${process.env['PATH']}`;
}

const program = (calls: string, content: string): string => `#!${process.execPath}
const fs = require('node:fs');
fs.appendFileSync(${JSON.stringify(calls)}, '.');
const call = fs.statSync(${JSON.stringify(calls)}).size;
const content = Buffer.from(${JSON.stringify(content)});
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b; };
const bytes = (t) => { const b = Buffer.from(t); return Buffer.concat([u32(b.length), b]); };
const packed = (type, ...parts) => { const body = Buffer.concat([Buffer.from([type]), ...parts]); return Buffer.concat([u32(body.length), body]); };
const send = (type, ...parts) => process.stdout.write(packed(type, ...parts));
const attributes = (mode, size) => Buffer.concat([u32(1 | 4 | 8), u32(0), u32(size), u32(mode), u32(5), u32(5)]);
const file = (size) => attributes(0o100644, size), folder = () => attributes(0o40755, 0);
const status = (id, code) => send(101, id, u32(code), bytes('c4nary of the server'), bytes(''));
const textAt = (body, at) => body.subarray(at + 4, at + 4 + body.readUInt32BE(at)).toString();
let rest = Buffer.alloc(0), mode = '', stats = 0, reads = 0, listed = false;
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  while (rest.length >= 5 && rest.length >= 4 + rest.readUInt32BE(0)) {
    const body = rest.subarray(4, 4 + rest.readUInt32BE(0));
    rest = rest.subarray(4 + body.length);
    const type = body[0], id = body.subarray(1, 5);
    if (type === 17 || type === 3 || type === 11) mode = textAt(body, 5).split('/').filter(Boolean)[0];
    const isFile = (type === 17 || type === 3) && textAt(body, 5).endsWith('.xml');
    if (type === 1) send(2, u32(3));
    else if (type === 4) status(id, 0);
    else if (type === 17) send(105, id, isFile ? file(content.length) : folder());
    else if (type === 3) { if (mode === 'refuses') status(id, 3); else if (mode === 'lists') status(id, 2); else send(102, id, bytes('h')); }
    else if (type === 11) { listed = false; send(102, id, bytes('d')); }
    else if (type === 12) {
      if (listed) status(id, 1);
      else { listed = true; send(104, id, u32(1), bytes('a.xml'), bytes(''), file(content.length)); }
    } else if (type === 8) { stats += 1; send(105, id, file(content.length + (mode === 'grows' && stats > 1 ? 1 : 0))); }
    else if (type === 5) {
      const handle = body.readUInt32BE(5), at = 9 + handle;
      const from = Number(body.readBigUInt64BE(at)), length = body.readUInt32BE(at + 8);
      const part = content.subarray(from, from + length);
      reads += 1;
      if ((mode === 'cuts' && call % 4 !== 0) || mode === 'breaks') {
        if (reads === (mode === 'cuts' ? 3 : 1)) return process.exit(255);
        if (mode === 'cuts') send(103, id, bytes(part));
      } else if (part.length === 0 || (mode === 'short' && from > 1000)) status(id, 1);
      else send(103, id, bytes(mode === 'short' ? part.subarray(0, 1000) : part));
    } else status(id, 8);
  }
});
process.stdin.on('end', () => process.exit(0));
`;
