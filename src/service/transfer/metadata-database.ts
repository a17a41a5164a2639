/** Determines which metadata database a transfer uses, and whose password is sent there (docs/decisions/service/packages.md). */
import { type OutgoingGuard, isLoopback, parseAddress } from '../access/outgoing-guard.ts';
import { AppError } from '../../errors.ts';
import { isHostAllowed } from '../jobs/request/target.ts';
import type { MetadataDatabase, TransferProgram, TransferRequest } from '../../ports/processes.ts';

/** Members of a request; absent and '' say nothing. Their form was checked. */
export interface MetadbFields {
  readonly metadb_host?: string;
  readonly metadb_port?: string;
  readonly metadb_user?: string;
  readonly metadb_db?: string;
  readonly metadb_password?: string;
}

export interface ChosenDatabase {
  /** the service's own: ids of its jobs and organisations mean something there */
  readonly own: boolean;
  /** members of the request file */
  readonly fields: TransferRequest;
  readonly secrets: readonly string[];
}

/** The hosts to which the operator's passwords may be sent. A `Config` is one. */
export interface PasswordSettings {
  readonly allowedHosts: readonly string[];
  readonly plainPasswordHosts: readonly string[];
  readonly migration: { readonly passwordHosts: readonly string[] };
}

const defaultPort = 5432;

/**
 * Chooses the database of a transfer. The service's own database is reached as its settings say; any other host needs the operator's
 * permission, and is reached at its checked addresses. The default password is PGPASSWORD of the service, for hosts that
 * `svc.allow.hosts` names in full, otherwise the service's own, for those of `svc.migration.password_hosts`; both are sent over TLS
 * alone. AppError `host_not_allowed`; `forbidden` if the service's own password would open another database for an organisation other
 * than the operator's, because someone else assigns the numbers of organisations there.
 */
export async function chooseDatabase(
  asked: MetadbFields,
  idOrg: number,
  program: Pick<TransferProgram, 'ownDatabase' | 'environmentPassword'>,
  guard: OutgoingGuard,
  settings: PasswordSettings,
): Promise<ChosenDatabase> {
  const own = program.ownDatabase;
  const host = asked.metadb_host ? hostForm(asked.metadb_host) : own.host;
  const port = asked.metadb_port ? Number(asked.metadb_port) : asked.metadb_host ? defaultPort : own.port;
  const database = asked.metadb_db || own.database;
  const ownServer = host === own.host && port === own.port;
  const isOwn = ownServer && database === own.database;
  const checked = ownServer ? null : await guard.check(host, port);
  if (!isOwn && !asked.metadb_password && idOrg !== operatorsOrg)
    throw new AppError('forbidden', 'another metadata database needs a metadb_password of its own');
  const user = asked.metadb_user || own.user;
  const environments =
    ownServer || inFull(settings.allowedHosts, host, port) ? program.environmentPassword : null;
  const services = ownServer || inFull(settings.migration.passwordHosts, host, port) ? own.password : null;
  const password = asked.metadb_password || (environments ?? services);
  const isPlainAllowed = isHostAllowed(settings.plainPasswordHosts, host, port);
  const mayBeRead = isPlainAllowed || isThisMachine(host) || asked.metadb_password || password === null;
  const operators = environments === null ? 'verify-full' : 'require';
  const sslMode = ownServer ? own.sslMode : mayBeRead ? 'prefer' : operators;
  // PGPASSWORD may be meant for another database: the service gets in here by the password of its settings
  const second = ownServer && user === own.user && !asked.metadb_password && own.password !== password;
  const known = [password, second ? own.password : null].filter((text) => text !== null);
  return {
    own: isOwn,
    fields: {
      metadb_host: host.replaceAll(/^\[|\]$/g, ''),
      metadb_port: String(port),
      metadb_user: user,
      metadb_db: database,
      ...(password === null ? {} : { metadb_password: password }),
      ...(second && own.password !== null ? { metadb_own_password: own.password } : {}),
      metadb_sslmode: sslMode,
      ...(isPlainAllowed ? { metadb_plain_password: true } : {}),
      ...(checked === null ? {} : { metadb_addresses: checked.addresses }),
    },
    secrets: known.flatMap((text) => [text, encodeURIComponent(text)]),
  };
}

/** The operator of the service is organisation 1, as with the folders of `svc.files.roots`. */
const operatorsOrg = 1;

/** Lower case, IPv6 in brackets, as the settings have it. */
function hostForm(host: string): string {
  const lower = host.toLowerCase();
  return lower.includes(':') && !lower.startsWith('[') ? `[${lower}]` : lower;
}

function isThisMachine(host: string): boolean {
  const address = parseAddress(host);
  return host === 'localhost' || (address !== null && isLoopback(address));
}

function inFull(allowedHosts: readonly string[], host: string, port: number): boolean {
  return allowedHosts.some((entry) => entry === host || entry === `${host}:${port}`);
}

/** Returns the database of a run by hand: the fields as given, none of them refused. */
export function databaseOf(fields: MetadbFields & { readonly metadb_host: string }): MetadataDatabase {
  return {
    host: hostForm(fields.metadb_host),
    port: Number(fields.metadb_port || defaultPort),
    user: fields.metadb_user || 'postgres',
    database: fields.metadb_db || fields.metadb_user || 'postgres',
    password: fields.metadb_password || null,
    sslMode: 'prefer',
  };
}
