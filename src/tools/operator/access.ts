/** Commands for keys, organisations, targets and the audit log, equivalent to /v2/admin, for users who can read the home folder. */
import type { WhatWasRun } from '../targets/kind.ts';
import { targetKinds } from '../targets/kinds.ts';
import { userInfo } from 'node:os';
import { issueKey } from '../../service/access/keys.ts';
import { AppError } from '../../errors.ts';
import { allScopes, type AccessStore, type Scope } from '../../ports/stores/access.ts';
import { namePart } from '../../service/jobs/option-table.ts';
import { textTable } from '../cli/terminal.ts';
import { number, time, UsageError, type Command, organisation } from './specification.ts';
import { text as textOf } from 'node:stream/consumers';
import { accessMembers, kindNames, type AccessTexts } from '../../config/source-access.ts';
import { createCredential } from '../../service/files/credentials.ts';
import { credentialName } from '../../service/files/remote-location.ts';

// Lists the targets for rows: the driver, the mechanism that makes a load atomic, and the versions that were tested (docs/reference/targets.md,
// “Tested versions”).

/** Databases that get scripts and DDL alone. */
const byScripts: readonly WhatWasRun[] = [
  {
    target: 'Snowflake, BigQuery, Redshift, Databricks: scripts',
    driver: 'the warehouse’s own client',
    transaction: 'as above',
    run_against: 'no warehouse: sqlglot parses each script; fakesnow 0.12 ran those of Snowflake',
  },
  {
    target: 'Trino, ClickHouse: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'ClickHouse 26.9 (chdb 4.4), with rows and views; sqlglot parses both',
  },
  {
    target: 'SQL Server, Oracle: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'no database: a parser of each dialect (sqlglot) reads the DDL',
  },
];

export function whatWasRun(): readonly WhatWasRun[] {
  return [...targetKinds.flatMap((kind) => kind.whatWasRun), ...byScripts];
}

/** Returns the rows without the Markdown of the page. */
export function whatWasRunPlain(): readonly WhatWasRun[] {
  return whatWasRun().map((row) => ({
    target: plain(row.target),
    driver: plain(row.driver),
    transaction: plain(row.transaction),
    run_against: plain(row.run_against),
  }));
}

function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

// Keys, organisations, targets and the audit log.

/** UsageError unless the name has 1 to 200 characters, all of them visible. */
function requireName(what: string, name: string): void {
  if (name === '' || name.length > 200) throw new UsageError(`${what} has 1 to 200 characters`);
  const fault = namePart(name);
  if (fault !== null) throw new UsageError(`${what} ${fault}`);
}

