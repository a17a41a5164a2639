/** The connection that a request came by, where a process bounds how many it holds. */
export interface HeldConnection {
  /** Records the sender of the request once it is known: the one with most connections gives way first. */
  heldBy(idOrg: number, idKey: string): void;
  /** The answer goes on for as long as its reader likes, who can take it up again: `giveWay` ends it where there is no room. */
  followedUntil(giveWay: () => void): void;
}
