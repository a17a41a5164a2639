/**
 * What a MySQL server may send: the driver gathers each message whole, and all messages of most answers. The bytes are counted before the
 * driver sees them, by the headers of packets (MySQL, "MySQL Packets").
 */

const headerBytes = 4;
/** A packet of this length is continued by the next one. */
const fullPacket = 0xff_ff_ff;
const mebi = 1024 * 1024;

/** Bytes of answers that are gathered: of a statement without rows, and of the descriptions of columns. */
export const answerBytes = { ofNoRows: mebi, ofColumns: 16 * mebi } as const;
/** Rows of one answer that are gathered, in longest messages, as of PostgreSQL. */
export const messagesOfAnswer = 4;

export interface MessageLimit {
  /** Returns why the server is not listened to any more, in words that follow its name, or null if the bytes may pass. */
  refuse(chunk: Uint8Array): string | null;
  /** The answers to statements that are under way may have so many bytes together. */
  within<T>(mostBytes: number, work: () => Promise<T>): Promise<T>;
  /** What follows of the answer is read as it comes: its bytes do not count. */
  streams(): void;
}

export function createMessageLimit(longestMessageBytes: number): MessageLimit {
  // of the packet that is being read
  let header = 0;
  let headerSeen = 0;
  let rest = 0;
  let isContinued = false;
  let messageBytes = 0;
  // of the answer, the greeting at first
  let gathered = 0;
  let most: number = answerBytes.ofNoRows;
  let pending = 0;

  return {
    refuse(chunk) {
      gathered += chunk.length;
      if (gathered > most)
        return `sends an answer without end: more than ${most} bytes, the most that is held of one (svc.limits.target_message)`;
      for (let at = 0; at < chunk.length;) {
        if (rest > 0) {
          const taken = Math.min(rest, chunk.length - at);
          rest -= taken;
          at += taken;
          continue;
        }
        header += headerSeen < 3 ? chunk[at]! * 256 ** headerSeen : 0;
        headerSeen += 1;
        at += 1;
        if (headerSeen < headerBytes) continue;
        messageBytes = (isContinued ? messageBytes : 0) + header;
        if (messageBytes > longestMessageBytes)
          return `sends a message of more than ${longestMessageBytes} bytes (svc.limits.target_message)`;
        isContinued = header === fullPacket;
        rest = header;
        header = 0;
        headerSeen = 0;
      }
      return null;
    },
    async within(mostBytes, work) {
      if (pending === 0) {
        gathered = 0;
        most = mostBytes;
      } else most = Math.max(most, mostBytes);
      pending += 1;
      try {
        return await work();
      } finally {
        pending -= 1;
      }
    },
    streams() {
      most = Infinity;
    },
  };
}
