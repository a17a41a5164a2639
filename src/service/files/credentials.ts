/** Finds by name the credentials for remote inputs: an organisation's own, which are sealed, or a source of the operator. */
import type { SourceAccess, SourceConfig } from '../../config/shape.ts';
import {
  MemberFault,
  kindNames,
  readAccess,
  refuseStrangers,
  secretsOfAccess,
  type AccessKind,
  type AccessTexts,
} from '../../config/source-access.ts';
import { AppError } from '../../errors.ts';
import { secretForms } from '../jobs/mask-secrets.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { CredentialRecord } from '../../ports/stores/access.ts';
import { isBelow, kindOfLocation, serverOf, storeLocation, type RemoteLocation } from './remote-location.ts';

export interface NewCredential {
  readonly name: string;
  readonly kind: AccessKind;
  readonly texts: AccessTexts;
}

export interface Credential {
  readonly name: string;
  readonly access: SourceAccess;
  /** location that the operator has restricted it to; null: all locations that its access is for */
  readonly location: string | null;
  /** party that named its hosts: hosts of requests are reached only if `svc.allow.hosts` permits them */
  readonly by: 'operator' | 'request';
}

/** AppError `invalid_body` with the member that is wrong, `conflict` for a name in use. */
export async function createCredential(
  { credentials, secrets }: Pick<Adapters, 'credentials' | 'secrets'>,
  idOrg: number,
  { name, kind, texts }: NewCredential,
): Promise<CredentialRecord> {
  try {
    refuseStrangers(kind, texts);
    if (texts.key_file !== undefined)
      throw new MemberFault(
        'key_file',
        'is only allowed in sources of the operator: give the key itself as secret_key',
      );
    if (secretsOfAccess(readAccess(kind, texts)).length === 0)
      throw new MemberFault('token', 'is needed, or user and password');
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error;
    const { member, message } = error;
    throw new AppError('invalid_body', `${member}: ${message}`, {
      errors: [{ pointer: `/${member}`, detail: message }],
    });
  }
  return credentials.create(idOrg, { name, kind, sealed: await secrets.seal(JSON.stringify(texts)) });
}

/** Returns null if neither the organisation nor the operator has one with that name. `sources`: those that the organisation may use. */
export async function findCredential(
  { credentials, secrets }: Pick<Adapters, 'credentials' | 'secrets'>,
  sources: readonly SourceConfig[],
  idOrg: number,
  name: string,
): Promise<Credential | null> {
  const stored = await credentials.find(idOrg, name);
  if (stored === null) {
    const source = sources.find((one) => one.name === name);
    return source === undefined ? null : { ...source, by: 'operator' };
  }
  const kind = kindNames.find((one) => one === stored.kind);
  if (kind === undefined) throw new AppError('internal_error', `the credential ${name} cannot be read`);
  const texts = JSON.parse(await secrets.open(stored.sealed)) as AccessTexts;
  return { name, access: readAccess(kind, texts), location: null, by: 'request' };
}

export function noCredential(name: string): AppError {
  return new AppError(
    'invalid_option',
    `--credential: there is no credential ${name}: POST /v2/admin/credentials makes one, or run conversion-job-service credentials add ${name}, or let the operator add a source of that name`,
  );
}

/** Why the location is not read with that credential; null: it is. */
export function credentialMisfit(
  { name, access, location }: Credential,
  given: RemoteLocation,
): string | null {
  const at = storeLocation(given, access);
  if (kindOfLocation(at) !== access.kind)
    return `${at.text}: the credential ${name} is for ${access.kind}:// addresses`;
  if (access.kind === 'https' && at.kind === 'http' && at.url.host !== access.host)
    return `${at.text}: the credential ${name} is for another host`;
  if (access.kind === 'sftp' && at.kind === 'sftp') {
    if (serverOf(at) !== access.host) return `${at.text}: the credential ${name} is for another host`;
    if (at.user !== null && access.user !== null && at.user !== access.user)
      return `${at.text}: the credential ${name} is for another user`;
  }
  if (location !== null && !isBelow(at.text, location))
    return `${at.text}: the credential ${name} is for another place`;
  return null;
}

/** shorter ones would eat the text around them */
const shortestSecret = 4;

/** The secrets of a credential as a request may repeat them, to be masked in its record. Without a credential: none. */
export async function credentialSecrets(
  adapters: Pick<Adapters, 'credentials' | 'secrets'>,
  sources: readonly SourceConfig[] | undefined,
  idOrg: number,
  name: string | undefined,
): Promise<string[]> {
  const found = name === undefined ? null : await findCredential(adapters, sources ?? [], idOrg, name);
  if (found === null) return [];
  return secretsOfAccess(found.access)
    .flatMap((secret) => secret.split(/[\r\n]+/))
    .filter((secret) => secret.length >= shortestSecret)
    .flatMap(secretForms);
}
