import type { Principal } from '../access/check-key.ts';

/** What middleware leaves for the handlers of one request. */
export interface AppEnv {
  Variables: {
    requestId: string;
    /** path that the host takes off requests; '' for none */
    basePath: string;
    /** set on every operation that needs a key */
    principal: Principal;
    /** with it: whether that key or token may still do this; asked by answers that go on for long */
    mayGoOn: () => Promise<boolean>;
    /** what the audit log names beside the action, where its path does not */
    auditSubject?: string;
  };
}
