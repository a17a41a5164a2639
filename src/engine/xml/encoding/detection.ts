/** The encoding of a document, detected by its first bytes. */

/** The most bytes that are searched for the XML declaration. */
export const DECLARATION_BYTES = 4096;

/** The list of encodings for messages: the families that web browsers also support. */
export const supportedEncodings =
  'supported are UTF-8, UTF-16, US-ASCII, ISO-8859-1 to 16, windows-1250 to 1258, KOI8-R, KOI8-U, GBK, GB18030, Big5, Shift_JIS, EUC-JP, ISO-2022-JP and EUC-KR: convert the document to UTF-8, as by iconv -t UTF-8, with the encoding of its XML declaration';

export interface DetectedEncoding {
  /** lower case; one of 'utf-8', 'utf-16le', 'utf-16be', 'us-ascii', 'iso-8859-1', or a label for `TextDecoder` */
  readonly encoding: string;
  /** length of the byte order mark */
  readonly markBytes: number;
  /** the XML declaration says version 1.1, which has more line ends */
  readonly isVersion11?: true;
  readonly problem?: { readonly code: string; readonly message: string };
  /** if there is a problem: the text before its place */
  readonly lead?: string;
}

const aliases: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  'unicode-1-1-utf-8': 'utf-8',
  'utf-16': 'utf-16',
  'iso-10646-ucs-2': 'utf-16',
  'ucs-2': 'utf-16',
  unicode: 'utf-16',
  latin1: 'iso-8859-1',
  'latin-1': 'iso-8859-1',
  'iso_8859-1': 'iso-8859-1',
  'iso8859-1': 'iso-8859-1',
  iso88591: 'iso-8859-1',
  l1: 'iso-8859-1',
  cp819: 'iso-8859-1',
  ibm819: 'iso-8859-1',
  ascii: 'us-ascii',
  'iso646-us': 'us-ascii',
  'ansi_x3.4-1968': 'us-ascii',
  cp367: 'us-ascii',
  ibm367: 'us-ascii',
};

/** Lower-case name of an encoding, without aliases for those that are not left to `TextDecoder`. */
function canonicalName(name: string): string {
  const lower = name.trim().toLowerCase();
  return Object.hasOwn(aliases, lower) ? aliases[lower]! : lower;
}

/** Family of an encoding by its first bytes (XML 1.0 appendix F). */
function sniff(head: Uint8Array): { family: string; markBytes: number } {
  const [a = 0x20, b = 0x20, c = 0x20, d = 0x20] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { family: 'utf-8', markBytes: 3 };
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return { family: 'utf-32', markBytes: 4 };
  if (a === 0 && b === 0 && (c === 0xfe || c === 0xff || d === 0x3c))
    return { family: 'utf-32', markBytes: 4 };
  if (a === 0x3c && b === 0 && c === 0 && d === 0) return { family: 'utf-32', markBytes: 0 };
  if (a === 0xfe && b === 0xff) return { family: 'utf-16be', markBytes: 2 };
  if (a === 0xff && b === 0xfe) return { family: 'utf-16le', markBytes: 2 };
  if (a === 0 && b !== 0) return { family: 'utf-16be', markBytes: 0 };
  if (a !== 0 && b === 0) return { family: 'utf-16le', markBytes: 0 };
  if (a === 0x4c && b === 0x6f && c === 0xa7 && d === 0x94) return { family: 'ebcdic', markBytes: 0 };
  return { family: 'ascii', markBytes: 0 };
}

/** The beginning of the document in characters, enough to read the XML declaration. */
function leadText(head: Uint8Array, family: string, markBytes: number): string {
  if (family === 'utf-16le' || family === 'utf-16be') {
    const bytes = head.subarray(markBytes, markBytes + DECLARATION_BYTES);
    const at = family === 'utf-16le' ? 0 : 1;
    return String.fromCharCode(
      ...Array.from(
        { length: bytes.length >> 1 },
        (_, i) => (bytes[2 * i + 1 - at]! << 8) | bytes[2 * i + at]!,
      ),
    );
  }
  // if there is no declaration, only its absence is checked; otherwise nothing after its end is read
  const end = head[markBytes + 1] === 0x3f ? declarationEnd(head, markBytes) : markBytes + 6;
  let lead = '';
  for (let at = markBytes; at < Math.min(end, head.length); at += 1) lead += String.fromCharCode(head[at]!);
  return lead;
}

