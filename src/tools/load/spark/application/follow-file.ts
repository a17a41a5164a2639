/** A text file that another process writes, line by line as it grows. */
import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const everyMs = 300;
const pieceBytes = 64 * 1024;

/** Passes each line to `take`; `end` reads the lines that exist then, and stops. The file may appear later, or never. */
export function followFile(path: string, take: (line: string) => void): { end(): Promise<void> } {
  const over = new AbortController();
  const decoder = new TextDecoder();
  let rest = '';
  let offset = 0;
  const read = async (file: FileHandle): Promise<void> => {
    const piece = new Uint8Array(pieceBytes);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      const lines = (rest + decoder.decode(piece.subarray(0, bytesRead), { stream: true })).split('\n');
      rest = lines.pop()!;
      lines.forEach(take);
    }
  };
  const readNow = async (): Promise<void> => {
    // opened again each time: on a network file system, this makes others' writes visible
    const file = await open(path, 'r').catch(() => null);
    if (file === null) return;
    await read(file).finally(() => file.close());
  };
  const following = (async () => {
    while (!over.signal.aborted) {
      await readNow();
      // aborted when the file is whole, which the loop sees
      await delay(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
    await readNow();
    if (rest !== '') take(rest);
  })();
  return {
    end: () => {
      over.abort();
      return following;
    },
  };
}
