/** Finds the credential that `--credential` names. */
import type { SourceConfig } from '../../config/shape.ts';
import { secretsOfAccess } from '../../config/source-access.ts';
import { findCredential, noCredential, type Credential } from '../../files/credentials.ts';
import type { Adapters } from '../../ports/adapters.ts';

/**
 * The credential is looked up once; null without the option. `hide`: receives the secrets that must appear nowhere. AppError
 * `invalid_option` if there is none.
 */
export function createCredentialFinder(
  adapters: Pick<Adapters, 'credentials' | 'secrets'>,
  sources: readonly SourceConfig[],
  idOrg: number,
  name: string | undefined,
  hide: (secrets: readonly string[]) => void,
): () => Promise<Credential | null> {
  let found: Promise<Credential | null> | null = null;
  const find = async (): Promise<Credential | null> => {
    if (name === undefined) return null;
    const credential = await findCredential(adapters, sources, idOrg, name);
    if (credential === null) throw noCredential(name);
    hide(secretsOfAccess(credential.access));
    return credential;
  };
  return () => (found ??= find());
}
