/** Masks the secrets that a request names in all of its members, wherever they occur. */
import { settingHoldsSecret } from '../options/spark-settings.ts';
import { passwordsIn } from '../mask-secrets.ts';
import type { ToolRequest } from './tool-request.ts';

/**
 * Returns the secrets of a request that must not appear in the job's log: passwords and signatures, as written and decoded. Only the
 * secret part of an address is masked, so that the rest stays readable.
 */
export function secretsIn(request: ToolRequest): string[] {
  const found = new Set<string>();
  const add = (secret: string): void => addSecret(found, secret);
  if (request.outPassword !== undefined) add(request.outPassword);
  const addresses = [request.out, request.in, request.from, ...request.inputs, ...(request.xsd ?? [])];
  for (const secret of secretsOfAddresses(addresses.filter((text) => text !== undefined))) found.add(secret);
  for (const [key, value] of Object.entries(request.sparkConf))
    if (settingHoldsSecret(key, value)) add(value);
  // a secret of several lines is written as several
  return [...found].flatMap((secret) => secret.split(/[\r\n]+/)).filter(isLong);
}

/** Returns passwords and signatures in addresses, as written and decoded. */
export function secretsOfAddresses(texts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const secret of passwordsIn(text)) addSecret(found, secret);
    for (const [, secret] of text.matchAll(/[?&](?:sig|[\w.-]*(?:password|secret|token)[\w.-]*)=([^&\s]+)/gi))
      addSecret(found, secret!);
  }
  return [...found].filter(isLong);
}

function addSecret(found: Set<string>, secret: string): void {
  found.add(secret);
  try {
    found.add(decodeURIComponent(secret));
  } catch {
    // no percent-encoding, but a password with a percent sign
  }
}

/** Shorter ones would eat the text around them. */
function isLong(secret: string): boolean {
  return secret.length >= 4;
}