/** Returns the position after the first `?>`, or after the last byte that is searched. */
function declarationEnd(head: Uint8Array, from: number): number {
  const last = Math.min(head.length, from + DECLARATION_BYTES);
  for (let at = from + 1; at < last; at += 1) if (head[at] === 0x3e && head[at - 1] === 0x3f) return at + 1;
  return last;
}

const plainUtf8: DetectedEncoding = { encoding: 'utf-8', markBytes: 0 };

/** Encoding of a document from its first bytes; null when more of them are needed (never with `isAll`). */
export function detectEncoding(
  head: Uint8Array,
  override: string | undefined,
  isAll: boolean,
): DetectedEncoding | null {
  if (head.length < 4 && !isAll) return null;
  if (override === undefined && usualDeclarationBytes(head) > 0) return plainUtf8;
  const { family, markBytes } = sniff(head);
  if (override !== undefined) {
    const lead = leadText(head, family, markBytes);
    return { ...overridden(canonicalName(override), family, markBytes), ...versionOf(lead) };
  }
  if (family === 'utf-32' || family === 'ebcdic') {
    return {
      encoding: family,
      markBytes,
      lead: '',
      problem: {
        code: 'xml_unsupported_encoding',
        message: `the document looks like ${family.toUpperCase()}, which is not supported; ${supportedEncodings}`,
      },
    };
  }
  const lead = leadText(head, family, markBytes);
  const isDeclared = /^<\?xml[ \t\r\n]/.test(lead);
  if (!isDeclared) {
    if (!isAll && '<?xml '.startsWith(lead.slice(0, 6))) return null;
    return { encoding: family === 'ascii' ? 'utf-8' : family, markBytes };
  }
  const end = lead.indexOf('?>');
  if (end < 0 && !isAll) return null;
  const declaration = end < 0 ? lead : lead.slice(0, end);
  const version = versionOf(declaration);
  const match = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])([A-Za-z][A-Za-z0-9._-]*)\1/.exec(declaration);
  if (match === null) return { encoding: family === 'ascii' ? 'utf-8' : family, markBytes, ...version };
  const found = declared(
    match[2]!,
    family,
    markBytes,
    lead.slice(0, match.index + match[0].length - match[2]!.length - 1),
  );
  return { ...found, ...version };
}

function versionOf(declaration: string): Pick<DetectedEncoding, 'isVersion11'> {
  const is11 = /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])1\.1\1/.test(declaration);
  return is11 ? { isVersion11: true } : {};
}

function overridden(encoding: string, family: string, markBytes: number): DetectedEncoding {
  if (encoding === 'utf-16')
    return {
      encoding: family === 'utf-16be' ? 'utf-16be' : 'utf-16le',
      markBytes: family.startsWith('utf-16') ? markBytes : 0,
    };
  return { encoding, markBytes: encoding === family ? markBytes : 0 };
}

/** Checks the declared encoding against the one that the first bytes show. */
function declared(name: string, family: string, markBytes: number, lead: string): DetectedEncoding {
  const encoding = canonicalName(name);
  const isWide = family === 'utf-16le' || family === 'utf-16be';
  const fits = isWide
    ? encoding === 'utf-16' || encoding === family
    : family === 'utf-8'
      ? encoding === 'utf-8'
      : !encoding.startsWith('utf-16');
  if (fits) return { encoding: isWide ? family : encoding, markBytes };
  const shown = family === 'ascii' ? 'one byte to a character' : family.toUpperCase();
  return {
    encoding,
    markBytes,
    lead,
    problem: {
      code: 'xml_encoding_mismatch',
      message: `the declaration says "${name}", but the first bytes are of ${shown}`,
    },
  };
}

// XML declarations in the form that most programs write: they declare UTF-8 and have no other information.

const spellings = ['UTF-8', 'utf-8'].map((encoding) => `<?xml version="1.0" encoding="${encoding}"?>`);
const usual = spellings.map((text) => Uint8Array.from(text, (character) => character.charCodeAt(0)));

/** Returns the length of the declaration at the start of the document if it is one of these, or 0 if it is another or incomplete. */
export function usualDeclarationBytes(bytes: Uint8Array): number {
  for (const declaration of usual) {
    let at = 0;
    while (at < declaration.length && bytes[at] === declaration[at]) at += 1;
    if (at === declaration.length) return at;
  }
  return 0;
}
