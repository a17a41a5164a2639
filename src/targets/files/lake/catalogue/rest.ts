/**
 * The REST interface of a catalogue of Iceberg tables: its capabilities, its namespace, its tables, and the conversion of a metadata change
 * to updates (Iceberg REST catalog API, `CommitTableRequest`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';
import { isObject, parsed, exactText, parseExact, isList } from '../../json.ts';
import type { Schema, Snapshot, TableMetadata } from '../iceberg/shape.ts';
import { currentSnapshot } from '../iceberg/metadata.ts';
import type { NextTableVersion } from '../table-format.ts';

// Requests: addresses, retries, and errors as AppErrors.

/** Sends one request to an allowed host. Redirects are returned, not followed. */
export type CatalogueTransport = (
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Response>;

interface CatalogueRequest {
  readonly method: 'GET' | 'POST';
  /** the path below the address, beginning with `v1/` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** statuses from 300 on that the caller handles */
  readonly understood?: readonly number[];
}

interface CatalogueAnswer {
  readonly status: number;
  /** `type` of an error, such as `NoSuchTableException`; '' if there is none */
  readonly fault: string;
  /** null if there is no body */
  readonly body: unknown;
}

interface CatalogueRequests {
  /**
   * Sends a request with retries. AppErrors: `target_not_allowed` if the catalogue refuses it, `service_unavailable` if it does not answer.
   */
  send(request: CatalogueRequest): Promise<CatalogueAnswer>;
  /** Sends a request once; returns null if its outcome is unknown. */
  sendOnce(request: CatalogueRequest): Promise<CatalogueAnswer | null>;
}

const tries = 5;
const firstPauseMs = 200;
/** the maximum bytes of a response: metadata of a table with very many snapshots */
const maxBytes = 256 * 1024 * 1024;
/** the server has done nothing yet: any request can be sent again */
const notBegun: ReadonlySet<number> = new Set([429]);
const notKnown = (status: number): boolean => status >= 500 && status !== 501;

/** `address`: without a trailing '/'. `label`: the target, for people. */
export function createCatalogueRequests(
  address: string,
  login: CatalogueLogin,
  label: string,
  transport: CatalogueTransport,
): CatalogueRequests {
  const tokens = createTokens(login, label, async (form) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' };
    const url = new URL(`${address}/v1/oauth/tokens`);
    return retried(async () => {
      const answer = await transport('POST', url, headers, form.toString());
      return { status: answer.status, text: await textOf(answer) };
    });
  });

  async function attempt({ method, path, query, body }: CatalogueRequest): Promise<CatalogueAnswer> {
    const url = new URL(`${address}/${path}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    for (let isLast = false; ; isLast = true) {
      const authorization = await tokens.header();
      const headers: Record<string, string> = {
        Accept: 'application/json',
        'X-Iceberg-Access-Delegation': 'vended-credentials',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(authorization === null ? {} : { Authorization: authorization }),
      };
      const answer = await transport(method, url, headers, body === undefined ? undefined : exactText(body));
      const text = await textOf(answer);
      // the token has expired meanwhile
      if ((answer.status === 401 || answer.status === 419) && !isLast && tokens.renew()) continue;
      return answerOf(answer.status, text);
    }
  }

  async function retried<T extends { readonly status: number }>(work: () => Promise<T>): Promise<T> {
    for (let number = 1; ; number += 1) {
      let fault: unknown = null;
      try {
        const answer = await work();
        if (number === tries || !(notKnown(answer.status) || notBegun.has(answer.status))) return answer;
      } catch (error) {
        if (error instanceof AppError) throw error;
        fault = error;
      }
      if (number === tries && fault !== null) throw unreachable(label, fault);
      await sleep(firstPauseMs * 2 ** (number - 1));
    }
  }

  const understand = (request: CatalogueRequest, answer: CatalogueAnswer): CatalogueAnswer => {
    const { status } = answer;
    if ((status >= 200 && status < 300) || request.understood?.includes(status) === true) return answer;
    throw refusal(label, answer, tokens.secrets());
  };

  return {
    send: async (request) => understand(request, await retried(() => attempt(request))),
    sendOnce: async (request) => {
      for (let number = 1; ; number += 1) {
        let answer: CatalogueAnswer;
        try {
          answer = await attempt(request);
        } catch (error) {
          if (error instanceof AppError) throw error;
          return null;
        }
        if (notKnown(answer.status)) return null;
        if (!notBegun.has(answer.status) || number === tries) return understand(request, answer);
        await sleep(firstPauseMs * 2 ** (number - 1));
      }
    },
  };
}

function answerOf(status: number, text: string): CatalogueAnswer {
  let body: unknown = null;
  try {
    body = text === '' ? null : parseExact(text);
  } catch {
    // for an error the status is enough; a success needs no such body
  }
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  return { status, fault: typeof error['type'] === 'string' ? error['type'] : '', body };
}

async function textOf(answer: Response): Promise<string> {
  let text = '';
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxBytes)
      throw new AppError(
        'target_not_allowed',
        'the response of the catalogue is larger than the metadata of any table',
      );
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

function refusal(
  label: string,
  { status, fault, body }: CatalogueAnswer,
  secrets: readonly string[],
): AppError {
  if (status >= 300 && status < 400)
    return new AppError(
      'target_not_allowed',
      `${label}: the catalogue redirects (status ${status}); name the address that it redirects to`,
    );
  if (status === 401 || status === 403 || status === 419)
    return new AppError(
      'target_not_allowed',
      `${label}: the catalogue refuses these credentials (status ${status}${told()}); give a token (-p TOKEN), a client and its secret (-u CLIENT -p SECRET), or --credential NAME, or let the operator set a source`,
    );
  if (status >= 500 || status === 429)
    return new AppError(
      'service_unavailable',
      `${label}: the catalogue cannot be used now (status ${status})`,
      { outage: { of: 'server', label } },
    );
  if (status === 404)
    return new AppError('not_found', `${label}: the catalogue has no such namespace or table${told()}`);
  if (status === 409) return new AppError('conflict', `${label}: the catalogue reports a conflict${told()}`);
  return new AppError('target_not_allowed', `${label}: the catalogue refuses (status ${status}${told()})`);

  /** the catalogue's message, without secrets */
  function told(): string {
    const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
    const message = typeof error['message'] === 'string' ? error['message'] : '';
    if (message === '') return fault === '' ? '' : `: ${fault.slice(0, 80)}`;
    const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message);
    return `: ${clean.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 300)}`;
  }
}

/** Returns the error for a failed connection. The message `fetch failed` says nothing, but its cause does. */
function unreachable(label: string, error: unknown): AppError {
  const { code, cause, name } = error as { code?: unknown; cause?: { code?: unknown }; name?: string };
  const why = code ?? cause?.code ?? name;
  return new AppError('service_unavailable', `${label}: the catalogue does not answer (${String(why)})`, {
    cause: error,
    outage: { of: 'server', label },
  });
}

export type CatalogueLogin =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'client'; readonly id: string; readonly secret: string };

/** Sends a form to the catalogue's own token endpoint. */
type AskForToken = (form: URLSearchParams) => Promise<{ readonly status: number; readonly text: string }>;

interface CatalogueTokens {
  /** Returns the value of the `Authorization` header; null if there is none. */
  header(): Promise<string | null>;
  /** Returns whether a rejected token can be replaced by a new one. */
  renew(): boolean;
  /** the secrets that no message may contain */
  secrets(): readonly string[];
}

/** Polaris accepts only the scopes of its roles. */
const scopes = ['catalog', 'PRINCIPAL_ROLE:ALL'] as const;
/** a token is no longer used this long before it expires */
const marginMs = 30_000;

function createTokens(login: CatalogueLogin, label: string, ask: AskForToken): CatalogueTokens {
  if (login.kind !== 'client')
    return {
      header: () => Promise.resolve(login.kind === 'token' ? `Bearer ${login.token}` : null),
      renew: () => false,
      secrets: () => (login.kind === 'token' ? [login.token] : []),
    };
  const given = new Set([login.secret]);
  let current: Promise<{ readonly token: string; readonly until: number }> | null = null;
  let scopeAt = 0;

  const fetchToken = async (): Promise<{ readonly token: string; readonly until: number }> => {
    for (;;) {
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: login.id,
        client_secret: login.secret,
        scope: scopes[scopeAt]!,
      });
      const { status, text } = await ask(form);
      const answer = parsed<unknown>(text);
      const told = isObject(answer) ? answer : {};
      const { access_token: token, expires_in: seconds, error } = told;
      if (status === 200 && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) {
        given.add(token);
        const lastsMs = typeof seconds === 'number' ? seconds * 1000 : Infinity;
        return { token, until: Date.now() + Math.max(lastsMs - marginMs, lastsMs / 2) };
      }
      if (error === 'invalid_scope' && scopeAt + 1 < scopes.length) scopeAt += 1;
      else
        throw new AppError(
          status >= 500 ? 'service_unavailable' : 'target_not_allowed',
          `${label}: the catalogue gives no token for the client ${login.id} (status ${status}${typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? `, ${error}` : ''}); check -u CLIENT and -p SECRET, or give a token with -p TOKEN`,
        );
    }
  };

  return {
    header: async () => {
      if (current !== null && Date.now() > (await current).until) current = null;
      current ??= fetchToken().catch((error: unknown) => {
        current = null;
        throw error;
      });
      return `Bearer ${(await current).token}`;
    },
    renew: () => {
      current = null;
      return true;
    },
    secrets: () => [...given],
  };
}

// The operations on namespaces and tables.

export interface CatalogueNamespace {
  readonly warehouse: string | null;
  /** the levels of the namespace, the outermost first */
  readonly namespace: readonly string[];
  /** the target, for people */
  readonly label: string;
}

/** The catalogue's answer for one table. */
export interface LoadedTable {
  readonly metadata: unknown;
  /** the options for access to its files, as far as the catalogue gives them */
  readonly config: Readonly<Record<string, string>>;
  /** for locations with this prefix */
  readonly credentials: readonly {
    readonly prefix: string;
    readonly config: Readonly<Record<string, string>>;
  }[];
}

export interface TableUpdate {
  readonly name: string;
  readonly requirements: readonly object[];
  readonly updates: readonly object[];
}

/** `unknown`: the outcome is not known. */
export type CommitOutcome = 'done' | 'conflict' | 'unsupported' | 'unknown';

export interface RestCatalogue {
  /** null: there is no such table or namespace */
  loadTable(name: string): Promise<LoadedTable | null>;
  /** Creates the namespace unless it exists. */
  makeNamespace(): Promise<void>;
  /** Creates a table without rows; an existing table is kept. */
  makeTable(name: string, schema: Schema, properties: Readonly<Record<string, string>>): Promise<void>;
  /** Returns whether the catalogue changes several tables at once; null if it does not say. */
  isTogether(): Promise<boolean | null>;
  commitTable(update: TableUpdate): Promise<CommitOutcome>;
  /** Commits all updates or none. */
  commitTogether(updates: readonly TableUpdate[]): Promise<CommitOutcome>;
}

const transaction = 'POST /v1/{prefix}/transactions/commit';
const unsupported: ReadonlySet<number> = new Set([405, 406, 501]);

interface Settings {
  /** `v1` or `v1/PREFIX` */
  readonly base: string;
  readonly properties: Readonly<Record<string, string>>;
  /** null: the catalogue does not list them */
  readonly endpoints: readonly string[] | null;
}

export function createRestCatalogue(
  { send, sendOnce }: CatalogueRequests,
  address: string,
  { warehouse, namespace, label }: CatalogueNamespace,
): RestCatalogue {
  let settings: Promise<Settings> | null = null;
  const config = (): Promise<Settings> => (settings ??= readSettings());

  async function readSettings(): Promise<Settings> {
    const { body } = await send({
      method: 'GET',
      path: 'v1/config',
      ...(warehouse === null ? {} : { query: { warehouse } }),
    });
    const told = isObject(body) ? body : {};
    const properties = { ...texts(told['defaults']), ...texts(told['overrides']) };
    const elsewhere = properties['uri'];
    if (elsewhere !== undefined && URL.parse(elsewhere)?.origin !== new URL(address).origin)
      throw new AppError(
        'target_not_allowed',
        `${label}: the catalogue reports another host as its own address; name that address`,
      );
    const prefix = properties['prefix'] ?? '';
    const { endpoints } = told;
    return {
      base: prefix === '' ? 'v1' : `v1/${prefix.split('/').map(encodeURIComponent).join('/')}`,
      properties,
      endpoints: isList(endpoints, (one) => typeof one === 'string') ? (endpoints as string[]) : null,
    };
  }

  const spaces = async (): Promise<string> => `${(await config()).base}/namespaces`;
  const space = async (): Promise<string> =>
    `${await spaces()}/${encodeURIComponent(namespace.join('\u001F'))}`;
  const tableAt = async (name: string): Promise<string> =>
    `${await space()}/tables/${encodeURIComponent(name)}`;
  const changeOf = ({ name, requirements, updates }: TableUpdate): object => ({
    identifier: { namespace, name },
    requirements,
    updates,
  });

  async function commit(request: CatalogueRequest): Promise<CommitOutcome> {
    const answer = await sendOnce({ ...request, understood: [400, 404, 409, ...unsupported] });
    if (answer === null) return 'unknown';
    if (answer.status < 300) return 'done';
    if (answer.status === 409) return 'conflict';
    if (isUnsupported(answer)) return 'unsupported';
    if (answer.status === 404)
      throw new AppError(
        'conflict',
        `${label}: another program removed a table from the catalogue while a job was being published; register its newest metadata again, or use another namespace.`,
      );
    throw new AppError('target_not_allowed', `${label}: the catalogue refuses a change${messageOf(answer)}`);
  }

  return {
    async loadTable(name) {
      const answer = await send({ method: 'GET', path: await tableAt(name), understood: [404] });
      if (answer.status === 404) {
        const isTold = answer.fault === '' || /^NoSuch(?:Table|Namespace)/.test(answer.fault);
        if (isTold) return null;
        throw new AppError(
          'not_found',
          `${label}: the catalogue has no such namespace or table${messageOf(answer)}`,
        );
      }
      const body = isObject(answer.body) ? answer.body : {};
      const { properties } = await config();
      return {
        metadata: body['metadata'],
        config: { ...properties, ...texts(body['config']) },
        credentials: credentialsIn(body['storage-credentials']),
      };
    },

    async makeNamespace() {
      const found = await send({ method: 'GET', path: await space(), understood: [404] });
      if (found.status !== 404) return;
      for (let levels = 1; levels <= namespace.length; levels += 1)
        await send({
          method: 'POST',
          path: await spaces(),
          body: { namespace: namespace.slice(0, levels), properties: {} },
          // it exists already
          understood: [409],
        });
    },

    async makeTable(name, schema, properties) {
      await send({
        method: 'POST',
        path: `${await space()}/tables`,
        body: {
          name,
          schema,
          'partition-spec': { 'spec-id': 0, fields: [] },
          'write-order': { 'order-id': 0, fields: [] },
          'stage-create': false,
          properties,
        },
        understood: [409],
      });
    },

    async isTogether() {
      const { endpoints } = await config();
      return endpoints?.some((one) => one.replace(/ \/?/, ' /') === transaction) ?? null;
    },

    async commitTable(update) {
      return commit({ method: 'POST', path: await tableAt(update.name), body: changeOf(update) });
    },

    async commitTogether(updates) {
      return commit({
        method: 'POST',
        path: `${(await config()).base}/transactions/commit`,
        body: { 'table-changes': updates.map(changeOf) },
      });
    },
  };
}

/** Returns whether the server lacks the operation, or does not support it for such tables. */
function isUnsupported({ status, fault }: CatalogueAnswer): boolean {
  return (
    unsupported.has(status) ||
    (status === 400 && fault === 'UnsupportedOperationException') ||
    (status === 404 && !/^NoSuch(?:Table|Namespace|Warehouse)/.test(fault))
  );
}

function messageOf({ status, fault, body }: CatalogueAnswer): string {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const message = typeof error['message'] === 'string' ? error['message'] : fault;
  return ` (status ${status}${message === '' ? '' : `: ${message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 300)}`})`;
}

function texts(value: unknown): Readonly<Record<string, string>> {
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};
}

function credentialsIn(value: unknown): LoadedTable['credentials'] {
  return isList(value, (one) => isObject(one) && typeof one['prefix'] === 'string')
    ? (value as { prefix: string; config?: unknown }[]).map(({ prefix, config }) => ({
        prefix,
        config: texts(config),
      }))
    : [];
}

/** Returns the requirements of a change: that no other writer has made a version meanwhile. */
export function requirementsOf(before: TableMetadata): readonly object[] {
  return [
    { type: 'assert-table-uuid', uuid: before['table-uuid'] },
    {
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      'snapshot-id': currentSnapshot(before)?.['snapshot-id'] ?? null,
    },
    { type: 'assert-current-schema-id', 'current-schema-id': before['current-schema-id'] },
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': before['last-column-id'] },
  ];
}

/** Returns whether the catalogue has another version than the one that the change is based on. */
export function isMoved({ before }: Pick<NextTableVersion, 'before'>, now: TableMetadata): boolean {
  return exactText(requirementsOf(before)) !== exactText(requirementsOf(now));
}

export function updatesOf({ before, next }: Pick<NextTableVersion, 'before' | 'next'>): readonly object[] {
  const updates: object[] = [];
  const known = new Set(before.schemas.map((schema) => schema['schema-id']));
  const schema = next.schemas.find((one) => !known.has(one['schema-id']));
  if (schema !== undefined)
    updates.push({ action: 'add-schema', schema, 'last-column-id': next['last-column-id'] });
  if (next['current-schema-id'] !== before['current-schema-id'])
    updates.push({
      action: 'set-current-schema',
      // -1: the schema that was added last
      'schema-id': schema === undefined ? next['current-schema-id'] : -1,
    });
  const specs = new Set(before['partition-specs'].map((spec) => spec['spec-id']));
  const spec = next['partition-specs'].find((one) => !specs.has(one['spec-id']));
  if (spec !== undefined)
    // -1: the spec that was added last
    updates.push({ action: 'add-spec', spec }, { action: 'set-default-spec', 'spec-id': -1 });
  const properties = changedProperties(before, next);
  if (Object.keys(properties).length > 0) updates.push({ action: 'set-properties', updates: properties });
  const snapshot = newSnapshot(before, next);
  if (snapshot !== null)
    updates.push(
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        'ref-name': 'main',
        type: 'branch',
        'snapshot-id': snapshot['snapshot-id'],
      },
    );
  return updates;
}

/** Returns whether the catalogue's metadata of the table contain that version, even if others followed. */
export function isTaken(
  { before, next }: Pick<NextTableVersion, 'before' | 'next'>,
  now: TableMetadata,
): boolean {
  if (now['table-uuid'] !== next['table-uuid']) return false;
  const snapshot = newSnapshot(before, next);
  if (snapshot !== null)
    return (now.snapshots ?? []).some(
      (one) => String(one['snapshot-id']) === String(snapshot['snapshot-id']),
    );
  return Object.entries(changedProperties(before, next)).every(
    ([name, value]) => now.properties?.[name] === value,
  );
}

/** Returns whether the catalogue, which reported success, has another version instead that does not descend from this one. */
export function isLost(version: Pick<NextTableVersion, 'before' | 'next'>, now: TableMetadata): boolean {
  if (isTaken(version, now) || !isMoved(version, now)) return false;
  // snapshots may be removed at any time; the property with the job stays until another job replaces it
  const told = Object.entries(changedProperties(version.before, version.next));
  return !told.some(([name, value]) => exactText(now.properties?.[name] ?? null) === exactText(value));
}

function newSnapshot(before: TableMetadata, next: TableMetadata): Snapshot | null {
  const snapshot = currentSnapshot(next);
  const there = currentSnapshot(before);
  return snapshot === null || String(snapshot['snapshot-id']) === String(there?.['snapshot-id'])
    ? null
    : snapshot;
}

function changedProperties(before: TableMetadata, next: TableMetadata): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(next.properties ?? {}).filter(
      ([name, value]) => exactText(value) !== exactText(before.properties?.[name] ?? null),
    ),
  );
}
