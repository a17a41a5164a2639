/**
 * Commands for credentials of remote inputs, equivalent to /v2/admin/credentials. Secrets come from standard input, which no list of
 * processes shows.
 */
import { text as textOf } from 'node:stream/consumers';
import { accessMembers, kindNames, type AccessTexts } from '../../config/source-access.ts';
import { AppError } from '../../errors.ts';
import { createCredential } from '../../files/credentials.ts';
import { credentialName } from '../../files/remote-location.ts';
import { textTable } from '../cli/text-table.ts';
import { record } from './access.ts';
import { organisation, time, UsageError, type Command } from './specification.ts';

export const credentialCommands: Readonly<Record<string, Command>> = {
  'credentials add': {
    words: ['NAME'],
    meaning: 'what --credential NAME reads with, as JSON on the standard input: {"kind":"s3","access_key":…}',
    options: ['org'],
    async run({ adapters }, [name = ''], options) {
      const idOrg = organisation(options);
      if (!credentialName.test(name))
        throw new UsageError('NAME has 1 to 64 of the characters A-Z, a-z, 0-9, ., _ and -');
      const { kind, ...texts } = members(await textOf(process.stdin));
      const ofKind = kindNames.find((one) => one === kind);
      if (ofKind === undefined) throw new UsageError(`"kind" must be one of ${kindNames.join(', ')}`);
      const made = await createCredential(adapters, idOrg, { name, kind: ofKind, texts });
      await record(adapters.access, idOrg, 'credentials add', `credential ${name} (${ofKind})`);
      return { text: `credential ${name} is kept`, json: made };
    },
  },
  'credentials list': {
    words: [],
    meaning: 'names and kinds of them',
    options: ['org'],
    async run({ adapters: { credentials } }, _, options) {
      const found = await credentials.list(organisation(options));
      const rows = found.map(({ name, kind, created }) => [name, kind, time(created)]);
      return { text: textTable(['NAME', 'KIND', 'CREATED'], rows), json: found };
    },
  },
  'credentials remove': {
    words: ['NAME'],
    meaning: 'removes one',
    options: ['org'],
    async run({ adapters: { access, credentials } }, [name = ''], options) {
      const idOrg = organisation(options);
      if (!(await credentials.remove(idOrg, name)))
        throw new AppError('not_found', `organisation ${idOrg} has no credential ${name}`);
      await record(access, idOrg, 'credentials remove', `credential ${name}`);
      return { text: `credential ${name} is removed`, json: { name } };
    },
  },
};

/** Messages never repeat the input. */
function members(text: string): AccessTexts & { readonly kind?: string } {
  const usage =
    'the standard input must be one JSON object of texts, such as {"kind":"s3","access_key":"…","secret_key":"…"}';
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw new UsageError(usage);
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new UsageError(usage);
  const known = new Set<string>(['kind', ...accessMembers]);
  for (const [name, value] of Object.entries(read)) {
    if (!known.has(name))
      throw new UsageError(`there is no member ${name}; there are ${[...known].join(', ')}`);
    if (typeof value !== 'string') throw new UsageError(usage);
  }
  return read;
}
