/**
 * Access data for remote inputs: the members that each kind of access has, as texts of settings and requests, and the values that
 * result.
 */
import type { SourceAccess } from './shape.ts';
import { parseHttpAddress } from './values.ts';

/** The members of each kind of access. The kind is the scheme of the addresses that it is for. */
export const accessKinds = {
  s3: ['endpoint', 'region', 'access_key', 'secret_key', 'session_token'],
  az: ['endpoint', 'access_key', 'secret_key', 'token'],
  https: ['host', 'token', 'user', 'password'],
  sftp: ['host', 'user', 'password', 'key_file', 'secret_key', 'host_key'],
} as const satisfies Readonly<Record<SourceAccess['kind'], readonly string[]>>;

export type AccessKind = keyof typeof accessKinds;
export type AccessMember = (typeof accessKinds)[AccessKind][number];
export type AccessTexts = Readonly<Partial<Record<AccessMember, string>>>;

export const kindNames = ['s3', 'az', 'https', 'sftp'] as const satisfies readonly AccessKind[];
export const accessMembers: readonly AccessMember[] = [...new Set(Object.values(accessKinds).flat())];

/** A fault of a member; the message repeats no secret. */
export class MemberFault extends Error {
  readonly member: AccessMember;

  constructor(member: AccessMember, detail: string) {
    super(detail);
    this.member = member;
  }
}

/** MemberFault for missing or malformed members. Members that the kind does not have are ignored. */
export function readAccess(kind: AccessKind, given: AccessTexts): SourceAccess {
  return readers[kind](given);
}

/** A member that was given and that the kind does not have; MemberFault. */
export function refuseStrangers(kind: AccessKind, given: AccessTexts): void {
  const own: readonly AccessMember[] = accessKinds[kind];
  const stranger = accessMembers.find((member) => given[member] !== undefined && !own.includes(member));
  if (stranger !== undefined)
    throw new MemberFault(
      stranger,
      `a source of kind ${kind} does not have this property: it has ${own.join(', ')}`,
    );
}

/** Returns the secrets in access data, which must appear nowhere. */
export function secretsOfAccess(access: SourceAccess): string[] {
  const secrets = {
    s3: (one: SourceAccess) => (one.kind === 's3' ? [one.secretAccessKey, one.sessionToken] : []),
    az: (one: SourceAccess) => (one.kind === 'az' ? [one.key, ...signaturesIn(one.token)] : []),
    https: (one: SourceAccess) => (one.kind === 'https' ? [one.token, one.password] : []),
    sftp: (one: SourceAccess) =>
      one.kind === 'sftp'
        ? [one.password, ...(one.key?.split('\n').filter((line) => line.length > 16) ?? [])]
        : [],
  }[access.kind](access);
  return secrets.filter((secret) => typeof secret === 'string');
}

/** The user names that may precede a host and cannot be mistaken for a program's option. */
export const sftpUser = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,127}$/;

