/** The scopes that an API key may be given. */
import { allScopes } from '../ports/stores/access.ts';
import type { Scope } from '../ports/stores/access.ts';

/** What a key may be given, in the order that people list it. */
export const grantableScopes: readonly Scope[] = allScopes;
