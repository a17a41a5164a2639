/** The scopes that an API key may be given. */
import { allScopes } from '../ports/stores/access.ts';
import type { Scope } from '../ports/stores/access.ts';

/** The scopes that a key may have, in the order in which people list them. */
export const grantableScopes: readonly Scope[] = allScopes;
