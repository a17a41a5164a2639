/**
 * The modules of one program in one file, each as a function with its compiled code: hundreds of files need not be opened, stripped of types
 * and compiled at each start. Each has a checksum: V8 takes compiled code as it is, and dies of what is damaged. Plain JavaScript, as it comes
 * before whatever strips types.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

/** What was written by another way of rewriting, or for another Node, is none of ours. */
const makers = ['rewrite.mjs', 'load.mjs', 'pack.mjs'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);
/** A file that changed within this time, in milliseconds, may change again without its time telling. */
const settledMs = 100;
/** Compiled code is read where it lies, which takes such a place. */
const alignment = 8;
const head = headNow();
const nothing = { names: [], pieceOf: () => undefined };

/**
 * @typedef {object} Piece
 * @property {string} stamp of the file that it was made of, see `stampOf`
 * @property {string} code
 * @property {boolean} awaits see src/tools/bin/modules/rewrite.mjs
 * @property {string[]} imports the same; modules beside it by their names
 * @property {string[]} exports
 * @property {string[]} hoisted
 * @property {Buffer | undefined} compiled
 */

/**
 * @param {string} file
 * @returns {{ names: readonly string[], pieceOf: (name: string) => Piece | undefined }} undefined: it is not kept
 */
export function openPack(file) {
  const bytes = readBytes(file);
  try {
    if (bytes === null || bytes.latin1Slice(0, head.length) !== head) return nothing;
    const lineEnd = bytes.indexOf(10, head.length);
    const [indexBytes, indexSum] = bytes.latin1Slice(head.length, lineEnd).split(' ').map(Number);
    const indexEnd = lineEnd + 1 + indexBytes;
    if (crc32(bytes.subarray(lineEnd + 1, indexEnd)) !== indexSum) return nothing;
    const index = JSON.parse(bytes.utf8Slice(lineEnd + 1, indexEnd));
    const from = aligned(indexEnd);
    const pieceOf = (name) => {
      const entry = Object.hasOwn(index, name) ? index[name] : undefined;
      if (entry === undefined) return undefined;
      const [stamp, sum, at, codeBytes, isLatin, compiledBytes, awaits, imports, exports, hoisted] = entry;
      const start = from + at;
      const compiledAt = aligned(start + codeBytes);
      if (crc32(bytes.subarray(start, compiledAt + compiledBytes)) !== sum) return undefined;
      return {
        stamp,
        code: isLatin
          ? bytes.latin1Slice(start, start + codeBytes)
          : bytes.ucs2Slice(start, start + codeBytes),
        awaits,
        imports,
        exports,
        hoisted,
        compiled: bytes.subarray(compiledAt, compiledAt + compiledBytes),
      };
    };
    return { names: Object.keys(index), pieceOf };
  } catch {
    return nothing;
  }
}

/**
 * @param {string} file
 * @param {Map<string, Piece>} made by name
 * @param {(name: string) => string} pathOf of what others have kept meanwhile, and is kept with it as far as it still holds
 */
export function addToPack(file, made, pathOf) {
  // an update came in between: the next start keeps its own
  if (headNow() !== head) return;
  const own = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    const pieces = new Map(made);
    const { names, pieceOf } = openPack(file);
    for (const name of names) {
      const piece = pieces.has(name) ? undefined : pieceOf(name);
      if (piece !== undefined && stampOf(pathOf(name)) === piece.stamp) pieces.set(name, piece);
    }
    const index = {};
    const parts = [];
    let at = 0;
    const put = (part) => {
      const filler = Buffer.alloc(aligned(part.length) - part.length);
      parts.push(part, filler);
      at += part.length + filler.length;
    };
    for (const [name, { stamp, code, awaits, imports, exports, hoisted, compiled }] of pieces) {
      const isLatin = !/[^\0-\u{ff}]/u.test(code);
      const text = Buffer.from(code, isLatin ? 'latin1' : 'utf16le');
      const facts = [text.length, isLatin, compiled.length, awaits, imports, exports, hoisted];
      const filler = Buffer.alloc(aligned(text.length) - text.length);
      index[name] = [stamp, crc32(Buffer.concat([text, filler, compiled])), at, ...facts];
      put(text);
      put(compiled);
    }
    const indexBytes = Buffer.from(JSON.stringify(index));
    const start = Buffer.from(`${head}${indexBytes.length} ${crc32(indexBytes)}\n`, 'latin1');
    const indexEnd = start.length + indexBytes.length;
    const filler = Buffer.alloc(aligned(indexEnd) - indexEnd);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(own, Buffer.concat([start, indexBytes, filler, ...parts]), { flush: true });
    renameSync(own, file);
  } catch {
    // a folder that may not be written, or a full disk: each start does it again
    rmSync(own, { force: true });
  }
}

/** What tells one state of a file from another: its status is changed by whoever writes it, whatever time it is given. null: it has just changed, or there is none. */
export function stampOf(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || Date.now() - found.ctimeMs < settledMs) return null;
  return `${found.size} ${found.ino} ${found.ctimeMs}`;
}

function headNow() {
  const stamps = makers.map((path) => statSync(path)).map(({ size, ctimeMs }) => `${size} ${ctimeMs}`);
  return `${process.version} ${process.arch} ${stamps.join(' ')}\n`;
}

/** null: there is none, or it cannot be read. */
function readBytes(file) {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

function aligned(at) {
  return Math.ceil(at / alignment) * alignment;
}
