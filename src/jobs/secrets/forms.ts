/** The encoded forms of a secret: in an address, JSON, XML, SQL, a shell command, base64, hex. */

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
