/**
 * Checks the server's messages before the driver reads them. A foreign server may send anything, and the driver (3.4.9) trusts it: it
 * buffers a message of any length, searches for the end of a name past the end of a message, and computes as many rounds of a
 * password's hash as requested. Formats: PostgreSQL manual §54.7.
 */

export interface MessageCheckOptions {
  /** longest message with data of rows */
  readonly longestMessageBytes: number;
  /** whether the server may request a password as plain text or MD5, which an eavesdropper can read or break */
  readonly mayAskPlainPassword: boolean;
  /** the server must prove that it knows the password (false) */
  readonly requiresProof?: boolean;
}

export interface MessageCheck {
  /** Checks the next bytes of the connection. Returns the fault, in words that follow the server's name, or null if there is none. */
  see(chunk: Uint8Array): string | null;
  /** Records the bytes that are sent to the server. */
  sent(chunk: Uint8Array | string): void;
  /** the server has let us in */
  readonly ready: boolean;
}

const dataRow = 0x44;
const kibi = 1024;
const mebi = 1024 * 1024;
/** Limit for rows between two ends of an answer, in longest messages: they are held until the answer ends. */
const messagesOfAnswer = 4;
/** All that a connection says of its parameters; a server has some dozen of them. */
const parameterBytes = mebi;
/** A COPY names 1,600 columns of 63 bytes at most. */
const longestStatement = 120 * kibi;
/** A server asks for 4096 (scram_iterations); a million take half a second. */
const hashRounds = 1_000_000;

/** Longest body of each kind of message that we can be sent; data of rows: as the options say. */
const longestBodies: Readonly<Record<string, number>> = {
  R: 64 * kibi, // Authentication…
  S: 64 * kibi, // ParameterStatus
  K: 260, // BackendKeyData
  Z: 1, // ReadyForQuery
  T: mebi, // RowDescription
  t: 512 * kibi, // ParameterDescription
  E: mebi, // ErrorResponse
  N: mebi, // NoticeResponse
  A: 64 * kibi, // NotificationResponse
  C: kibi, // CommandComplete
  G: 64 * kibi, // CopyInResponse
  I: 0, // EmptyQueryResponse
  n: 0, // NoData
  s: 0, // PortalSuspended
  '1': 0, // ParseComplete
  '2': 0, // BindComplete
  '3': 0, // CloseComplete
};
/** Message kinds that the server may send before the login is complete. */
const greetings = 'RSKEZN';
/** Kinds whose bodies are read here, and so kept until they are whole. */
const readKinds = 'RT';

export function createMessageCheck(options: MessageCheckOptions): MessageCheck {
  return new Check(options);
}

class Check implements MessageCheck {
  ready = false;
  readonly #options: MessageCheckOptions;
  readonly #header = Buffer.alloc(5);
  #headerBytes = 0;
  #kind = '';
  /** bytes of the body that are still to come */
  #missing = 0;
  #kept: Uint8Array[] = [];
  #answerBytes = 0;
  #parameterBytes = 0;
  /** columns of the rows that come; null: none were described */
  #columns: number | null = null;
  /** COPY statements that the server has not answered: of one that nobody sent the driver makes a stream, whose fault ends the process */
  #copies = 0;
  #login: 'none' | 'begun' | 'proven' | 'accepted' = 'none';

  constructor(options: MessageCheckOptions) {
    this.#options = options;
  }

