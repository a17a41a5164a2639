/** The home folder: settings, files, logs, the embedded database and the keys (docs/decisions/service/home-folder.md). */
import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { writeNewFile } from '../storage/staging/durable-file.ts';
import { makeFolder } from '../storage/staging/folders.ts';
import { ConfigError } from '../config/wrong-settings.ts';
import { initialProperties } from '../config/java-properties.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Absolute paths. */
export interface Home {
  readonly directory: string;
  readonly propertiesFile: string;
  readonly filesDirectory: string;
  readonly logsDirectory: string;
  readonly databaseDirectory: string;
  readonly adminKeyFile: string;
  readonly metadbUrlFile: string;
  readonly secretKeyFile: string;
}

/** Returns `SVC_HOME`; without it, /var/lib/conversion-job-service for root, and the folder for user data for others. */
export function locateHome(environment: Environment): string {
  const given = environment['SVC_HOME'];
  if (given !== undefined && given !== '') return resolve(given);
  if (process.getuid?.() === 0) return '/var/lib/conversion-job-service';
  const data = environment['XDG_DATA_HOME'];
  // The XDG specification: a relative path is invalid and to be ignored
  const base =
    data !== undefined && isAbsolute(data) ? data : join(environment['HOME'] || homedir(), '.local', 'share');
  return join(base, 'conversion-job-service');
}

/** Creates the missing parts of the folder, and at the first start the file of settings. */
export async function openHomeFolder(directory: string): Promise<Home> {
  const home: Home = {
    directory,
    propertiesFile: join(directory, 'conf', 'backend.properties'),
    filesDirectory: join(directory, 'files'),
    logsDirectory: join(directory, 'logs'),
    databaseDirectory: join(directory, 'db'),
    adminKeyFile: join(directory, 'admin.key'),
    metadbUrlFile: join(directory, 'metadb.url'),
    secretKeyFile: join(directory, 'secret.key'),
  };
  try {
    await makeFolder(directory, 0o700);
    for (const folder of [join(directory, 'conf'), home.filesDirectory, home.logsDirectory])
      await makeFolder(folder, 0o700);
    await createFile(home.propertiesFile, initialProperties());
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigError([`SVC_HOME: the home folder ${directory} cannot be made or written (${reason})`]);
  }
  return home;
}

/** Writes a file that only its owner may read: completely or not at all, replacing an existing one. */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  const part = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeNewFile(part, content);
  await rename(part, file);
  await chmod(file, 0o600);
}

/** Returns null if there is no such file. */
export async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function createFile(file: string, content: string): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(content);
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
