/**
 * The request as it is stored with its job: JSON in which every member that holds a secret is `{"sealed":"…"}`. Also lists the secrets of a
 * request, so that logs can mask them.
 */
import { settingHoldsSecret, withModeNames, parseModeLetters, saveModeLetters } from '../option-table.ts';
import { passwordsIn, createMask } from '../mask-secrets.ts';
import { type ToolRequest, requestDefaults } from './tool-request.ts';
import { AppError } from '../../../errors.ts';
import type { SecretBox } from '../../../ports/stores/access.ts';

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

// Seals and opens members.

interface Sealed {
  readonly sealed: string;
}

export async function sealRequest(request: ToolRequest, secrets: SecretBox): Promise<string> {
  const seal = async (text: string): Promise<Sealed> => ({ sealed: await secrets.seal(text) });
  const mask = createMask(secretsIn(request));
  /** Seals texts that contain a secret, wherever they are in the request. */
  const sealSecrets = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return mask(value) === value ? value : seal(value);
    if (Array.isArray(value)) return Promise.all(value.map(sealSecrets));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(
      async ([name, member]) => [name, await sealSecrets(member)] as const,
    );
    return Object.fromEntries(await Promise.all(members));
  };
  const { given: _, tool, sparkConf, outPassword, ...members } = request;
  const stored = (await sealSecrets(members)) as Record<string, unknown>;
  stored['tool'] = tool;
  stored['saveMode'] = saveModeLetters[request.saveMode];
  if (request.parseMode !== undefined) stored['parseMode'] = parseModeLetters[request.parseMode];
  if (outPassword !== undefined) stored['outPassword'] = await seal(outPassword);
  const settings = Object.entries(sparkConf).map(
    async ([key, value]) =>
      [key, settingHoldsSecret(key, value) ? await seal(value) : await sealSecrets(value)] as const,
  );
  stored['sparkConf'] = Object.fromEntries(await Promise.all(settings));
  return JSON.stringify(stored);
}

/** AppError `internal_error` when the text is no stored request or was sealed with another key. */
export async function openRequest(stored: string, secrets: SecretBox): Promise<ToolRequest> {
  const opened = await openMembers(JSON.parse(stored), secrets);
  if (typeof opened !== 'object' || opened === null || !('tool' in opened)) {
    throw new AppError('internal_error', 'the stored request of the job cannot be read');
  }
  // Members added since the job was stored hold their defaults
  return { ...requestDefaults, ...opened, ...withModeNames(opened) } as ToolRequest;
}

async function openMembers(value: unknown, secrets: SecretBox): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => openMembers(item, secrets)));
  if (typeof value !== 'object' || value === null) return value;
  if (isSealed(value)) return secrets.open(value.sealed);
  const members = Object.entries(value).map(
    async ([name, member]) => [name, await openMembers(member, secrets)] as const,
  );
  return Object.fromEntries(await Promise.all(members));
}

function isSealed(value: object): value is Sealed {
  return Object.keys(value).length === 1 && 'sealed' in value && typeof value.sealed === 'string';
}
