/**
 * Chooses the login for a catalogue of Iceberg tables: from the request, from the credential that `--credential` names, or from a
 * source of the operator.
 */
import type { SourceConfig } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import { credentialMisfit, type Credential } from '../../files/credentials.ts';
import { isRemoteLocation, parseRemoteLocation, sourceAt } from '../../files/remote-location.ts';
import type { Target } from './target.ts';
import type { ToolRequest } from './tool-request.ts';

export interface CatalogueAccess {
  /** a token, or the secret of `user`; null: nothing */
  readonly secret: string | null;
  /** a client's name; null: `secret` is a token */
  readonly user: string | null;
  /** party that named the host */
  readonly by: 'operator' | 'request';
}

/**
 * `idOrg`: null for a person, whom the organisations of a source do not restrict. AppErrors: `invalid_option` for a credential of
 * another place and for a user without a secret, `target_not_allowed` if the operator's source is read-only.
 */
export function catalogueLogin(
  sources: readonly SourceConfig[],
  idOrg: number | null,
  { outUser, outPassword, inputs, xsd = [] }: Pick<ToolRequest, 'outUser' | 'outPassword' | 'inputs' | 'xsd'>,
  { address }: Extract<Target, { kind: 'iceberg' }>,
  credential: Credential | null,
  isWritten: boolean,
): CatalogueAccess {
  const source = sourceAt(sources, address, idOrg);
  const isOperators =
    source?.access.kind === 'https' && (!isWritten || idOrg === null || source.writable === true);
  if (outPassword !== undefined)
    return { secret: outPassword, user: outUser ?? null, by: isOperators ? 'operator' : 'request' };
  if (outUser !== undefined)
    throw new AppError(
      'invalid_option',
      '-u: a catalogue takes -u CLIENT with -p SECRET, or -p TOKEN alone; give -p, too',
    );
  if (credential !== null) {
    const misfit = credentialMisfit(credential, parseRemoteLocation(address));
    if (misfit === null) return { ...secretOf(credential.access), by: credential.by };
    // then it is for the inputs
    if (![...inputs, ...xsd].some(isRemoteLocation)) throw new AppError('invalid_option', misfit);
  }
  if (source?.access.kind !== 'https') return { secret: null, user: null, by: 'request' };
  if (!isOperators)
    throw new AppError(
      'target_not_allowed',
      `${address}: jobs may read there, and not write: the operator sets svc.sources.NAME.writable=true where they may, or -p gives a token of your own`,
    );
  return { ...secretOf(source.access), by: 'operator' };
}

function secretOf(access: Credential['access']): Pick<CatalogueAccess, 'secret' | 'user'> {
  if (access.kind !== 'https') return { secret: null, user: null };
  return access.token === null
    ? { secret: access.password, user: access.user }
    : { secret: access.token, user: null };
}