export const accessCommands: Readonly<Record<string, Command>> = {
  'keys issue': {
    words: [],
    meaning: 'a new key, shown once',
    options: ['name', 'scopes', 'org', 'expires'],
    async run({ adapters: { access } }, _, { name = '', scopes = '', org = '1', expires }) {
      requireName('--name', name);
      const idOrg = number('--org', org, 1);
      const issued = await issueKey(access, {
        idOrg,
        name,
        scopes: scopesOf(scopes),
        expiresAt: expiryOf(expires),
      });
      await record(access, idOrg, 'keys issue', `key ${issued.idKey} of organisation ${idOrg}: ${scopes}`);
      return { text: issued.key, json: { id_key: issued.idKey, id_org: idOrg, key: issued.key } };
    },
  },
  'keys list': {
    words: [],
    meaning: 'keys, their scopes and when they end',
    options: ['org'],
    async run({ adapters: { access } }, _, { org }) {
      const keys = (await access.listKeys(org === undefined ? null : number('--org', org, 1))).map((key) => ({
        id_key: key.idKey,
        id_org: key.idOrg,
        name: key.name,
        scopes: key.scopes,
        created: key.created,
        expires_at: key.expiresAt,
        revoked_at: key.revokedAt,
      }));
      const rows = keys.map((key) => [
        key.id_key,
        String(key.id_org),
        key.name,
        key.scopes.join(' '),
        time(key.created),
        time(key.expires_at),
        time(key.revoked_at),
      ]);
      return {
        text: textTable(['KEY', 'ORG', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'REVOKED'], rows),
        json: keys,
      };
    },
  },
  'keys revoke': {
    words: ['ID'],
    meaning: 'ends a key',
    options: [],
    async run({ adapters: { access } }, [idKey = '']) {
      if (!(await access.revoke(null, idKey))) throw new AppError('not_found', `there is no key ${idKey}`);
      await record(access, 1, 'keys revoke', `key ${idKey}`);
      return { text: `key ${idKey} has ended`, json: { id_key: idKey } };
    },
  },
  'orgs create': {
    words: ['NAME'],
    meaning: 'a new organisation',
    options: ['description'],
    async run({ adapters: { access } }, [name = ''], { description = null }) {
      requireName('the name', name);
      const org = await access.createOrg({ name, description });
      await record(access, 1, 'orgs create', `organisation ${org.id_org}`);
      return { text: `organisation ${org.id_org}`, json: org };
    },
  },
  'orgs list': {
    words: [],
    meaning: 'organisations',
    options: [],
    async run({ adapters: { access } }) {
      const orgs = await access.listOrgs();
      const rows = orgs.map((org) => [
        String(org.id_org),
        org.name,
        String(org.schema_count),
        String(org.job_count),
        time(org.created),
      ]);
      return { text: textTable(['ORG', 'NAME', 'SCHEMAS', 'JOBS', 'CREATED'], rows), json: orgs };
    },
  },
  'targets list': {
    words: [],
    meaning: 'SQL schemas of the metadata database that rows were loaded into',
    options: ['org'],
    async run({ adapters: { catalog } }, _, { org = '1' }) {
      const targets = await catalog.listTargetSchemas(number('--org', org, 1));
      const rows = targets.map(({ name, created }) => [name, time(created)]);
      return { text: textTable(['TARGET', 'CREATED'], rows), json: targets };
    },
  },
  'targets kinds': {
    words: [],
    meaning: 'the kinds of target, their drivers and transactions, and the versions they were tested with',
    options: [],
    async run() {
      const kinds = whatWasRunPlain();
      const rows = kinds.map((kind) => [kind.target, kind.driver, kind.transaction, kind.run_against]);
      return { text: textTable(['TARGET', 'DRIVER', 'TRANSACTION', 'RUN AGAINST'], rows), json: kinds };
    },
  },
  'targets remove': {
    words: ['NAME'],
    meaning: 'removes one with its rows',
    options: ['org'],
    async run({ adapters: { access, catalog } }, [name = ''], { org = '1' }) {
      const idOrg = number('--org', org, 1);
      if (!(await catalog.removeTargetSchema(idOrg, name)))
        throw new AppError('not_found', `organisation ${idOrg} has no target metadb:${name}`);
      await record(access, idOrg, 'targets remove', `metadb:${name}`);
      return { text: `metadb:${name} was removed`, json: { name } };
    },
  },
  audit: {
    words: [],
    meaning: 'who changed what',
    options: ['org', 'page', 'size'],
    async run({ adapters: { access } }, _, { org, page = '0', size = '50' }) {
      const idOrg = org === undefined ? null : number('--org', org, 1);
      const found = await access.listAudit(idOrg, number('--page', page, 0), number('--size', size, 1));
      const rows = found.content.map((line) => [
        time(line.at),
        String(line.idOrg),
        line.actor,
        line.action,
        line.status === null ? '' : String(line.status),
        line.subject ?? '',
      ]);
      return {
        text: textTable(['TIME', 'ORG', 'ACTOR', 'ACTION', 'STATUS', 'SUBJECT'], rows),
        json: found.content,
      };
    },
  },
};

function scopesOf(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  return names.map((name) => {
    const scope = allScopes.find((known) => known === name);
    if (scope === undefined)
      throw new UsageError(
        `--scopes: ${name === '' ? 'at least one' : name} must be one of ${allScopes.join(', ')}`,
      );
    return scope;
  });
}

/**
 * Parses the value of `--expires`: `90d` is 90 days from now, a date is the beginning of that day. Returns null for a key that never
 * expires.
 */
function expiryOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const at =
    days === undefined
      ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? text : '')
      : Date.now() + Number(days) * 86_400_000;
  if (!(at > Date.now()))
    throw new UsageError('--expires must be a number of days such as 90d, or a future date');
  return at;
}

/** A line of the audit log: who did it by hand. */
async function record(access: AccessStore, idOrg: number, action: string, subject: string): Promise<void> {
  let user = String(process.getuid?.() ?? 'unknown');
  try {
    user = userInfo().username;
  } catch {
    // a user id without an entry in the user database, as containers have
  }
  await access.recordAudit({
    idOrg,
    actor: `command line ${user}`,
    action,
    subject,
    status: null,
    requestId: null,
  });
}

// Credentials of remote inputs, equivalent to /v2/admin/credentials. Secrets come from standard input, which no list of processes shows.

export const credentialCommands: Readonly<Record<string, Command>> = {
  'credentials add': {
    words: ['NAME'],
    meaning:
      'the credential for --credential NAME, as JSON on the standard input: {"kind":"s3","access_key":…}',
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
      return { text: `credential ${name} was stored`, json: made };
    },
  },
  'credentials list': {
    words: [],
    meaning: 'the names and kinds of credentials',
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
      return { text: `credential ${name} was removed`, json: { name } };
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
