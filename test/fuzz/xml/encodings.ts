/** Documents written in encodings, with and without what says so. */
import type { Random } from '../random.ts';

/** Bytes of a document whose declaration, where there is one, says UTF-8. */
export function encodeXml(random: Random, text: string): Uint8Array {
  switch (random.below(10)) {
    case 0:
      return wide(`\uFEFF${renamed(text, random.pick(['UTF-16', 'utf-16', 'UTF-16LE']))}`, true);
    case 1:
      return wide(`\uFEFF${renamed(text, random.pick(['UTF-16', 'UTF-16BE', 'ISO-10646-UCS-2']))}`, false);
    case 2:
      return wide(renamed(text, 'UTF-16LE'), true);
    case 3:
      return narrow(
        declared(
          text,
          random.pick(['ISO-8859-1', 'latin1', 'US-ASCII', 'windows-1252', 'ISO-8859-15', 'koi8-r']),
        ),
      );
    case 4:
      return new TextEncoder().encode(`\uFEFF${text}`);
    default:
      return new TextEncoder().encode(text);
  }
}

function renamed(text: string, encoding: string): string {
  return text.replace(/^(<\?xml [^>]*encoding=")UTF-8/, `$1${encoding}`);
}

function declared(text: string, encoding: string): string {
  return text.startsWith('<?xml') && !text.slice(0, 60).includes('encoding')
    ? text.replace(/^<\?xml version="1.\d"/, `$& encoding="${encoding}"`)
    : text.startsWith('<?xml')
      ? renamed(text, encoding)
      : `<?xml version="1.0" encoding="${encoding}"?>${text}`;
}

function wide(text: string, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), littleEndian);
  return bytes;
}

/** One byte to a character; what has none is written as a reference, which names may not have. */
function narrow(text: string): Uint8Array {
  const written = Array.from(text, (one) => (one.codePointAt(0)! < 0x100 ? one : `&#${one.codePointAt(0)};`));
  return new Uint8Array(Buffer.from(written.join(''), 'latin1'));
}
