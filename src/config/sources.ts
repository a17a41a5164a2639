/**
 * `svc.sources.NAME.*`: places that documents and schemas are fetched from, and targets may lie in, each with its credentials. NAME is the operator's: nobody else
 * sees it.
 */
import type { SourceConfig } from './shape.ts';
import { parseHttpAddress } from './values.ts';

/** What there is to set of a source; the first one is needed. */
const sourceMembers = [
  'location',
  'endpoint',
  'region',
  'access_key',
  'secret_key',
  'session_token',
  'token',
  'organisations',
  'writable',
] as const;
type SourceMember = (typeof sourceMembers)[number];

const sourceName = /^svc\.sources\.([a-z0-9][a-z0-9-]{0,39})\.([a-z_]+)$/;

/** Whether a property is one of a source, whatever its name is. */
export function isSourceProperty(name: string): boolean {
  return sourceMembers.includes(sourceName.exec(name)?.[2] as SourceMember);
}

/** `SVC_SOURCES_INBOX_ACCESS_KEY` is `svc.sources.inbox.access_key`; null: no setting of a source. */
export function sourcePropertyOf(variable: string): string | null {
  const members = sourceMembers.map((member) => member.toUpperCase()).join('|');
  const [, name, member] = new RegExp(`^SVC_SOURCES_([A-Z0-9]+)_(${members})$`).exec(variable) ?? [];
  return name === undefined ? null : `svc.sources.${name.toLowerCase()}.${member!.toLowerCase()}`;
}

/** What is wrong goes to `complaints`. */
export function readSources(
  record: Readonly<Record<string, string | undefined>>,
  complaints: string[],
): readonly SourceConfig[] {
  const byName = new Map<string, Partial<Record<SourceMember, string>>>();
  for (const [property, text] of Object.entries(record)) {
    const [, name, member] = sourceName.exec(property) ?? [];
    if (name === undefined || !isSourceProperty(property) || text === undefined || text.trim() === '')
      continue;
    byName.set(name, { ...byName.get(name), [member as SourceMember]: text.trim() });
  }
  return [...byName].flatMap(([name, given]) => {
    try {
      return [sourceOf(name, given)];
    } catch (error) {
      complaints.push(`svc.sources.${name}.${(error as Error).message}`);
      return [];
    }
  });
}

function sourceOf(name: string, given: Partial<Record<SourceMember, string>>): SourceConfig {
  const { location = '', token = null } = given;
  const isS3 = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/|$)/.test(location);
  if (!isS3 && !(location.startsWith('https://') && URL.canParse(location)))
    throw new Error('location: must be s3://BUCKET/PREFIX or https://HOST/PATH');
  const organisations = organisationsOf(given.organisations);
  const { writable = 'false' } = given;
  if (writable !== 'true' && writable !== 'false') throw new Error('writable: must be true or false');
  if (!isS3 && writable === 'true')
    throw new Error('writable: nothing is written over HTTPS, only to s3://BUCKET/PREFIX');
  if (!isS3) return { name, location, organisations, s3: null, token };
  const { region = 'us-east-1', access_key: accessKeyId, secret_key: secretAccessKey } = given;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error('access_key, and secret_key: a source in an S3-compatible store needs both');
  let endpoint: string | null;
  try {
    endpoint = parseHttpAddress(given.endpoint ?? '');
  } catch (error) {
    throw new Error(`endpoint: ${(error as Error).message}`, { cause: error });
  }
  return {
    name,
    location,
    organisations,
    ...(writable === 'true' ? { writable: true } : {}),
    token: null,
    s3: {
      endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId,
      secretAccessKey,
      ...(given.session_token === undefined ? {} : { sessionToken: given.session_token }),
    },
  };
}

/** As for folders beside those of organisations: where nothing is said, organisation 1 alone. */
function organisationsOf(text = '1'): readonly number[] | null {
  if (text === '*') return null;
  const ids = text.split(',').map((id) => Number(id.trim()));
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1))
    throw new Error('organisations: must be ids, comma-separated, or * for all');
  return ids;
}
