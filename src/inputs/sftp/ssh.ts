/**
 * Runs the system's ssh, which connects to a server and authenticates both sides: no host is mistaken for another, and no secret is an
 * argument of a command.
 */
import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../errors.ts';
import { openSession, type SftpSession } from './session.ts';

export interface SftpAddress {
  /** host as the user wrote it, in lower case, IPv6 in brackets: the name under which its key is known */
  readonly host: string;
  readonly port: number;
  /** the only ones to connect to, in the order to try them */
  readonly addresses: readonly string[];
  readonly user: string;
  readonly password: string | null;
  /** a private key, or a file that holds one */
  readonly key: string | null;
  readonly keyFile: string | null;
  /** `ssh-ed25519 AAAA…`; null: as known_hosts of this user has it */
  readonly hostKey: string | null;
  /** used if none of these is given: the keys and the agent of the current user (true), or nothing (false) */
  readonly ownKeys: boolean;
  /** a private folder for the files that ssh reads; each is removed once the session is open */
  readonly scratch: string;
  /** name for messages */
  readonly label: string;
}

export interface OpenSftp {
  readonly session: SftpSession;
  /** Rejects when the connection has ended, with its reason. */
  readonly ended: Promise<never>;
  close(): void;
}

/** silence of a server that owes an answer, after which the connection is given up */
const idleMs = 30_000;
/** Script that prints the content of the pipe beside it: the password is in no file, and in no environment. */
const askpass = '#!/bin/sh\nIFS= read -r password <"${0%/*}/password" && printf \'%s\\n\' "$password"\n';
/** ssh may ask more than once, by several methods */
const maxAsked = 3;

/**
 * AppErrors: `service_unavailable` if the server cannot be reached now, `unprocessable_input` if its key differs or it refuses the
 * login.
 */
export async function openSftp(address: SftpAddress, signal: AbortSignal): Promise<OpenSftp> {
  let last: unknown = null;
  for (const to of address.addresses)
    try {
      return await connect(address, to, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError) || error.code !== 'service_unavailable') throw error;
      last = error;
    }
  throw last;
}

