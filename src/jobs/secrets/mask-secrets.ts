/** Takes secrets out of text that people will read: passwords in addresses, passwords and signatures in parameters, keys and tokens. */
import { secretForms } from './forms.ts';

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

export function holdsSecret(text: string): boolean {
  return maskSecrets(text) !== text;
}
