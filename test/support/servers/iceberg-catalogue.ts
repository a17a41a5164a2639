/**
 * The parts of a catalogue of Iceberg tables that jobs need, in this process, with whatever faults a test wants of it. Tables lie in the bucket of an
 * object server; each version is copied there as `v<N>.metadata.json`, so that what reads folders of tables reads these.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exactText, parseExact } from '../../../src/targets/files/json.ts';
import type { ObjectServer } from './object-server.ts';

export interface CatalogueCall {
  readonly method: string;
  /** below `/v1/PREFIX`, decoded */
  readonly path: string;
  /** that a commit names */
  readonly tables: readonly string[];
  readonly authorization: string | null;
}

/** As of an object server; `type`: of the error that is answered. */
export type CatalogueFault = {
  readonly at: 'before' | 'after';
  readonly answer: number | 'hang up';
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
} | null;

type Json = Readonly<Record<string, unknown>>;

export interface Metadata extends Json {
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'last-sequence-number': number;
  readonly 'last-column-id': number;
  readonly 'current-schema-id': number;
  readonly 'current-snapshot-id': unknown;
  readonly schemas: readonly { readonly 'schema-id': number; readonly fields: readonly Json[] }[];
  readonly 'partition-specs': readonly (Json & { readonly 'spec-id': number })[];
  readonly snapshots: readonly Json[];
  readonly properties: Readonly<Record<string, string>>;
}

export interface IcebergCatalogueOptions {
  /** of the keys of tables (`lake/`) */
  readonly prefix?: string;
  /** how it says that it changes several tables at once: in its list of what it offers, not at all, or that it does not */
  readonly together?: 'told' | 'untold' | 'never';
  /** the client whose secret is taken for tokens, which end after so many uses; absent: nobody is asked */
  readonly client?: {
    readonly id: string;
    readonly secret: string;
    readonly uses?: number;
    readonly scope?: string;
  };
  /** what is told of the store with each table */
  readonly storeConfig?: () => Readonly<Record<string, string>>;
  /** ends locations with a slash */
  readonly slashes?: boolean;
  /** asked of each table of a change of several: whether that is passed over, though the answer is that all was done */
  readonly passesOver?: (name: string) => boolean;
  /** numbers columns from the last one on */
  readonly numbersBackwards?: boolean;
}

export interface IcebergCatalogue {
  readonly address: string;
  readonly tables: ReadonlyMap<string, Metadata>;
  readonly namespaces: ReadonlySet<string>;
  /** all that was asked, tokens included */
  readonly calls: readonly CatalogueCall[];
  setFaults(of: (call: CatalogueCall) => CatalogueFault): void;
  /** Somebody else’s version. */
  change(table: string, next: (metadata: Metadata) => Partial<Metadata>): void;
  end(): Promise<void>;
}

const prefix = 'one';
const transaction = 'POST /v1/{prefix}/transactions/commit';
const noFault: (call: CatalogueCall) => CatalogueFault = () => null;

class Refused extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string) {
    super(type);
    this.status = status;
    this.type = type;
  }
}

