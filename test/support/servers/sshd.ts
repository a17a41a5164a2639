/** A server of SFTP for tests: OpenSSH's own, as an ordinary process on a port of this machine, for the user that runs the tests. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programOf } from '../needs.ts';
import { eventually } from '../service/waiting.ts';
import { freePort } from '../free-port.ts';

const run = promisify(execFile);

export interface TestSshd {
  readonly port: number;
  readonly user: string;
  /** of the private key that it lets in */
  readonly keyFile: string;
  /** `ssh-ed25519 AAAA…` */
  readonly hostKey: string;
  stop(): Promise<void>;
}

export async function startSshd(): Promise<TestSshd> {
  const home = await mkdtemp(join(tmpdir(), 'sshd-'));
  await chmod(home, 0o700);
  const [hostFile, keyFile] = [join(home, 'host'), join(home, 'key')];
  for (const file of [hostFile, keyFile])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  // where sshd of root keeps its unprivileged half
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: hostFile,
    AuthorizedKeysFile: `${keyFile}.pub`,
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'yes',
    MaxStartups: 100,
    LogLevel: 'ERROR',
    Subsystem: 'sftp internal-sftp',
  };
  const config = join(home, 'sshd_config');
  await writeFile(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  );
  const child = spawn(programOf('sshd')!, ['-D', '-e', '-f', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  try {
    await eventually('sshd answers', () => greeting(child, port, () => complaints));
  } catch (error) {
    await stop();
    throw error;
  }
  const [kind, key] = (await readFile(`${hostFile}.pub`, 'utf8')).split(' ');
  return { port, user: userInfo().username, keyFile, hostKey: `${kind} ${key}`, stop };
}

/** Whether it answers. */
async function greeting(child: ChildProcess, port: number, complaints: () => string): Promise<true | null> {
  if (child.exitCode !== null) throw new Error(`sshd has ended: ${complaints()}`);
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString().startsWith('SSH-2.0') ? true : null));
    socket.once('error', () => resolve(null));
    socket.once('close', () => resolve(null));
  }).finally(() => socket.destroy()) as Promise<true | null>;
}