async function connect(address: SftpAddress, to: string, signal: AbortSignal): Promise<OpenSftp> {
  const { label } = address;
  await mkdir(address.scratch, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(address.scratch, 'ssh-'));
  let pipe: FileHandle | null = null;
  try {
    const { argv, environment } = await prepare(address, to, folder);
    if (address.password !== null)
      pipe = await passwordPipe(join(folder, 'password'), address.password, label);
    const child = spawn('ssh', argv, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
    const stop = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', stop);
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-4096)));
    let timer: NodeJS.Timeout | undefined;
    const alive = (): void => void (timer?.refresh() ?? (timer = setTimeout(stop, idleMs)));
    const ended = new Promise<never>((_, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => reject(missing(error, label, 'ssh')));
      child.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        reject(reasonOf(complaints, label));
      });
    });
    // the fault is reported to new callers, and to pending requests
    ended.catch(() => undefined);
    alive();
    const session = await openSession(child.stdout, child.stdin, ended, alive).catch((error: unknown) => {
      stop();
      throw error;
    });
    return { session, ended, close: stop };
  } finally {
    await pipe?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens a named pipe that only this user may read; its content is gone when it is closed. */
async function passwordPipe(path: string, password: string, label: string): Promise<FileHandle> {
  await promisify(execFile)('mkfifo', ['-m', '600', path]).catch((error: NodeJS.ErrnoException) => {
    throw missing(error, label, 'mkfifo');
  });
  // opened for reading and writing, so that opening does not block
  const pipe = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  await pipe.write(`${password}\n`.repeat(maxAsked));
  return pipe;
}

async function prepare(
  address: SftpAddress,
  to: string,
  folder: string,
): Promise<{ readonly argv: readonly string[]; readonly environment: NodeJS.ProcessEnv }> {
  const { host, port, user, password, key, keyFile, hostKey, ownKeys } = address;
  const alias =
    port === 22 ? host.replaceAll(/^\[|\]$/g, '') : `[${host.replaceAll(/^\[|\]$/g, '')}]:${port}`;
  const settings: Record<string, string> = {
    User: user,
    Port: String(port),
    HostName: to,
    HostKeyAlias: alias,
    StrictHostKeyChecking: 'yes',
    CheckHostIP: 'no',
    UpdateHostKeys: 'no',
    ConnectTimeout: '10',
    ServerAliveInterval: '10',
    ServerAliveCountMax: '3',
    ClearAllForwardings: 'yes',
    PermitLocalCommand: 'no',
    ControlPath: 'none',
    LogLevel: 'ERROR',
    BatchMode: password === null ? 'yes' : 'no',
    NumberOfPasswordPrompts: '1',
  };
  const environment: NodeJS.ProcessEnv = { PATH: process.env['PATH'], LANG: 'C' };
  if (hostKey !== null) {
    const known = join(folder, 'known_hosts');
    await writeFile(known, `${alias} ${hostKey}\n`, { mode: 0o600 });
    Object.assign(settings, { UserKnownHostsFile: path(known), GlobalKnownHostsFile: '/dev/null' });
  }
  let identity = keyFile;
  if (key !== null) {
    identity = join(folder, 'key');
    await writeFile(identity, key.endsWith('\n') ? key : `${key}\n`, { mode: 0o600 });
  }
  if (password !== null) {
    const program = join(folder, 'askpass');
    await writeFile(program, askpass, { mode: 0o700 });
    Object.assign(settings, { PubkeyAuthentication: identity === null ? 'no' : 'yes' });
    Object.assign(environment, {
      SSH_ASKPASS: program,
      SSH_ASKPASS_REQUIRE: 'force',
      DISPLAY: 'none',
    });
  }
  if (identity !== null || !ownKeys)
    Object.assign(settings, {
      IdentityAgent: 'none',
      IdentitiesOnly: 'yes',
      IdentityFile: identity === null ? 'none' : path(identity),
    });
  else environment['SSH_AUTH_SOCK'] = process.env['SSH_AUTH_SOCK'];
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${quoted(value)}`]);
  // settings of the current user could connect to another server
  return { argv: ['-F', 'none', '-T', '-x', '-a', ...options, '-s', '--', 'server', 'sftp'], environment };
}

/** A word as in ssh_config. */
function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Escapes %, with which ssh begins placeholders in paths. */
function path(name: string): string {
  return name.replaceAll('%', '%%');
}

/** Packages of Debian that have them, by program. */
const packages = { ssh: 'openssh-client', mkfifo: 'coreutils' } as const;

function missing(error: NodeJS.ErrnoException, label: string, program: keyof typeof packages): unknown {
  if (error.code !== 'ENOENT') return error;
  return new AppError(
    'unprocessable_input',
    `${label}: the program ${program} is needed but not installed; install it (Debian: ${packages[program]})`,
  );
}

const reasons: readonly (readonly [RegExp, 'service_unavailable' | 'unprocessable_input', string])[] = [
  [
    /Host key verification failed|host key is known|HOST IDENTIFICATION HAS CHANGED/i,
    'unprocessable_input',
    'the host key of the server is unknown or differs from the known one: set host_key of its credential or source, or add the key to known_hosts of the user that runs this (ssh-keyscan -p PORT HOST prints it)',
  ],
  [
    /Permission denied|Too many authentication failures|no such identity|Load key|invalid format|UNPROTECTED/i,
    'unprocessable_input',
    'the server refuses this login: check the user, password and key of its credential or source',
  ],
  [/subsystem request failed/i, 'unprocessable_input', 'the server has no SFTP'],
  [
    /no matching|unsupported/i,
    'unprocessable_input',
    'ssh and the server have no algorithm in common; the server is too old',
  ],
];

/** Returns an AppError for a complaint of ssh, without repeating any text of the server. */
function reasonOf(complaints: string, label: string): AppError {
  const known = reasons.find(([pattern]) => pattern.test(complaints));
  if (known !== undefined) return new AppError(known[1], `${label}: ${known[2]}`);
  const why = /refused/i.test(complaints)
    ? 'no server listens there'
    : /timed out|Timeout/i.test(complaints)
      ? 'no answer in time'
      : 'the connection ended';
  return new AppError('service_unavailable', `${label}: cannot be reached now (${why})`);
}