  see(chunk: Uint8Array): string | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes === 0) at = this.#afterRows(chunk, at);
      if (this.#headerBytes < 5) {
        const taken = Math.min(5 - this.#headerBytes, chunk.length - at);
        this.#header.set(chunk.subarray(at, at + taken), this.#headerBytes);
        this.#headerBytes += taken;
        at += taken;
        if (this.#headerBytes < 5) return null;
        const fault = this.#begin();
        if (fault !== null) return fault;
      }
      const taken = Math.min(this.#missing, chunk.length - at);
      if (taken > 0 && readKinds.includes(this.#kind)) this.#kept.push(chunk.slice(at, at + taken));
      at += taken;
      this.#missing -= taken;
      if (this.#missing > 0) return null;
      this.#headerBytes = 0;
      const fault = this.#end();
      if (fault !== null) return fault;
    }
    return null;
  }

  /** Returns the end of the rows that are complete in the piece, as most are, and that have no fault. */
  #afterRows(chunk: Uint8Array, from: number): number {
    const { longestMessageBytes } = this.#options;
    if (!this.ready || this.#columns === null) return from;
    let at = from;
    while (at + 5 <= chunk.length && chunk[at] === dataRow) {
      const bytes =
        chunk[at + 1]! * 2 ** 24 + (chunk[at + 2]! << 16) + (chunk[at + 3]! << 8) + chunk[at + 4]! - 4;
      const isFine =
        bytes >= 0 &&
        bytes <= longestMessageBytes &&
        this.#answerBytes + bytes <= messagesOfAnswer * longestMessageBytes;
      // one that is not is looked at again, and refused
      if (!isFine || at + 5 + bytes > chunk.length) break;
      this.#answerBytes += bytes;
      at += 5 + bytes;
    }
    return at;
  }

  sent(chunk: Uint8Array | string): void {
    // Pieces of COPY data are longer than statements, or hold the word only by chance, which allows one COPY too many.
    if (typeof chunk !== 'string' && chunk.length <= longestStatement && copyStatement(chunk))
      this.#copies += 1;
  }

  /** Handles the head of a message. */
  #begin(): string | null {
    const kind = String.fromCharCode(this.#header[0]!);
    const bytes = this.#header.readUInt32BE(1) - 4;
    const { longestMessageBytes } = this.#options;
    const isRow = kind === 'D';
    const longest = isRow ? longestMessageBytes : longestBodies[kind];
    if (longest === undefined) return `${alien} (a message of kind ${this.#header[0]})`;
    if (bytes < 0 || (!isRow && bytes > longest)) return `${alien} (a message ${kind} of ${bytes} bytes)`;
    if (bytes > longest)
      return `sends a row of ${bytes} bytes, more than the ${longest} that one may have (svc.limits.target_message)`;
    if (!this.ready && !greetings.includes(kind)) return `${alien} (a message ${kind} before it let us in)`;
    if (isRow) {
      if (this.#columns === null) return `${alien} (rows that it did not describe)`;
      this.#answerBytes += bytes;
      if (this.#answerBytes > messagesOfAnswer * longestMessageBytes)
        return `sends rows without end: more than ${this.#answerBytes} bytes in one answer, which is ${messagesOfAnswer} times svc.limits.target_message`;
    } else if (kind === 'G') {
      this.#copies -= 1;
      if (this.#copies < 0) return `${alien} (a COPY that nobody began)`;
    } else if (kind === 'S') {
      this.#parameterBytes += bytes;
      if (this.#parameterBytes > parameterBytes) return 'sends parameters without end';
    }
    this.#kind = kind;
    this.#missing = bytes;
    return null;
  }

  #end(): string | null {
    const body = readKinds.includes(this.#kind) ? Buffer.concat(this.#kept) : null;
    this.#kept = [];
    switch (this.#kind) {
      case 'R':
        return this.#authentication(body!);
      case 'T':
        this.#columns = columnsOf(body!);
        return this.#columns === null ? `${alien} (a broken description of columns)` : null;
      case 'Z':
        if (this.#login !== 'accepted') return 'lets us in before it asked who we are';
        this.ready = true;
        this.#answerBytes = 0;
        return null;
      default:
        return null;
    }
  }

  /** The steps in their order: one that is left out would leave a server unknown that was to prove that it knows the password. */
  #authentication(body: Buffer): string | null {
    const type = body.length < 4 ? -1 : body.readUInt32BE(0);
    const login = this.#login;
    if (type === 0) {
      if (login === 'begun' || (login === 'none' && this.#options.requiresProof === true))
        return 'lets us in without a proof that it knows the password';
      this.#login = 'accepted';
      return null;
    }
    if (login === 'accepted') return `${alien} (a second login)`;
    if (type === 3 || (type === 5 && body.length === 8)) {
      return this.#options.mayAskPlainPassword
        ? null
        : `asks for the password ${type === 3 ? 'as plain text' : 'as MD5'} on a connection that is not encrypted: ` +
            'add sslmode=require to its address, have it ask by SCRAM-SHA-256, or let the operator name its host in svc.allow.plain_passwords';
    }
    if (type === 10 && login === 'none') {
      if (!body.includes('SCRAM-SHA-256\0')) return 'offers no login by SCRAM-SHA-256';
      this.#login = 'begun';
      return null;
    }
    if (type === 11 && login === 'begun') {
      const challenge = /^r=[^,]+,s=[A-Za-z0-9+/=]+,i=(\d+)(?:,|$)/.exec(body.toString('latin1', 4));
      if (challenge === null) return `${alien} (a broken challenge)`;
      return Number(challenge[1]) > hashRounds
        ? `asks for ${challenge[1]} rounds of the password's hash, more than ${hashRounds}`
        : null;
    }
    if (type === 12 && login === 'begun') {
      this.#login = 'proven';
      return null;
    }
    return [2, 6, 7, 8, 9].includes(type)
      ? 'asks for a login (Kerberos, GSSAPI, SSPI) that is not spoken here: let it take passwords by SCRAM-SHA-256'
      : `${alien} (a login step ${type} out of its order)`;
  }
}

function copyStatement(chunk: Uint8Array): boolean {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes('COPY ');
}

const alien = 'does not answer as PostgreSQL does';

/** Returns the number of columns of a RowDescription, or null if its parts do not fill it exactly. */
function columnsOf(body: Buffer): number | null {
  if (body.length < 2) return null;
  const count = body.readUInt16BE(0);
  let at = 2;
  for (let column = 0; column < count; column++) {
    const end = body.indexOf(0, at);
    if (end < 0) return null;
    at = end + 19;
  }
  return at === body.length ? count : null;
}
