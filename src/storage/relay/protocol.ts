/**
 * How a tool reaches a file store that a host gave to the service: HTTP on a Unix socket in a private folder. Each run has a token, which
 * is worth the files of one organisation, and nothing once the run has ended.
 */

/** Variable of a tool that has its files through the service: JSON of `RelayAddress`. */
export const relayVariable = 'SVC_FILES_RELAY';

export interface RelayAddress {
  readonly socket: string;
  readonly token: string;
  /** `JobFiles.local` of the store */
  readonly local: boolean;
  /** the store has `create` */
  readonly creates: boolean;
}

/** Error answers have this body. */
export interface RelayFault {
  /** code of an AppError */
  readonly code: string;
  readonly message: string;
}

/** Last line of a list; without it, the list was cut off. */
export const endOfList = '{"end":true}';
