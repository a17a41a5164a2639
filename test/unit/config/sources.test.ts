/** `svc.sources.NAME.*`: what is read, what is refused, and which source a location lies in. */
import { describe, expect, it } from 'vitest';
import { mergeSettings, parseProperties, unknownSettings } from '../../../src/config/java-properties.ts';
import { readConfig } from '../../../src/config/properties.ts';
import { ConfigError } from '../../../src/config/wrong-settings.ts';
import {
  fileNameOf,
  isRemoteLocation,
  parseRemoteLocation,
  sourceAt,
} from '../../../src/service/files/remote-location.ts';
import { AppError } from '../../../src/errors.ts';
import { readText } from '../../rules/project-files.ts';
import { readBlocks } from '../../e2e/readme/blocks.ts';

function complaints(record: Record<string, string>): readonly string[] {
  try {
    readConfig(record);
  } catch (error) {
    if (error instanceof ConfigError) return error.complaints;
    throw error;
  }
  return [];
}

const keys = { access_key: 'K', secret_key: 'S' };
const named = (name: string, given: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([member, text]) => [`svc.sources.${name}.${member}`, text]));

describe('settings of sources', () => {
  it('are those that docs/how-to/buckets.md shows', () => {
    const block = readBlocks(readText('docs/how-to/buckets.md')).find(
      ({ language }) => language === 'properties',
    )!;
    const { sources } = readConfig(parseProperties(block.code));
    expect(sources).toMatchObject([
      {
        name: 'inbox',
        location: 's3://bank-inbox/statements',
        organisations: [1],
        access: {
          kind: 's3',
          endpoint: 'https://s3.eu-central-1.amazonaws.com',
          region: 'eu-central-1',
        },
      },
    ]);
  });

  it('may stand in the environment, which wins', () => {
    const environment = {
      SVC_SOURCES_INBOX_LOCATION: 's3://bucket/other',
      SVC_SOURCES_INBOX_SECRET_KEY: 'from the environment',
    };
    const merged = mergeSettings(named('inbox', { location: 's3://bucket/in', ...keys }), environment);
    expect(readConfig(merged).sources).toMatchObject([
      {
        location: 's3://bucket/other',
        access: { kind: 's3', accessKeyId: 'K', secretAccessKey: 'from the environment' },
      },
    ]);
    expect(unknownSettings(environment)).toEqual([]);
  });

  it.each([
    [
      { location: 's3://bucket/in' },
      'access_key: a source in an S3-compatible store needs access_key and secret_key',
    ],
    [
      { location: '/in', ...keys },
      'location: must be s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, https://HOST/PATH or sftp://USER@HOST/PATH',
    ],
    [
      { location: 'http://host/', token: 't' },
      'location: must be s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, https://HOST/PATH or sftp://USER@HOST/PATH',
    ],
    [
      { token: 't' },
      'location: must be s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, https://HOST/PATH or sftp://USER@HOST/PATH',
    ],
    [
      { location: 's3://bucket', organisations: '1,x', ...keys },
      'organisations: must be ids, comma-separated, or * for all',
    ],
    [{ location: 's3://bucket', writable: 'yes', ...keys }, 'writable: must be true or false'],
  ])('that are wrong are told by their name: %j', (given, complaint) => {
    expect(complaints(named('inbox', given))).toEqual([`svc.sources.inbox.${complaint}`]);
  });

  it('let jobs write where they say so', () => {
    const { sources } = readConfig({
      ...named('lake', { location: 's3://bucket/lake', writable: 'true', ...keys }),
      ...named('inbox', { location: 's3://bucket/in', ...keys }),
      ...named('tables', { location: 'https://catalogue.example/api', writable: 'true', token: 't' }),
    });
    expect(sources?.map(({ writable }) => writable ?? false)).toEqual([true, false, true]);
  });

  it.each([
    [{ kind: 's3' }, 'access_key: a source in an S3-compatible store needs access_key and secret_key'],
    [{ kind: 'gopher' }, 'kind: must be one of s3, az, https, sftp'],
    [
      { kind: 's3', location: 'https://host/' },
      'kind: s3 does not match the location, which begins with https://',
    ],
    [{ kind: 'https', token: 't' }, 'host: is required: secrets are sent only to that host'],
    [{ kind: 'https', host: 'a/b' }, 'host: must be HOST or HOST:PORT'],
    [{ kind: 'https', host: 'h', user: 'u' }, 'password: give user and password together'],
    [
      { kind: 'https', host: 'h', ...keys },
      'access_key: a source of kind https does not have this property: it has host, token, user, password',
    ],
    [{ kind: 'sftp', password: 'p' }, 'host: is required: secrets are sent only to that host'],
    [{ kind: 'sftp', host: 'h', user: '-x', password: 'p' }, 'user: is not the name of a user'],
    [
      { kind: 'sftp', host: 'h' },
      'password: is required unless a private key is given: key_file or secret_key',
    ],
    [{ kind: 'sftp', host: 'h', key_file: 'key' }, 'key_file: must be an absolute path'],
    [
      { kind: 'sftp', host: 'h', key_file: '/key', host_key: 'SHA256:x' },
      'host_key: must be a public key as ssh-keyscan shows it: ssh-ed25519 AAAA…',
    ],
    [{ kind: 'az' }, 'access_key: is required: the name of the account'],
    [
      { kind: 'az', access_key: 'bank', secret_key: 'a2V5', token: 'sig=x' },
      'secret_key: give either the key of the account or, as token, a shared access signature',
    ],
    [
      { kind: 'az', access_key: 'bank', secret_key: 'a2V5', endpoint: 'http://elsewhere/' },
      'endpoint: must be an https: address',
    ],
    [{ kind: 's3', ...keys, endpoint: 'secret' }, 'endpoint: must be an https: or http: address'],
  ])('that are for a name alone are told, too: %j', (given, complaint) => {
    expect(complaints(named('inbox', given))).toEqual([`svc.sources.inbox.${complaint}`]);
  });

  it('without a location are for who names them', () => {
    const { sources } = readConfig({
      ...named('store', { kind: 's3', endpoint: 'http://127.0.0.1:9000', ...keys }),
      ...named('press', { kind: 'https', host: 'Press.example:443', user: 'u', password: 'p' }),
    });
    expect(sources).toMatchObject([
      { location: null, access: { kind: 's3', endpoint: 'http://127.0.0.1:9000/' } },
      { location: null, access: { kind: 'https', host: 'press.example', token: null, user: 'u' } },
    ]);
    expect(sourceAt(sources!, 's3://bucket/in', 1)).toBeUndefined();
  });

  it('of another name are no settings', () => {
    expect(complaints({ 'svc.sources.inbox.secret': 'x' })).toHaveLength(1);
    expect(complaints({ 'svc.sources.location': 'x' })).toHaveLength(1);
  });
});

