/** Faults of servers that the driver does not find by itself. */

/** A server that is not to be trusted, or not to be had, in words that follow its name. `code` as of other faults of connections. */
export class ServerFault extends Error {
  readonly code: 'SERVER_FAULT' | 'CONNECTION_CLOSED';

  constructor(message: string, code: ServerFault['code'] = 'SERVER_FAULT') {
    super(message);
    this.name = 'ServerFault';
    this.code = code;
  }
}
