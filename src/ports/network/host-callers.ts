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
  /** null: the host does not know who asks; an API key may still stand in the request */
  identify(request: Request): Promise<HostCaller | null>;
}
