/** Reads a ZIP archive with the library of the archive inputs, not with the code that wrote it. */
import { fromBuffer } from 'yauzl';

/** name -> text, in the order of the directory; the checksums are verified. */
export function readZip(bytes: Uint8Array): Promise<Map<string, string>> {
  return new Promise((resolve, reject) => {
    fromBuffer(Buffer.from(bytes), { lazyEntries: true, strictFileNames: true }, (error, archive) => {
      if (error !== null || archive === undefined) return reject(error);
      const parts = new Map<string, string>();
      archive.on('error', reject);
      archive.on('end', () => resolve(parts));
      archive.on('entry', (entry) => {
        archive.openReadStream(entry, (fault, stream) => {
          if (fault !== null || stream === undefined) return reject(fault);
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('error', reject);
          stream.on('end', () => {
            parts.set(entry.fileName, Buffer.concat(chunks).toString('utf8'));
            archive.readEntry();
          });
        });
      });
      archive.readEntry();
    });
  });
}
