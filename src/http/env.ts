import type { Principal } from '../access/check-key.ts';

/** What middleware leaves for the handlers of one request. */
export interface AppEnv {
  Variables: {
    requestId: string;
    /** set on every operation that needs a key */
    principal: Principal;
  };
}
