/** Writing files that survive a crash of the machine. */
import { open } from 'node:fs/promises';

/** Writes a new file that only its owner may read; it is on disk when this resolves. Rejects with EEXIST where there is one. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
