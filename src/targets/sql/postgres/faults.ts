/** Faults of a target and of its driver, in the words of the service: what was wrong and where, without values. */
import postgres from 'postgres';
import { AppError, isOutOfMemory, serverOutage } from '../../../errors.ts';
import { ServerFault } from '../../../adapters/postgres/client/server-fault.ts';

/** characters */
const longestReason = 2000;

const unreachable =
  /^(CONNECT|CONNECTION_|ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|COPY_IN_PROGRESS|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/** Codes of a TLS agreement that failed: a person has to change something. */
const tlsFaults = /^(?:ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/**
 * A fault of the target as an AppError that names it. `service_unavailable` may pass later; the others need another
 * request: `target_not_allowed`, `not_found`, `conflict`, `unprocessable_input`. Faults that are not the target's stay as they are.
 */
export function targetFault(error: unknown, label: string): unknown {
  if (error instanceof AppError) return error;
  const fault = (code: ConstructorParameters<typeof AppError>[0], text: string): AppError =>
    new AppError(code, `${label}: ${text}`, { cause: error });
  const passing = (text: string): AppError => fault('service_unavailable', text);
  const away = (text: string): AppError =>
    new AppError('service_unavailable', `${label}: ${text}`, {
      cause: error,
      outage: serverOutage(error, label),
    });
  if (error instanceof ServerFault) {
    const text = `the server ${error.message}`;
    return error.code === 'SERVER_FAULT' ? fault('unprocessable_input', text) : away(text);
  }
  if (!(error instanceof postgres.PostgresError)) {
    if (isOutOfMemory(error)) return error;
    if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
      const words = driverFaultWords(error);
      return fault('unprocessable_input', `the server does not answer as PostgreSQL does (${words})`);
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return unreachable.test(code)
      ? (tlsFaults.test(code) ? passing : away)(`the connection failed (${code})${connectionWords(code)}`)
      : error;
  }
  const { code: state = '' } = error;
  const message = shortened(error.message);
  const about = [message, error.detail && shortened(error.detail), locationOf(error)]
    .filter(Boolean)
    .join('; ');
  // the connection was lost, the server has no room or no connection left, starts, or shuts down
  if (/^(?:08|53|57P0[1-5]|25P03)/.test(state)) return away(about);
  if (/^(57|58)/.test(state) || ['40001', '40P01', '55P03', '55006'].includes(state)) {
    return fault('service_unavailable', about);
  }
  if (state.startsWith('28') || state === '42501') return fault('target_not_allowed', message);
  if (state === '3D000' || state === '3F000') return fault('not_found', message);
  if (/^(22|23)/.test(state))
    return fault('unprocessable_input', [message, locationOf(error)].filter(Boolean).join('; '));
  // something depends on what would have to change
  if (['2BP01', '0A000'].includes(state)) return fault('conflict', about);
  return fault('unprocessable_input', about);
}

/** What the codes of systems mean, and what to look at. */
function connectionWords(code: string): string {
  const words = faultWords.find(([pattern]) => pattern.test(code))?.[1];
  return words === undefined ? '' : `: ${words}`;
}

const faultWords: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'no server listens there; is it running, and are host and port right?'],
  [/^(ENOTFOUND|EAI_)/, 'no host of that name is known; is it spelt right?'],
  [/^(ETIMEDOUT|CONNECT_TIMEOUT)/, 'no answer in time; does a firewall stand between?'],
  [/^(EHOST|ENET)/, 'no way leads to that host; is the network right?'],
  [/^(ECONNRESET|EPIPE|CONNECTION_)/, 'the server ended the connection; its own log says why'],
  [
    /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/,
    'TLS was not agreed on; sslmode= says what is asked for',
  ],
];

/** The server chose its length; a failure is one line. */
function shortened(text: string | undefined): string {
  const known = text || 'it gave no reason';
  return known.length > longestReason ? `${known.slice(0, longestReason)}…` : known;
}

/** Line and column of a COPY, without the value. */
function locationOf(error: postgres.PostgresError): string | undefined {
  const match = /^COPY .*?, line (\d+)(?:, column (.*?))?(?::|$)/.exec(error.where ?? '');
  if (match !== null) return `row ${match[1]}${match[2] === undefined ? '' : `, column ${match[2]}`}`;
  return error.column_name === undefined ? undefined : `${error.table_name ?? ''}.${error.column_name}`;
}

/** characters */
const longestWords = 300;

/**
 * The kind of the fault, the module and line that it came from, and its words. Values stay out, as rows and passwords may be among
 * them: Node's messages end with the value that was `Received`, and those of what could not be read as JSON or as a number begin with it.
 */
function driverFaultWords(error: TypeError | RangeError | SyntaxError): string {
  const origin = originOf(error);
  const kind = origin === null ? error.name : `${error.name} in ${origin}`;
  if (error instanceof SyntaxError) return kind;
  const [line = ''] = error.message.split('\n');
  const words = line
    .replace(/\.? Received .*$/s, '')
    .trim()
    .slice(0, longestWords);
  return words === '' ? kind : `${kind}: ${words}`;
}

/** Package or folder, file and line of the first module of ours or of a package in the stack; null: there is none. */
function originOf({ stack = '' }: Error): string | null {
  const frame = /^ +at (?:.*\/node_modules|.*?\/src)\/((?:[\w@.-]+\/)*[\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m;
  return frame.exec(stack)?.[1] ?? null;
}
