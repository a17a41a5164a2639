/** Takes secrets out of text that people will read: passwords in addresses, passwords and signatures in parameters. */

const mask = '***';

export function maskSecrets(text: string): string {
  return (
    text
      // scheme://user:password@host; greedy to the last @ of the authority, as a raw password may hold an @
      .replace(/([A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/?#:@]*):([^\s/?#]*)@/g, `$1:${mask}@`)
      .replace(
        /([?&;\s]|^)((?:[\w.-]*(?:password|passwd|pwd|secret|token|api_?key|credential)[\w.-]*|sig)=)([^&;\s]+)/gi,
        `$1$2${mask}`,
      )
      .replace(/\bsvk_([A-Za-z0-9]+)_[A-Za-z0-9_-]+/g, `svk_$1_${mask}`)
  );
}

/** Masks the given secrets too, wherever they stand; the shortest ones are left, as they would eat the text around them. */
export function maskKnownSecrets(text: string, secrets: readonly string[]): string {
  const masked = secrets
    .filter((secret) => secret.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, mask), text);
  return maskSecrets(masked);
}

export function holdsSecret(text: string): boolean {
  return maskSecrets(text) !== text;
}
