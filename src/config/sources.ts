/**
 * `svc.sources.NAME.*`: places from which documents and schemas are fetched, and which may hold targets, each with its credentials.
 * Requests without a place of their own give it as `--credential NAME`.
 */
import type { SourceConfig } from './shape.ts';
import {
  accessKinds,
  accessMembers,
  kindNames,
  readAccess,
  refuseStrangers,
  MemberFault,
  type AccessKind,
  type AccessTexts,
} from './source-access.ts';

/** The properties of a source; either a location or a kind is required. */
const sourceMembers = ['location', 'kind', 'organisations', 'writable', ...accessMembers] as const;
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

/** Reads the sources. Faults are added to `complaints`. */
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

function sourceOf(
  name: string,
  {
    location,
    kind: given,
    organisations,
    writable = 'false',
    ...texts
  }: Partial<Record<SourceMember, string>>,
): SourceConfig {
  const kind = kindOf(location, given);
  const isWeb = kind === 'https' && location !== undefined;
  // values that the location contains are not read from other settings
  const access: AccessTexts = isWeb
    ? { ...texts, host: new URL(location).host }
    : kind === 'sftp' && location !== undefined
      ? { ...texts, ...serverIn(location) }
      : texts;
  if (given !== undefined) inWords(() => refuseStrangers(kind, texts));
  if (writable !== 'true' && writable !== 'false') throw new Error('writable: must be true or false');
  return {
    name,
    location: location ?? null,
    organisations: organisationsOf(organisations),
    ...(writable === 'true' ? { writable: true } : {}),
    access: inWords(() => readAccess(kind, access)),
  };
}

/** Returns the kind that the location implies; without a location, the kind must be given. */
function kindOf(location: string | undefined, given: string | undefined): AccessKind {
  const named = kindNames.find((kind) => kind === given);
  if (given !== undefined && named === undefined)
    throw new Error(`kind: must be one of ${Object.keys(accessKinds).join(', ')}`);
  if (location === undefined && named !== undefined) return named;
  const found = locationForms.find(([, isOne]) => isOne(location ?? ''))?.[0];
  if (found === undefined)
    throw new Error(
      'location: must be s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, https://HOST/PATH or sftp://USER@HOST/PATH',
    );
  if (named !== undefined && named !== found)
    throw new Error(`kind: ${named} is not that of ${found}:// locations`);
  return found;
}

/** `sftp://USER@HOST:PORT/PATH` */
const sftpForm = /^sftp:\/\/(?:([^/@]+)@)?([^/@]+)(?:\/|$)/;

function serverIn(location: string): AccessTexts {
  const [, user, host = ''] = sftpForm.exec(location) ?? [];
  return { host, ...(user === undefined ? {} : { user }) };
}

const locationForms: readonly (readonly [AccessKind, (location: string) => boolean])[] = [
  ['s3', (location) => /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/|$)/.test(location)],
  ['az', (location) => /^az:\/\/[a-z0-9$][a-z0-9-]{2,62}(?:\/|$)/.test(location)],
  ['https', (location) => location.startsWith('https://') && URL.canParse(location)],
  ['sftp', (location) => sftpForm.test(location)],
];

/** Prefixes a fault with the name of the member. */
function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error;
    throw new Error(`${error.member}: ${error.message}`, { cause: error });
  }
}

/** Like folders outside those of organisations: the default is organisation 1 alone. */
function organisationsOf(text = '1'): readonly number[] | null {
  if (text === '*') return null;
  const ids = text.split(',').map((id) => Number(id.trim()));
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1))
    throw new Error('organisations: must be ids, comma-separated, or * for all');
  return ids;
}
