import { allScopes } from '../ports/access-store.ts';
import type { Scope } from '../ports/access-store.ts';

/** What a key may be given, in the order that people list it. */
export const grantableScopes: readonly Scope[] = allScopes;
