/** Takes secrets out of text that people will read: passwords in addresses, passwords and signatures in parameters, keys and tokens. */

const mask = '***';

/** words in the names of members that hold a secret */
const telling = '(?:password|passwd|pwd|secret|token|api_?key|accountkey|account_?key|credential)';

/**
 * Patterns for scheme://user:password@host: the first group, and the password. Greedy to the last @ of the authority, because a raw
 * password may contain an @. With `/`, `?` or `#` in the password the text is not a valid address, but a person may have written it:
 * text after a colon that is not a port counts as a password.
 */
const passwords: readonly RegExp[] = [
  /(:\/\/[^\s/?#:@]*):([^\s/?#]*)@/g,
  /(:\/\/[^\s/?#:@[]*):(?![^\s/?#]*@|\d{1,5}(?:[/?#]|$))([^\s"'<>]{1,200})@/g,
];

/** All patterns take time in proportion to the text, whatever it holds: callers control text that is logged about their requests. */
const patterns: readonly (readonly [RegExp, string])[] = [
  ...passwords.map((pattern) => [pattern, `$1:${mask}@`] as const),
  [
    new RegExp(`([?&;,("'\\s]|^)(?=[\\w.-]+=[^&;\\s])((?:[\\w.-]*${telling}[\\w.-]*|sig)=)([^&;\\s]+)`, 'gi'),
    `$1$2${mask}`,
  ],
  // the same in an address that is itself a parameter
  [/(%3F|%26)(sig%3D)((?:(?!%26)[^&;\s])+)/gi, `$1$2${mask}`],
  [
    new RegExp(
      `("(?=[\\w.-]+"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*")[\\w.-]*${telling}[\\w.-]*"\\s*:\\s*")((?:[^"\\\\]|\\\\.)*)"`,
      'gi',
    ),
    `$1${mask}"`,
  ],
  [/\bsvk_([A-Za-z0-9]+)_[A-Za-z0-9_-]+/g, `svk_$1_${mask}`],
  [/\b(Bearer +)(?!svk_)[A-Za-z0-9._~+/=-]{16,}/gi, `$1${mask}`],
  [/\b(Authorization["']? *[:=] *["']?Basic +)[A-Za-z0-9+/=]+/gi, `$1${mask}`],
  [/\bwhsec_[A-Za-z0-9+/=]{8,}/g, `whsec_${mask}`],
  // a signed token: header, claims, signature
  [/(?<![\w-])(?=[\w-]+\.[\w-]+\.)([\w-]*?-)??eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, `$1${mask}`],
];

/** Text that every pattern requires: most texts contain none of it. */
const worthALook = /[:=%"]|svk_|bearer|basic|whsec_|eyJ/i;

export function maskSecrets(text: string): string {
  if (!worthALook.test(text)) return text;
  return patterns.reduce((rest, [pattern, shown]) => rest.replace(pattern, shown), text);
}

/**
 * Masks the given secrets too, wherever they occur and however they are encoded. The shortest ones are left, because they would mask
 * the text around them.
 */
export function maskKnownSecrets(text: string, secrets: readonly string[]): string {
  return createMask(secrets)(text);
}

/** Like `maskKnownSecrets`, for many texts: the forms of the secrets are computed once. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.flatMap(secretForms))].toSorted((a, b) => b.length - a.length);
  return (text) => maskSecrets(forms.reduce((rest, form) => rest.replaceAll(form, mask), text));
}

/** Returns the passwords in the addresses of a text, as written. */
export function passwordsIn(text: string): string[] {
  return passwords.flatMap((pattern) => [...text.matchAll(pattern)].map(([, , password]) => password!));
}

// The encoded forms of a secret: in an address, JSON, XML, SQL, a shell command, base64, hex.

/** shorter secrets are looked for as they are alone: their encodings would eat the text around them */
const shortestEncoded = 6;

/** The secret itself first; every form once, none shorter than four characters. */
export function secretForms(secret: string): string[] {
  const forms = [secret];
  if (secret.length >= shortestEncoded) {
    const bytes = new TextEncoder().encode(secret);
    const percent = percentEncoded(secret);
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
    forms.push(
      percent,
      percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      percent.replaceAll('%20', '+'),
      formEncoded(secret),
      formEncoded(percent),
      hex.map((pair) => `%${pair.toUpperCase()}`).join(''),
      encodeURIComponent(percent),
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
      asciiJson(secret),
      xmlEscaped(secret),
      xmlEscaped(secret).replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
      secret.replaceAll("'", "''"),
      secret.replaceAll("'", `'\\''`),
      secret.replaceAll('\\', '\\\\'),
      hex.join(''),
      hex.join('').toUpperCase(),
      ...base64Forms(bytes),
    );
  }
  return [...new Set(forms)].filter((form) => form.length >= 4);
}

/** Unpaired surrogates have no UTF-8: they stay as they are. */
function percentEncoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

/** Encodes text as in HTML forms: blanks as +, and more characters encoded than in paths. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** All but ASCII as `\uXXXX`, as many writers of JSON do. */
function asciiJson(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function xmlEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Base64 of whatever holds the secret: it may begin at any of three places of a group, and the characters it shares with its neighbours
 * are left.
 */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    const text = btoa(String.fromCharCode(...padded)).replaceAll('=', '');
    const start = [0, 2, 3][before]!;
    const inner = text.slice(start, padded.length % 3 === 0 ? text.length : text.length - 1);
    if (inner.length < shortestEncoded) return [];
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

// Text of strangers in a line of a log: names of documents and elements may hold anything that a name of a file or XML may.

/** Line ends, escape sequences of terminals, and characters that change the direction of the text around them; a tab is none of these. */
const unsafe = /[^\P{Cc}\t]|[\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

/** Replaces characters that would end the line or change its appearance by escapes: `\n`, `\u{1b}`. */
export function oneLine(text: string): string {
  return text.replaceAll(
    unsafe,
    (character) => short[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
