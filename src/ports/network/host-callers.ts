/** Callers of an application that is mounted in another one which has its own sign-in. */
import type { Scope } from '../stores/access.ts';

export interface HostCaller {
  /** a stable name of the person or program, for the audit log and the rate limit */
  readonly name: string;
  /** an organisation of this installation (`id_org`) */
  readonly idOrg: number;
  readonly scopes: readonly Scope[];
}

export interface HostCallers {
  /** Returns null if the host does not know the caller; the request may still have an API key */
  identify(request: Request): Promise<HostCaller | null>;
}
