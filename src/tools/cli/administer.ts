/** `conversion-job-service keys|orgs|audit …`: what /v2/admin does, for whoever may read the home folder; and the names of the other commands. */
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { issueKey } from '../../access/issue-key.ts';
import { readBuildInfo } from '../../adapters/server/build-info.ts';
import { ConfigError } from '../../config/properties.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { allScopes, type AccessStore, type Scope } from '../../ports/stores/access.ts';
import { openInstallation } from '../../runtime/open/installation.ts';
import { createTerminal } from './terminal.ts';
import { textTable } from './text-table.ts';

const usage = `conversion-job-service                the service, until SIGTERM: HOST, PORT and SVC_HOME in the environment
conversion-job-service worker         jobs alone, beside services that share the database and the files

conversion-job-service keys issue --name NAME --scopes SCOPE,… [--org ID] [--expires 90d|2027-01-31]
conversion-job-service keys list [--org ID]
conversion-job-service keys revoke ID
conversion-job-service orgs create NAME [--description TEXT]
conversion-job-service orgs list
conversion-job-service targets list [--org ID]
conversion-job-service targets remove NAME [--org ID]
conversion-job-service audit [--org ID] [--page N] [--size N]

--json prints JSON. Scopes: ${allScopes.join(', ')}.
Exit code: 0 done, 1 failed, 2 wrong usage.`;

const exitCodes = { completed: 0, failed: 1, usage: 2 } as const;

/** Wrong usage, in words. */
class UsageError extends Error {}

interface Options {
  readonly name?: string | undefined;
  readonly scopes?: string | undefined;
  readonly org?: string | undefined;
  readonly expires?: string | undefined;
  readonly description?: string | undefined;
  readonly page?: string | undefined;
  readonly size?: string | undefined;
  readonly json?: boolean | undefined;
}

/** What a command answers: for people, and as JSON. */
interface Answer {
  readonly text: string;
  readonly json: unknown;
}

type Stores = Pick<Adapters, 'access' | 'catalog'>;

type Command = (stores: Stores, words: readonly string[], options: Options) => Promise<Answer>;

const commands: Readonly<
  Record<string, { readonly words: number; readonly options: readonly string[]; run: Command }>
> = {
  'keys issue': {
    words: 0,
    options: ['name', 'scopes', 'org', 'expires'],
    async run({ access }, _, { name = '', scopes = '', org = '1', expires }) {
      if (name === '' || name.length > 200)
        throw new UsageError('--name is needed, with at most 200 characters');
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
    words: 0,
    options: ['org'],
    async run({ access }, _, { org }) {
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
    words: 1,
    options: [],
    async run({ access }, [idKey = '']) {
      if (!(await access.revoke(null, idKey))) throw new AppError('not_found', `there is no key ${idKey}`);
      await record(access, 1, 'keys revoke', `key ${idKey}`);
      return { text: `key ${idKey} has ended`, json: { id_key: idKey } };
    },
  },
  'orgs create': {
    words: 1,
    options: ['description'],
    async run({ access }, [name = ''], { description = null }) {
      if (name === '' || name.length > 200) throw new UsageError('the name has 1 to 200 characters');
      const org = await access.createOrg({ name, description });
      await record(access, 1, 'orgs create', `organisation ${org.id_org}`);
      return { text: `organisation ${org.id_org}`, json: org };
    },
  },
  'orgs list': {
    words: 0,
    options: [],
    async run({ access }) {
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
    words: 0,
    options: ['org'],
    async run({ catalog }, _, { org = '1' }) {
      const targets = await catalog.listTargetSchemas(number('--org', org, 1));
      const rows = targets.map(({ name, created }) => [name, time(created)]);
      return { text: textTable(['TARGET', 'CREATED'], rows), json: targets };
    },
  },
  'targets remove': {
    words: 1,
    options: ['org'],
    async run({ access, catalog }, [name = ''], { org = '1' }) {
      const idOrg = number('--org', org, 1);
      if (!(await catalog.removeTargetSchema(idOrg, name)))
        throw new AppError('not_found', `organisation ${idOrg} has no target metadb:${name}`);
      await record(access, idOrg, 'targets remove', `metadb:${name}`);
      return { text: `metadb:${name} is removed`, json: { name } };
    },
  },
  audit: {
    words: 0,
    options: ['org', 'page', 'size'],
    async run({ access }, _, { org, page = '0', size = '50' }) {
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

async function administer(argv: readonly string[]): Promise<number> {
  const terminal = createTerminal();
  if (argv.includes('--help') || argv.includes('-h')) {
    terminal.log(usage);
    return exitCodes.completed;
  }
  if (argv.length === 1 && argv[0] === '--version') {
    const { name, version } = await readBuildInfo();
    terminal.log(`${name} ${version}`);
    return exitCodes.completed;
  }
  try {
    const { command, words, options } = parseCommand(argv);
    const home = await openInstallation(process.env, { role: 'tool', write: () => undefined });
    try {
      const { text, json } = await command.run(home.adapters, words, options);
      terminal.log(options.json === true ? JSON.stringify(json) : text);
      return exitCodes.completed;
    } finally {
      await home.close();
    }
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(error.message);
      terminal.complain(usage);
      return exitCodes.usage;
    }
    if (!(error instanceof AppError) && !(error instanceof ConfigError)) throw error;
    terminal.complain(error.message);
    return exitCodes.failed;
  }
}

function parseCommand(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        name: text,
        scopes: text,
        org: text,
        expires: text,
        description: text,
        page: text,
        size: text,
        json: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { positionals, values } = parsed;
  const name = positionals[0] === 'audit' ? 'audit' : positionals.slice(0, 2).join(' ');
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command ${name}`);
  const words = positionals.slice(name.split(' ').length);
  if (words.length !== command.words) throw new UsageError(`${name} takes ${command.words} arguments`);
  const stranger = Object.keys(values).find(
    (option) => option !== 'json' && !command.options.includes(option),
  );
  if (stranger !== undefined) throw new UsageError(`${name} has no option --${stranger}`);
  return { command, words, options: values };
}

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

/** `90d` from now, or the beginning of a day; null for never. */
function expiryOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const at =
    days === undefined
      ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? text : '')
      : Date.now() + Number(days) * 86_400_000;
  if (!(at > Date.now()))
    throw new UsageError('--expires must be a number of days such as 90d, or a date to come');
  return at;
}

function number(option: string, text: string, min: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < min)
    throw new UsageError(`${option} must be a whole number from ${min} on`);
  return Number(text);
}

function time(at: number | null): string {
  return at === null ? '' : new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

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

process.exitCode = await administer(process.argv.slice(2));