export async function startIcebergCatalogue(
  store: ObjectServer,
  {
    together = 'told',
    client,
    storeConfig = () => ({}),
    passesOver = () => false,
    numbersBackwards = false,
    slashes = false,
    prefix: keyPrefix = 'lake/',
  }: IcebergCatalogueOptions = {},
): Promise<IcebergCatalogue> {
  const tables = new Map<string, Metadata>();
  const versions = new Map<string, number>();
  const namespaces = new Set<string>();
  const calls: CatalogueCall[] = [];
  const tokens = new Map<string, number>();
  let faultOf = noFault;

  const put = (name: string, metadata: Metadata): void => {
    tables.set(name, metadata);
    const version = (versions.get(name) ?? 0) + 1;
    versions.set(name, version);
    const folder = `${metadata.location.replace(/^s3:\/\/[^/]+\/|\/$/g, '')}/metadata`;
    store.put(`${folder}/v${version}.metadata.json`, exactText(metadata));
    store.put(`${folder}/version-hint.text`, String(version));
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      const { status, type } = error instanceof Refused ? error : { status: 500, type: String(error) };
      respond(response, status, { error: { message: `${type} of the catalogue`, type, code: status } });
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url!, 'http://catalogue');
    const path = url.pathname.replace(new RegExp(`^/v1/(?:${prefix}/)?`), '');
    const isForm = path === 'oauth/tokens';
    const body = (text === '' || isForm ? {} : parseExact(text)) as Json;
    const parts = path.split('/').map(decodeURIComponent);
    const authorization = request.headers.authorization ?? null;
    const call = { method: request.method!, path: parts.join('/'), tables: tablesOf(body), authorization };
    calls.push(call);
    const fault = faultOf(call);
    const refuse = (): void => {
      if (fault!.answer === 'hang up') response.destroy();
      else
        respond(
          response,
          fault!.answer,
          { error: { message: 'it was wanted', type: fault!.type ?? '', code: fault!.answer } },
          fault!.headers,
        );
    };
    if (fault?.at === 'before') return refuse();
    const [status, told] = isForm ? token(new URLSearchParams(text)) : serve(call, parts, body);
    if (fault !== null) return refuse();
    respond(response, status, told);
  }

  function token(form: URLSearchParams): [number, Json] {
    const isRight = form.get('client_id') === client?.id && form.get('client_secret') === client?.secret;
    if (!isRight) return [401, { error: 'invalid_client' }];
    if (form.get('scope') !== (client?.scope ?? 'catalog')) return [400, { error: 'invalid_scope' }];
    const made = `token-${randomUUID()}`;
    tokens.set(made, client?.uses ?? Infinity);
    return [200, { access_token: made, token_type: 'bearer', expires_in: 3600 }];
  }

  function checkToken(authorization: string | null): void {
    if (client === undefined) return;
    const made = authorization?.replace(/^Bearer /, '') ?? '';
    const left = tokens.get(made) ?? 0;
    if (left < 1) throw new Refused(401, 'NotAuthorizedException');
    tokens.set(made, left - 1);
  }

  function serve(call: CatalogueCall, parts: readonly string[], body: Json): [number, Json | null] {
    checkToken(call.authorization);
    const [first, space = '', kind, name = ''] = parts;
    if (first === 'config')
      return [
        200,
        {
          defaults: {},
          overrides: { prefix },
          ...(together === 'untold'
            ? {}
            : { endpoints: together === 'told' ? [transaction] : ['GET /v1/config'] }),
        },
      ];
    if (first === 'transactions') {
      if (together === 'never') throw new Refused(404, '');
      commit(body['table-changes'] as Json[]);
      return [204, null];
    }
    if (first !== 'namespaces') throw new Refused(404, '');
    if (space === '') {
      const levels = (body['namespace'] as string[]).join('\u001F');
      if (namespaces.has(levels)) throw new Refused(409, 'AlreadyExistsException');
      namespaces.add(levels);
      return [200, body];
    }
    if (!namespaces.has(space)) throw new Refused(404, 'NoSuchNamespaceException');
    if (kind === undefined) return [200, { namespace: space.split('\u001F'), properties: {} }];
    if (name === '') {
      const made = String(body['name']);
      if (tables.has(made)) throw new Refused(409, 'AlreadyExistsException');
      put(made, newMetadata(made, body));
      return [200, loaded(made)];
    }
    if (!tables.has(name)) throw new Refused(404, 'NoSuchTableException');
    if (call.method === 'POST') commit([body]);
    return [200, loaded(name)];
  }

  function loaded(name: string): Json {
    return { 'metadata-location': 'v.json', metadata: tables.get(name)!, config: storeConfig() };
  }

  function newMetadata(name: string, { schema, properties }: Json): Metadata {
    const { fields } = schema as { readonly fields: Json[] };
    const order = numbersBackwards ? fields.toReversed() : fields;
    const ids = new Map(order.map((field, at) => [field['name'], at + 1]));
    let last = fields.length;
    const numbered = fields.map((field) => {
      const type = field['type'] as Json;
      const isList = typeof type === 'object';
      return {
        ...field,
        id: ids.get(field['name']),
        ...(isList ? { type: { ...type, 'element-id': (last += 1) } } : {}),
      };
    });
    const keys = ((schema as Json)['identifier-field-ids'] as number[]).map((id) =>
      ids.get(fields.find((field) => field['id'] === id)!['name']),
    );
    return {
      'format-version': 2,
      'table-uuid': randomUUID(),
      location: `s3://${store.settings.bucket}/${keyPrefix}${name}${slashes ? '/' : ''}`,
      'last-sequence-number': 0,
      'last-updated-ms': 0,
      'last-column-id': last,
      schemas: [{ type: 'struct', 'schema-id': 0, 'identifier-field-ids': keys, fields: numbered } as never],
      'current-schema-id': 0,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      'default-spec-id': 0,
      'last-partition-id': 999,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      'default-sort-order-id': 0,
      properties: properties as Record<string, string>,
      'current-snapshot-id': -1,
      refs: {},
      snapshots: [],
    };
  }

  /** All or none. */
  function commit(changes: readonly Json[]): void {
    const next = new Map<string, Metadata>();
    for (const change of changes) {
      const { name } = change['identifier'] as { readonly name: string };
      const metadata = tables.get(name);
      if (metadata === undefined) throw new Refused(404, 'NoSuchTableException');
      for (const requirement of change['requirements'] as Json[])
        if (!holds(metadata, requirement)) throw new Refused(409, 'CommitFailedException');
      next.set(name, (change['updates'] as Json[]).reduce(updated, metadata));
    }
    for (const [name, metadata] of next) if (changes.length === 1 || !passesOver(name)) put(name, metadata);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    tables,
    namespaces,
    calls,
    setFaults: (of) => (faultOf = of),
    change: (name, next) => put(name, { ...tables.get(name)!, ...next(tables.get(name)!) }),
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(
  response: ServerResponse,
  status: number,
  body: Json | null,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(body === null ? undefined : exactText(body));
}

function tablesOf(body: Json): readonly string[] {
  const changes = (body['table-changes'] ?? (body['updates'] === undefined ? [] : [body])) as Json[];
  return changes.map((change) => (change['identifier'] as { readonly name: string }).name);
}

function holds(metadata: Metadata, requirement: Json): boolean {
  switch (requirement['type']) {
    case 'assert-table-uuid':
      return requirement['uuid'] === metadata['table-uuid'];
    case 'assert-ref-snapshot-id': {
      const now = metadata['current-snapshot-id'];
      return String(requirement['snapshot-id'] ?? -1) === String(now);
    }
    case 'assert-current-schema-id':
      return requirement['current-schema-id'] === metadata['current-schema-id'];
    case 'assert-last-assigned-field-id':
      return requirement['last-assigned-field-id'] === metadata['last-column-id'];
    default:
      throw new Refused(400, `a requirement ${String(requirement['type'])}`);
  }
}

function updated(metadata: Metadata, update: Json): Metadata {
  switch (update['action']) {
    case 'add-schema': {
      const schema = update['schema'] as Metadata['schemas'][number];
      const last = Math.max(metadata['last-column-id'], Number(update['last-column-id']));
      return { ...metadata, schemas: [...metadata.schemas, schema], 'last-column-id': last };
    }
    case 'set-current-schema': {
      const id = Number(update['schema-id']);
      return { ...metadata, 'current-schema-id': id < 0 ? metadata.schemas.at(-1)!['schema-id'] : id };
    }
    case 'add-spec': {
      const spec = update['spec'] as Metadata['partition-specs'][number];
      return { ...metadata, 'partition-specs': [...metadata['partition-specs'], spec] };
    }
    case 'set-default-spec': {
      const id = Number(update['spec-id']);
      return { ...metadata, 'default-spec-id': id < 0 ? metadata['partition-specs'].at(-1)!['spec-id'] : id };
    }
    case 'set-properties':
      return {
        ...metadata,
        properties: { ...metadata.properties, ...(update['updates'] as Record<string, string>) },
      };
    case 'add-snapshot': {
      const snapshot = update['snapshot'] as Json;
      const sequence = Number(snapshot['sequence-number']);
      if (sequence <= metadata['last-sequence-number']) throw new Refused(400, 'an old sequence number');
      return { ...metadata, snapshots: [...metadata.snapshots, snapshot], 'last-sequence-number': sequence };
    }
    case 'set-snapshot-ref':
      if (!metadata.snapshots.some((one) => String(one['snapshot-id']) === String(update['snapshot-id'])))
        throw new Refused(400, 'a snapshot that is not there');
      return { ...metadata, 'current-snapshot-id': update['snapshot-id'] };
    default:
      throw new Refused(400, `an update ${String(update['action'])}`);
  }
}