describe('the source of a location', () => {
  const { sources = [] } = readConfig({
    ...named('all', { location: 's3://bucket/in', organisations: '*', ...keys }),
    ...named('deep', { location: 's3://bucket/in/deep/', organisations: '2', ...keys }),
    ...named('press', { location: 'https://press.example/feed', organisations: '1' }),
  });
  const at = (location: string, idOrg: number | null): string | undefined =>
    sourceAt(sources, location, idOrg)?.name;

  it.each([
    ['s3://bucket/in', 1, 'all'],
    ['s3://bucket/in/a.xml', 1, 'all'],
    ['s3://bucket/in/deep/a.xml', 1, 'all'],
    ['s3://bucket/in/deep/a.xml', 2, 'deep'],
    ['s3://bucket/in/deep/a.xml', null, 'deep'],
    ['s3://bucket/inner/a.xml', 1, undefined],
    ['s3://bucket', 1, undefined],
    ['https://press.example/feed/a.xml', 1, 'press'],
    ['https://press.example/feed/a.xml', 2, undefined],
    ['https://press.example/feeds', 1, undefined],
  ])('%s of organisation %s: %s', (location, idOrg, name) => {
    expect(at(location, idOrg)).toBe(name);
  });
});

describe('locations', () => {
  it.each(['C:/in/a.xml', 'a:b.xml', '/in/a.xml', 'in/*.xml', '-'])('%s is a path', (path) => {
    expect(isRemoteLocation(path)).toBe(false);
  });

  it.each([
    'gs://bucket/a.xml',
    's3://',
    's3://UPPER_case!/x',
    'https://',
    'https://user@host/a.xml',
    'https://host/a.xml?sig=abc',
    'http://host/a.xml',
    'http://127.0.0.1.example/a.xml',
    // led to another place than the one that the text lies in
    'https://host/feed/../private/a.xml',
    'https://host/feed/%2E%2e/private/a.xml',
    'https://host/feed/.%2e\\private/a.xml',
    'https://host/feed/x%2F..%2f../private/a.xml',
    'https://host/feed/.\t./private/a.xml',
    'https://host/feed/a.xml\n',
    's3://bucket/in/../private/a.xml',
    's3://bucket/..',
    'az://container/in/../private/',
    'sftp://ann@host/in/../private/',
  ])('%j is refused', (text) => {
    expect(() => parseRemoteLocation(text)).toThrow(AppError);
  });

  it.each([
    ['https://host/feed/a%20b.xml?day=1', 'a b.xml'],
    ['https://host/', 'document.xml'],
    ['https://host/%2e%2e%2fetc', 'document.xml'],
    ['https://host/%ff.xml', '%ff.xml'],
  ])('%s names the file %s', (text, name) => {
    expect(fileNameOf(new URL(text))).toBe(name);
  });
});
