/** Builds the request of a watch's tool, as a person would write it, with the files of one job. */
import { AppError } from '../errors.ts';
import { parseExecution } from '../jobs/request/read-request.ts';
import type { WatchedFiles } from '../jobs/request/shape.ts';
import type { RequestItem, ToolRequest } from '../jobs/request/tool-request.ts';
import { findOption } from '../jobs/options/table.ts';
import { secretsOfAddresses } from '../jobs/request/known-secrets.ts';
import { createMask } from '../jobs/secrets/mask-secrets.ts';
import { rowServerOf } from './row-server.ts';

/** The sealed members of a watch: each of them may hold secrets. */
export interface WatchSecrets {
  readonly location: string;
  readonly target: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface BatchMembers extends WatchSecrets {
  readonly onError: 'fail' | 'skip';
  readonly credential: string | null;
}

/** Flags that a watch sets itself, with the member that replaces each. */
const decided: Readonly<Record<string, string>> = {
  '--from': 'is what location says',
  '--out': 'is what target says',
  '--origin': 'is what id_sch says',
  '--parent': 'is what on_drift says',
  '--use-stats': 'is what on_drift says',
  '--unmapped': 'is what on_drift says',
  '--on-drift': 'is what on_drift says',
  '--on-error': 'is what on_error says',
  '--credential': 'is what credential says',
  '--skip': 'saves nothing, and a watch loads each file once',
};

/**
 * The request of a job, `watched` its files; without them, as the watch itself is checked. AppErrors `unknown_option`,
 * `invalid_option`.
 */
export function watchRequest(
  { location, target, options, onError, credential }: BatchMembers,
  more: readonly RequestItem[] = [],
  watched?: WatchedFiles,
): ToolRequest {
  const items: RequestItem[] = [
    { pointer: '/location', flag: rowServerOf(location) === null ? null : '--from', value: location },
    { pointer: '/target', flag: '-o', value: target },
    ...optionItems(options),
    ...(credential === null ? [] : [{ pointer: '/credential', flag: '--credential', value: credential }]),
    ...(onError === 'skip' ? [{ pointer: '/on_error', flag: '--on-error', value: 'skip' }] : []),
    ...more,
  ];
  try {
    const request = parseExecution('xml2er', items, 0);
    checkModes(request);
    checkRows(request);
    return watched === undefined ? request : { ...request, watched };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, error.message, {
      errors: error.errors.map(({ pointer, detail }) => ({
        pointer: pointer.replace(/\/(?:command|value)$/, '').replace(/^\/executions\/0$/, '/options'),
        detail,
      })),
    });
  }
}

function checkModes({ saveMode, parseMode }: ToolRequest): void {
  if (saveMode !== 'append' && saveMode !== 'merge')
    throw refused(
      '-S',
      '-S a (append) and -S m (merge) are for watches: every other mode would leave files out, or take away what was loaded',
    );
  if (parseMode === 'statistics') throw refused('-e', '-e s loads nothing');
}

/** A watch of rows must continue from its mark: otherwise each look would load all rows again. */
function checkRows({ from, after }: ToolRequest): void {
  if (from === undefined) return;
  if (after === undefined)
    throw refused('--after', '--after COLUMN says which rows are new: a column that only grows');
  if (after.mark !== undefined)
    throw refused('--after', '--after COLUMN goes on where the watch has come to: leave the value out');
}

/** A document takes the place of the one of its key (`-S m`). */
export function replaces(options: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(options).some(
    ([flag, value]) => findOption('xml2er', flag, 'rest')?.long === '--savemode' && value === 'm',
  );
}

/** Returns whether the documents of files are removed when the files are gone. */
export function removesGone(options: Readonly<Record<string, unknown>>): boolean {
  return (options['--delete-missing'] ?? false) !== false;
}

function optionItems(options: Readonly<Record<string, unknown>>): RequestItem[] {
  return Object.entries(options).flatMap(([flag, value]): RequestItem[] => {
    const long = findOption('xml2er', flag, 'rest')?.long ?? flag;
    if (Object.hasOwn(decided, long)) throw refused(flag, `${flag} ${decided[long]!}`);
    const pointer = pointerOf(flag);
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    return values.flatMap((one): RequestItem[] => {
      if (one === false) return [];
      if (one === true || one === '' || one === null) return [{ pointer, flag }];
      if (typeof one === 'string' || typeof one === 'number') return [{ pointer, flag, value: String(one) }];
      throw refused(flag, `${flag} must be a text, a number, true, or a list of these`);
    });
  });
}

function pointerOf(flag: string): string {
  return `/options/${flag.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function refused(flag: string, detail: string): AppError {
  return new AppError('invalid_option', detail, { errors: [{ pointer: pointerOf(flag), detail }] });
}

const mask = '***';

function isPassword(flag: string): boolean {
  return findOption('xml2er', flag, 'rest')?.long === '--out-password';
}

/** Returns the secrets in the form that records show. */
export function shownSecrets({ location, target, options }: Required<WatchSecrets>): Required<WatchSecrets> {
  const passwords = Object.entries(options).flatMap(([flag, value]) =>
    isPassword(flag) && typeof value === 'string' && value.length >= 4 ? [value] : [],
  );
  const maskText = createMask([...secretsOfAddresses([location, target]), ...passwords]);
  return {
    location: maskText(location),
    target: maskText(target),
    options: Object.fromEntries(
      Object.entries(options).map(([flag, value]) => {
        if (isPassword(flag)) return [flag, mask];
        return [flag, typeof value === 'string' ? maskText(value) : shownList(value, maskText)];
      }),
    ),
  };
}

/** A setting of Spark may hold a secret, too. */
function shownList(value: unknown, maskText: (text: string) => string): unknown {
  return Array.isArray(value)
    ? (value as unknown[]).map((one) => (typeof one === 'string' ? maskText(one) : one))
    : value;
}
