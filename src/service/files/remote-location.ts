/** Inputs that are no paths: `s3://BUCKET/KEY` and addresses of files on the web. */
import type { SourceAccess, SourceConfig } from '../../config/shape.ts';
import { sftpUser } from '../../config/source-access.ts';
import { AppError } from '../../errors.ts';

export type RemoteLocation =
  | {
      readonly kind: 's3' | 'az';
      /** text of the location as given */
      readonly text: string;
      /** or container */
      readonly bucket: string;
      /** an object, a prefix or a pattern; '' for all of the bucket */
      readonly key: string;
    }
  | {
      readonly kind: 'sftp';
      readonly text: string;
      /** lower case, IPv6 in brackets */
      readonly host: string;
      readonly port: number;
      /** null: the credential contains it */
      readonly user: string | null;
      /** a file, a folder or a pattern, from the root, or below the user's home if it does not begin with '/' */
      readonly path: string;
    }
  | { readonly kind: 'http'; readonly text: string; readonly url: URL };

/** The names that a credential may have; sources of the operator have lower case and fewer characters. */
export const credentialName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether an input is no path: a drive of Windows is one. */
export function isRemoteLocation(input: string): boolean {
  return /^(?:s3|https?|ftps?|sftp|gs|az|abfss?|wasbs?|hdfs):\/\//i.test(input);
}

/** parameters of addresses that are a secret by themselves */
const signature =
  /^(?:x-amz-signature|x-amz-security-token|x-goog-signature|signature|sig|token|access_token|key|api_?key|password|passwd|pwd|(?:client_)?secret)$/i;

