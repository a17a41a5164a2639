/** The request as it is stored with its job: JSON in which every member that holds a secret is `{"sealed":"…"}`. */
import { AppError } from '../../errors.ts';
import type { SecretBox } from '../../ports/stores/secret-box.ts';
import { holdsSecret, passwordsIn } from '../secrets/mask-secrets.ts';
import { modesByName, parseModeLetters, saveModeLetters } from '../options/mode-letters.ts';
import { settingHoldsSecret } from '../options/spark-settings.ts';
import { requestDefaults } from './tool-request.ts';
import type { ToolRequest } from './tool-request.ts';

interface Sealed {
  readonly sealed: string;
}

export async function sealRequest(request: ToolRequest, secrets: SecretBox): Promise<string> {
  const seal = async (text: string): Promise<Sealed> => ({ sealed: await secrets.seal(text) });
  const sealIfSecret = async (text: string): Promise<string | Sealed> =>
    holdsSecret(text) ? seal(text) : text;
  const { given: _, ...members } = request;
  const stored: Record<string, unknown> = members;
  stored['saveMode'] = saveModeLetters[request.saveMode];
  if (request.parseMode !== undefined) stored['parseMode'] = parseModeLetters[request.parseMode];
  if (request.outPassword !== undefined) stored['outPassword'] = await seal(request.outPassword);
  for (const member of ['out', 'in', 'from', 'query'] as const) {
    const text = request[member];
    if (text !== undefined) stored[member] = await sealIfSecret(text);
  }
  stored['inputs'] = await Promise.all(request.inputs.map(sealIfSecret));
  if (request.xsd !== undefined) stored['xsd'] = await Promise.all(request.xsd.map(sealIfSecret));
  const settings = Object.entries(request.sparkConf).map(
    async ([key, value]) => [key, settingHoldsSecret(key, value) ? await seal(value) : value] as const,
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
  return { ...requestDefaults, ...opened, ...modesByName(opened) } as ToolRequest;
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

/**
 * What must not be read in a log of the job: passwords and signatures of its request, as they stand and decoded. Of an address
 * only the secret part, so that the rest stays readable.
 */
export function secretsIn(request: ToolRequest): string[] {
  const found = new Set<string>();
  const add = (secret: string): void => {
    found.add(secret);
    try {
      found.add(decodeURIComponent(secret));
    } catch {
      // no percent-encoding, but a password with a percent sign
    }
  };
  if (request.outPassword !== undefined) add(request.outPassword);
  for (const text of [request.out, request.in, request.from, ...request.inputs, ...(request.xsd ?? [])]) {
    if (text === undefined) continue;
    for (const secret of passwordsIn(text)) add(secret);
    for (const [, secret] of text.matchAll(/[?&](?:sig|[\w.-]*(?:password|secret|token)[\w.-]*)=([^&\s]+)/gi))
      add(secret!);
  }
  for (const [key, value] of Object.entries(request.sparkConf))
    if (settingHoldsSecret(key, value)) add(value);
  // a secret of several lines is written as several
  return [...found].flatMap((secret) => secret.split(/[\r\n]+/)).filter((secret) => secret.length >= 4);
}
