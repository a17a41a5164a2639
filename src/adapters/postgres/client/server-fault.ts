/** Faults of servers that the driver does not find by itself. */

/**
 * The fault of a server that is untrustworthy or unreachable, in words that follow its name. `code` is as in other faults of
 * connections.
 */
export class ServerFault extends Error {
  readonly code: 'SERVER_FAULT' | 'CONNECTION_CLOSED';

  constructor(message: string, code: ServerFault['code'] = 'SERVER_FAULT') {
    super(message);
    this.name = 'ServerFault';
    this.code = code;
  }
}
