/** Reads the request of the command `migrate`: words of a command line, or the file that the service passes. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { parseCloudLocation } from '../../transfer/cloud-location.ts';
import type { MetadbFields } from '../../transfer/metadata-database.ts';
import type { TransferCommand } from '../../ports/processes.ts';

const text = z.string().optional();
const addresses = z.array(z.string()).readonly().optional();

/** Members of the request file. Those of the service's own making come last. */
const requestFile = z.strictObject({
  origin_id: text,
  output_path: text,
  az_output_path: text,
  input_path: text,
  az_input_path: text,
  metadb_host: text,
  metadb_port: text,
  metadb_user: text,
  metadb_db: text,
  metadb_password: text,
  azcopy_binary: text,
  id_org: z.int().optional(),
  id_job: z.int().optional(),
  metadb_sslmode: text,
  /** the database may ask for the password as text or MD5 without TLS */
  metadb_plain_password: z.boolean().optional(),
  /** for the same user, if the server refuses `metadb_password` */
  metadb_own_password: text,
  /** addresses that were checked: the only ones to connect to */
  metadb_addresses: addresses,
  az_addresses: addresses,
});
export type ToolTransfer = Readonly<z.infer<typeof requestFile>>;

export interface TransferCall {
  readonly command: TransferCommand;
  readonly request: ToolTransfer;
}

export const transferUsage = `migrate export --request FILE        FILE holds the members of POST /v2/schema/export as JSON
migrate import --request FILE        ... of POST /v2/schema/import
migrate export -x ORIGIN -o FOLDER   the schema with all its versions, from the service's own database
migrate import -i FOLDER             what a package holds, under new ids
  --metadb-host HOST [--metadb-port N] [--metadb-user NAME] [--metadb-db NAME]
                                     another metadata database; PGPASSWORD is its password

A cloud location holds a token, which belongs into a file, not into a command line; so does metadb_password.
The last line of the output is the answer as JSON: {"error":false,"origin_ids":"12, 13"}`;

/** AppError `invalid_option` for an invalid call; the message never repeats a value of the file. */
export async function readTransferCall(argv: readonly string[]): Promise<TransferCall> {
  const [command, ...words] = argv;
  if (command !== 'export' && command !== 'import') throw wrong('the first word is export or import');
  const values = parseWords(words);
  if (values.request !== undefined && Object.keys(values).length > 1)
    throw wrong('--request takes everything from its file');
  const request =
    values.request !== undefined ? await readRequest(values.request) : fromWords(command, values);
  if (command === 'export') {
    if (!/^\d{1,16}$/.test(request.origin_id ?? ''))
      throw wrong('an export needs the digits of an origin id');
    if (!request.output_path === !request.az_output_path)
      throw wrong('an export needs exactly one of output_path and az_output_path');
  } else if (!request.input_path) throw wrong('an import needs input_path');
  return { command, request };
}

type Words = Readonly<Partial<Record<(typeof wordNames)[number], string>>>;

/** Members that other users of the machine would see in a command line: an error names the right place for them. */
const secretWords = ['az-output-path', 'az-input-path', 'metadb-password'] as const;
const databaseWords = ['metadb-host', 'metadb-port', 'metadb-user', 'metadb-db'] as const;
const wordNames = ['request', 'origin', 'out', 'in', ...databaseWords, ...secretWords] as const;

function parseWords(words: readonly string[]): Words {
  try {
    const letters: Readonly<Partial<Record<string, string>>> = { origin: 'x', out: 'o', in: 'i' };
    const options = wordNames.map((name) => {
      const short = letters[name];
      return [name, { type: 'string' as const, ...(short === undefined ? {} : { short }) }] as const;
    });
    return parseArgs({ args: [...words], options: Object.fromEntries(options) }).values as Words;
  } catch (error) {
    throw wrong((error as Error).message);
  }
}

function fromWords(command: TransferCommand, words: Words): ToolTransfer {
  const { origin, out, in: source } = words;
  const paths = [out, source].filter((path) => path !== undefined);
  if (words['metadb-password'] !== undefined)
    throw wrong('a password belongs into PGPASSWORD or the file of --request: every user would see it here');
  if (paths.some((path) => /^https?:/i.test(path)) || secretWords.some((name) => words[name] !== undefined))
    throw wrong('a cloud location belongs into the file of --request: its token would be seen by every user');
  const named = databaseWords.flatMap((name) =>
    words[name] === undefined ? [] : [[name.replaceAll('-', '_'), words[name]] as const],
  );
  const database: MetadbFields = Object.fromEntries(named);
  if (command === 'import')
    return { ...database, ...(source === undefined ? {} : { input_path: resolve(source) }) };
  return { ...database, origin_id: origin, ...(out === undefined ? {} : { output_path: resolve(out) }) };
}

async function readRequest(file: string): Promise<ToolTransfer> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(`the file of --request ${code === undefined ? 'is not JSON' : `cannot be read (${code})`}`);
  }
  const { data, error } = requestFile.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const member = issue!.code === 'unrecognized_keys' ? issue!.keys[0] : issue!.path[0];
  if (member === undefined) throw wrong('the file of --request holds no object');
  throw wrong(`the member ${JSON.stringify(member)} of the file is not known, or not of its type`);
}

/** Returns the secrets of a request, which no log and no record may contain. */
export function secretsOfTransfer(request: ToolTransfer): readonly string[] {
  const locations = [request.az_output_path, request.az_input_path].flatMap((text) => {
    const location = text ? parseCloudLocation(text) : { fault: '' };
    return 'fault' in location ? [] : location.secrets;
  });
  const passwords = [request.metadb_password, request.metadb_own_password];
  return [...locations, ...passwords.flatMap((text) => text || [])];
}

function wrong(detail: string): AppError {
  return new AppError('invalid_option', detail);
}