const readers: { readonly [Kind in AccessKind]: (given: AccessTexts) => SourceAccess } = {
  s3({ endpoint, region = 'us-east-1', access_key: accessKeyId, secret_key: secretAccessKey, ...rest }) {
    if (accessKeyId === undefined || secretAccessKey === undefined)
      throw new MemberFault(
        accessKeyId === undefined ? 'access_key' : 'secret_key',
        'a source in an S3-compatible store needs access_key and secret_key',
      );
    return {
      kind: 's3',
      endpoint: addressOf(endpoint) ?? `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId,
      secretAccessKey,
      ...(rest.session_token === undefined ? {} : { sessionToken: rest.session_token }),
    };
  },
  az({ endpoint, access_key: account, secret_key: key = null, token = null }) {
    if (account === undefined) throw new MemberFault('access_key', 'is required: the name of the account');
    if (!/^[a-z0-9]{3,24}$/.test(account))
      throw new MemberFault('access_key', 'must be the name of an account: 3 to 24 of a-z and 0-9');
    if ((key === null) === (token === null))
      throw new MemberFault(
        'secret_key',
        'give either the key of the account or, as token, a shared access signature',
      );
    if (key !== null && !/^[A-Za-z0-9+/]+={0,2}$/.test(key))
      throw new MemberFault('secret_key', 'must be the base64 form of the key');
    if (token !== null && !/(?:^|[?&])sig=/.test(token))
      throw new MemberFault('token', 'must be a shared access signature, sv=…&sig=…');
    const address = addressOf(endpoint) ?? `https://${account}.blob.core.windows.net/`;
    // the signature is a part of each address
    if (!/^https:|^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])[:/]/.test(address))
      throw new MemberFault('endpoint', 'must be an https: address');
    return { kind: 'az', endpoint: address, account, key, token: token?.replace(/^\?/, '') ?? null };
  },
  https({ host, token = null, user = null, password = null }) {
    if (host === undefined) throw new MemberFault('host', 'is required: secrets are sent only to that host');
    if ((user === null) !== (password === null))
      throw new MemberFault(user === null ? 'user' : 'password', 'give user and password together');
    if (token !== null && user !== null)
      throw new MemberFault('token', 'replaces user and password: give one of the two');
    // neither is allowed in a header
    if (/[^\x21-\x7e]/.test(token ?? '')) throw new MemberFault('token', 'must be ASCII, without blanks');
    if (user?.includes(':') === true) throw new MemberFault('user', 'must not contain a colon');
    return { kind: 'https', host: hostOf(host), token, user, password };
  },
  sftp({ host, user = null, password = null, key_file: keyFile = null, secret_key, ...rest }) {
    const key = secret_key?.replaceAll('\r\n', '\n') ?? null;
    if (host === undefined) throw new MemberFault('host', 'is required: secrets are sent only to that host');
    if (user !== null && !sftpUser.test(user)) throw new MemberFault('user', 'is not the name of a user');
    if (password === null && key === null && keyFile === null)
      throw new MemberFault('password', 'is required unless a private key is given: key_file or secret_key');
    if (key !== null && keyFile !== null)
      throw new MemberFault('secret_key', 'replaces key_file: give one of the two');
    if (key !== null && !/^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/.test(key))
      throw new MemberFault(
        'secret_key',
        'must be a private key in PEM form, -----BEGIN OPENSSH PRIVATE KEY-----',
      );
    if (keyFile !== null && !/^\/[^\p{Cc}]+$/u.test(keyFile))
      throw new MemberFault('key_file', 'must be an absolute path');
    const { host_key: hostKey = null } = rest;
    if (hostKey !== null && !/^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: [^\p{Cc}]*)?$/u.test(hostKey))
      throw new MemberFault('host_key', 'must be a public key as ssh-keyscan shows it: ssh-ed25519 AAAA…');
    if (/[\n\r\0]/.test(password ?? '')) throw new MemberFault('password', 'must be one line');
    return { kind: 'sftp', host: hostOf(host).replace(/:22$/, ''), user, password, key, keyFile, hostKey };
  },
};

/** Returns the secret part of a shared access signature, as written and decoded. */
function signaturesIn(token: string | null): string[] {
  return [...(token ?? '').matchAll(/(?:^|&)sig=([^&]*)/g)].flatMap(([, sig = '']) => [sig, decoded(sig)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressOf(text: string | undefined): string | null {
  try {
    return parseHttpAddress(text ?? '');
  } catch (error) {
    throw new MemberFault('endpoint', (error as Error).message);
  }
}

/** Returns a host like `URL.host`: without the default port of `https:`. */
function hostOf(text: string): string {
  const url = /^[\w.:[\]-]+$/.test(text) ? URL.parse(`https://${text}/`) : null;
  if (url === null) throw new MemberFault('host', 'must be HOST or HOST:PORT');
  return url.host;
}
