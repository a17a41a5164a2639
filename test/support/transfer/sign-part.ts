/** Packages that someone has been at, and who knew how to sign them. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { manifestName } from '../../../src/service/transfer/package-format.ts';

/** Makes the manifest agree with a part as it is now. */
export async function signPart(path: string, name: string): Promise<void> {
  const file = join(path, manifestName);
  const { sha256: _, ...manifest } = JSON.parse(await readFile(file, 'utf8')) as {
    sha256: string;
    parts: { name: string }[];
  };
  const bytes = await readFile(join(path, name));
  const records = bytes.toString().split('\n').length - 1;
  const parts = manifest.parts.map((part) =>
    part.name === name ? { ...part, records, bytes: bytes.byteLength, sha256: sha256(bytes) } : part,
  );
  const content = { ...manifest, parts };
  await writeFile(file, JSON.stringify({ ...content, sha256: sha256(Buffer.from(JSON.stringify(content))) }));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
