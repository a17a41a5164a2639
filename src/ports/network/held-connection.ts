/** The connection of a request, in a process that limits its connections. */
export interface HeldConnection {
  /** Records the sender of the request once it is known: the one with most connections gives way first. */
  heldBy(idOrg: number, idKey: string): void;
  /** The answer continues as long as its reader likes, and the reader can resume it: `giveWay` ends it if there is no room. */
  followedUntil(giveWay: () => void): void;
}
