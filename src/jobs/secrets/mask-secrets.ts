/** Takes secrets out of text that people will read: passwords in addresses, passwords and signatures in parameters, keys and tokens. */
import { secretForms } from './forms.ts';

const mask = '***';

/** words in the names of what holds a secret */
const telling = '(?:password|passwd|pwd|secret|token|api_?key|accountkey|account_?key|credential)';

/**
 * scheme://user:password@host, by its first group and the password. Greedy to the last @ of the authority, as a raw password may hold an @.
 * One with `/`, `?` or `#` in it makes no address, but a person may have written it: what comes after a colon and is no port is one.
 */
const passwords: readonly RegExp[] = [
  /(:\/\/[^\s/?#:@]*):([^\s/?#]*)@/g,
  /(:\/\/[^\s/?#:@[]*):(?![^\s/?#]*@|\d{1,5}(?:[/?#]|$))([^\s"'<>]{1,200})@/g,
];

/** All of them take time in proportion to the text, whatever it holds: callers choose what is logged of their requests. */
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

/** Masks the given secrets too, wherever they stand and however they were encoded; the shortest ones are left, as they would eat the text around them. */
export function maskKnownSecrets(text: string, secrets: readonly string[]): string {
  return createMask(secrets)(text);
}

/** `maskKnownSecrets` for many texts: what the secrets look like is worked out once. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.flatMap(secretForms))].toSorted((a, b) => b.length - a.length);
  return (text) => maskSecrets(forms.reduce((rest, form) => rest.replaceAll(form, mask), text));
}

/** Passwords in the addresses of a text, as they stand there. */
export function passwordsIn(text: string): string[] {
  return passwords.flatMap((pattern) => [...text.matchAll(pattern)].map(([, , password]) => password!));
}

export function holdsSecret(text: string): boolean {
  return maskSecrets(text) !== text;
}