/** AppError `invalid_option` for an invalid location, or one that would put a secret into the job's record. */
export function parseRemoteLocation(text: string): RemoteLocation {
  const scheme = text.slice(0, text.indexOf(':')).toLowerCase();
  if (scheme === 's3') {
    const [, bucket, key = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/i.exec(text) ?? [];
    if (bucket === undefined)
      throw refused(shown(text), 'must be s3://BUCKET/KEY, s3://BUCKET/PREFIX/ or a pattern');
    requireNoSteps(text, key);
    return { kind: 's3', text, bucket: bucket.toLowerCase(), key };
  }
  if (scheme === 'az') {
    const [, bucket, key = ''] = /^az:\/\/(\$?[a-z0-9](?:-?[a-z0-9]){2,62})(?:\/(.*))?$/i.exec(text) ?? [];
    if (bucket === undefined)
      throw refused(shown(text), 'must be az://CONTAINER/KEY, az://CONTAINER/PREFIX/ or a pattern');
    requireNoSteps(text, key);
    return { kind: 'az', text, bucket: bucket.toLowerCase(), key };
  }
  if (scheme === 'sftp') return sftpLocation(text);
  if (scheme !== 'https' && scheme !== 'http')
    throw refused(
      shown(text),
      'inputs are paths, s3://BUCKET/KEY, az://CONTAINER/KEY, https:// or sftp:// addresses',
    );
  // URL parsers drop these characters
  if (/[\t\n\r]/.test(text) || !URL.canParse(text)) throw refused(shown(text), 'it is not a valid address');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw refused(shown(text), passwordAdvice);
  const secret = [...url.searchParams.keys()].find((name) => signature.test(name));
  if (secret !== undefined)
    throw refused(
      shown(text),
      `${secret}= is a secret that would be visible in the record of the job: use a credential (--credential NAME, or a source of the operator: svc.sources.NAME.*)`,
    );
  if (scheme === 'http' && !isLoopbackName(url.hostname))
    throw refused(shown(text), 'only this machine may be read without TLS: write https://');
  // `url` has followed them: it would be of another place than its text
  if (leadsUp(text.replace(/^\w+:\/*[^/\\?#]*|[?#].*$/gs, ''))) throw refused(shown(text), stepsAdvice);
  url.hash = '';
  return { kind: 'http', text, url };
}

const stepsAdvice = '.. is not allowed in the path of an address';

/**
 * Refuses a key or path that contains `..`. This program reads the key literally, but a program that uses the key as a file name would
 * resolve `..` to another path.
 */
function requireNoSteps(text: string, path: string): void {
  if (path.split('/').includes('..')) throw refused(shown(text), stepsAdvice);
}

/** Returns whether a reader of the path as a URL would be led to another path, including by escapes. */
function leadsUp(path: string): boolean {
  return path.split(/[/\\]|%2f|%5c/i).some((step) => /^(?:\.|%2e){2}$/i.test(step));
}

const passwordAdvice =
  'a password in an address would be visible in the record of the job: use a credential (--credential NAME, or a source of the operator: svc.sources.NAME.*)';

/** Parses an SFTP address. The path is literal, without escapes, like keys of buckets. */
function sftpLocation(text: string): RemoteLocation {
  const [, user, host, port = '22', path = ''] =
    /^sftp:\/\/(?:([^/@]*)@)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(\/.*)?$/is.exec(text) ?? [];
  if (user?.includes(':') === true) throw refused(shown(text), passwordAdvice);
  const isPort = Number(port) >= 1 && Number(port) <= 65_535;
  if (host === undefined || !isPort || (user !== undefined && !sftpUser.test(user)))
    throw refused(
      shown(text),
      'must be sftp://USER@HOST/PATH: a file, a folder, a prefix that ends with /, or a pattern; /~/ is the user’s home',
    );
  requireNoSteps(text, path);
  return {
    kind: 'sftp',
    text,
    host: host.toLowerCase(),
    port: Number(port),
    user: user ?? null,
    path: path.startsWith('/~/') ? path.slice(3) : path === '/~' ? '' : path === '' ? '/' : path,
  };
}

/** Returns `host`, or `host:port` for a port that is not the usual one. */
export function serverOf({ host, port }: Extract<RemoteLocation, { kind: 'sftp' }>): string {
  return port === 22 ? host : `${host}:${port}`;
}

/** Returns the prefix of all keys below a location of a store: '' for the whole bucket, or a prefix that ends with a slash. */
export function keyPrefix({ key }: Extract<RemoteLocation, { kind: 's3' | 'az' }>): string {
  return key === '' || key.endsWith('/') ? key : `${key}/`;
}

/** Name of the file that an address leads to. */
export function fileNameOf(url: URL): string {
  const last = url.pathname.split('/').at(-1)!;
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // a name that is not UTF-8 stays as it was written
  }
  return name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name) ? 'document.xml' : name;
}

/** Whether it means this machine, whatever resolves it. */
export function isLoopbackName(host: string): boolean {
  return /^(?:localhost|(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}

/** Removes parts that may be secret: a password that makes the address invalid may contain any character that ends a host elsewhere. */
function shown(text: string): string {
  return text.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '');
}

function refused(text: string, why: string): AppError {
  return new AppError('invalid_option', `${text}: ${why}`);
}

/** The kind of access that a location takes. */
export function kindOfLocation({ kind }: RemoteLocation): SourceAccess['kind'] {
  return kind === 'http' ? 'https' : kind;
}

/** Converts the address of a blob at the credential's account to a location in a container of it; other locations stay unchanged. */
export function storeLocation(location: RemoteLocation, access: SourceAccess | null): RemoteLocation {
  if (location.kind !== 'http' || access?.kind !== 'az') return location;
  const base = new URL(access.endpoint.replace(/\/*$/, '/'));
  const { url, text } = location;
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return location;
  const [bucket = '', ...steps] = url.pathname.slice(base.pathname.length).split('/').map(unescaped);
  return bucket === '' ? location : { kind: 'az', text, bucket, key: steps.join('/') };
}

/** AppError `invalid_option` for an invalid escape. */
function unescaped(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    throw refused(
      step,
      'a % in an address must be followed by two hexadecimal digits: write %25 for a % itself',
    );
  }
}

/** The first host that is asked for it: that of the store, or of the address; `access`: null without credentials. */
export function addressOfLocation(location: RemoteLocation, access: SourceAccess | null): URL | null {
  if (location.kind === 'http') return location.url;
  if (location.kind === 'sftp')
    return access === null ? null : new URL(`sftp://${location.host}:${location.port}`);
  return access?.kind === 's3' || access?.kind === 'az' ? new URL(access.endpoint) : null;
}

/** The operator's sources that an organisation may read; null: a person, who may read all. */
export function openSources(sources: readonly SourceConfig[], idOrg: number | null): readonly SourceConfig[] {
  return sources.filter(
    ({ organisations }) => idOrg === null || organisations === null || organisations.includes(idOrg),
  );
}

/**
 * Returns the source that contains a location, the longest match first; undefined if this organisation may read none (null: a person,
 * who may read all).
 */
export function sourceAt(
  sources: readonly SourceConfig[],
  location: string,
  idOrg: number | null,
): SourceConfig | undefined {
  return openSources(sources, idOrg)
    .filter((source) => source.location !== null && isBelow(location, source.location))
    .toSorted((a, b) => b.location!.length - a.location!.length)[0];
}

export function isBelow(location: string, place: string): boolean {
  return location === place || location.startsWith(place.endsWith('/') ? place : `${place}/`);
}
