/**
 * Our modules as Node runs them, without their types, in one file: hundreds of files need not be opened and stripped at each start.
 * Plain JavaScript, as it comes before whatever strips types.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Begins the file: what was written by another way of keeping, or by another Node, is none of ours. */
const head = `1 ${process.version}`;
/** A file that changed within this time may change again without its time telling. */
const settledMs = 100;

/**
 * `file`: where they are kept; `root`: URL of the folder that they are below, by whose paths they are named. `sourceOf` gives the source of
 * a module, at the time of its file; undefined: Node loads it itself. What was missing is added when this process or thread ends by itself,
 * and by `keep`.
 */
export function openKeptSources(file, root) {
  if (nodeModule.stripTypeScriptTypes === undefined)
    return { sourceOf: () => undefined, keep: () => undefined };
  const kept = open(file);
  const made = new Map();
  const keep = () => {
    if (made.size > 0) add(file, root, made);
    made.clear();
  };
  process.once('exit', keep);
  const sourceOf = (url) => {
    const name = url.slice(root.length);
    const path = fileURLToPath(url);
    const stamp = stampOf(path);
    const entry = kept?.index[name];
    const piece = entry !== undefined && entry.stamp === stamp ? readPiece(kept, entry) : null;
    if (piece !== null) return piece;
    try {
      const read = readFileSync(path, 'utf8');
      const source = path.endsWith('.ts') ? stripped(read) : read;
      if (stamp !== null) made.set(name, { stamp, source });
      return source;
    } catch {
      // Node says what is wrong with it
      return undefined;
    }
  };
  return { sourceOf, keep };
}

/** null: there are none yet, or they cannot be read. */
function open(file) {
  let descriptor;
  try {
    descriptor = openSync(file, 'r');
    const start = Buffer.alloc(64);
    readSync(descriptor, start, 0, start.length, 0);
    const [first, bytes] = start.toString('latin1').split('\n');
    if (first !== head) throw new Error('kept by another Node');
    const index = Buffer.alloc(Number(bytes));
    const from = first.length + bytes.length + 2;
    readSync(descriptor, index, 0, index.length, from);
    return { descriptor, index: JSON.parse(index.toString()), from: from + index.length };
  } catch {
    if (descriptor !== undefined) closeSync(descriptor);
    return null;
  }
}

/** null: the file ends before. */
function readPiece({ descriptor, from }, { at, bytes }) {
  const piece = Buffer.allocUnsafe(bytes);
  return readSync(descriptor, piece, 0, bytes, from + at) === bytes ? piece.toString() : null;
}

/** What tells one state of a file from another: its status is changed by whoever writes it, whatever time it is given. null: it has just changed. */
function stampOf(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || Date.now() - found.ctimeMs < settledMs) return null;
  return `${found.size} ${found.ino} ${found.ctimeMs}`;
}

/** Without the warning that this way of calling it is young: Node itself strips types by it. */
function stripped(source) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return nodeModule.stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Beside those that others have kept meanwhile, of which what is no longer there is left out. */
function add(file, root, made) {
  const others = open(file);
  const index = {};
  const pieces = [];
  let at = 0;
  const put = (name, stamp, source) => {
    const piece = Buffer.from(source);
    index[name] = { stamp, at, bytes: piece.length };
    pieces.push(piece);
    at += piece.length;
  };
  const own = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    for (const [name, entry] of Object.entries(others?.index ?? {})) {
      if (made.has(name) || stampOf(fileURLToPath(root + name)) !== entry.stamp) continue;
      const piece = readPiece(others, entry);
      if (piece !== null) put(name, entry.stamp, piece);
    }
    for (const [name, { stamp, source }] of made) put(name, stamp, source);
    const bytes = Buffer.from(JSON.stringify(index));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(own, Buffer.concat([Buffer.from(`${head}\n${bytes.length}\n`), bytes, ...pieces]), {
      flush: true,
    });
    renameSync(own, file);
  } catch {
    // a folder that may not be written, or a full disk: each start does it again
    rmSync(own, { force: true });
  } finally {
    if (others !== null) closeSync(others.descriptor);
  }
}
