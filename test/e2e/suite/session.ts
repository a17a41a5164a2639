/** One deployment of the service as the suite meets it: its clients, and every answer held against its own description. */
import { expect } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { IdentityProvider } from '../../support/servers/identity-provider.ts';
import {
  createDocumentChecker,
  operationsOf,
  type ListedOperation,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';
import { createServiceClient, type Send, type ServiceClient } from '../../support/service/client.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { type Part } from '../../support/needs.ts';

/** A way to run the service, and what cannot work there. */
export interface Deployment {
  readonly name: string;
  /** path in front of the service; '' for none */
  readonly prefix: string;
  /** ids of operations that answer 501 there, each with its reason */
  readonly unsupported: Readonly<Record<string, string>>;
  /** what has to be on the machine */
  readonly parts?: readonly Part[];
  open(): Promise<OpenDeployment>;
}

export interface OpenDeployment {
  /** address of the host, without the prefix and without a slash at its end */
  readonly url: string;
  /** the first key of the installation */
  readonly adminKey: string;
  readonly send: Send;
  close(): Promise<void>;
}

export interface Session {
  readonly deployment: Deployment;
  /** address of the service, prefix included */
  readonly url: string;
  readonly prefix: string;
  /** with every scope, in an organisation that this deployment has for itself */
  readonly client: ServiceClient;
  readonly key: string;
  /** with every scope, in another organisation */
  readonly stranger: ServiceClient;
  readonly strangerKey: string;
  /** the administrator of the installation */
  readonly admin: ServiceClient;
  readonly idOrg: number;
  readonly document: OpenApiDocument;
  /** of the metadata database, past the service */
  readonly sql: Sql;
  /** whose tokens the deployment takes beside keys */
  readonly provider: IdentityProvider;
  /** the freight set and its documents, converted by this deployment */
  readonly conversion: Conversion;
  /** Sends as it is, without a key. */
  readonly send: Send;
  supports(operationId: string): boolean;
  /** answers so far that the description does not declare */
  complaints(): Promise<readonly string[]>;
  /** ids of the operations that have succeeded so far */
  succeeded(): ReadonlySet<string>;
}

const everyScope = [
  'jobs:read',
  'jobs:run',
  'schemas:read',
  'schemas:write',
  'files:upload',
  'rows:read',
  'migrate',
  'admin',
];

export async function openSession(
  deployment: Deployment,
  open: OpenDeployment,
  sql: Sql,
  provider: IdentityProvider,
): Promise<Session> {
  const { prefix } = deployment;
  const url = open.url + prefix;
  const document = (await (await open.send(`${url}/doc`)).json()) as OpenApiDocument;
  const watch = createWatch(document, url);
  const send: Send = async (address, init) => {
    const response = await open.send(address, init);
    watch.see(init?.method ?? 'GET', address, response);
    return response;
  };
  const admin = createServiceClient(url, open.adminKey, send);
  const organisation = async (name: string): Promise<{ idOrg: number; key: string }> => {
    const made = await admin.post<{ id_org: number }>('/v2/admin/orgs', { name });
    expect(made.status).toBe(201);
    const { id_org: idOrg } = made.body;
    const issued = await admin.post<{ key: string }>('/v2/admin/keys', {
      name,
      id_org: idOrg,
      scopes: everyScope,
    });
    expect(issued.status).toBe(201);
    return { idOrg, key: issued.body.key };
  };
  const own = await organisation(`of ${deployment.name}`);
  const other = await organisation(`beside ${deployment.name}`);
  const client = createServiceClient(url, own.key, send);
  return {
    deployment,
    url,
    prefix,
    client,
    key: own.key,
    stranger: createServiceClient(url, other.key, send),
    strangerKey: other.key,
    admin,
    idOrg: own.idOrg,
    document,
    sql,
    provider,
    // names of SQL schemas are shared by all organisations of the database
    conversion: await convertFreight(client, `freight_${own.idOrg}`),
    send,
    supports: (operationId) => !Object.hasOwn(deployment.unsupported, operationId),
    complaints: () => watch.complaints(),
    succeeded: () => watch.succeeded,
  };
}

interface Watch {
  see(method: string, address: string, response: Response): void;
  complaints(): Promise<readonly string[]>;
  readonly succeeded: ReadonlySet<string>;
}

/** Finds the operation of each request, and holds its answer against what that operation declares. */
function createWatch(document: OpenApiDocument, url: string): Watch {
  const checker = createDocumentChecker(document);
  // the more of a path is literal, the sooner it is tried
  const operations = operationsOf(document).toSorted((a, b) => variables(a) - variables(b));
  const checks: Promise<readonly string[]>[] = [];
  const succeeded = new Set<string>();
  return {
    succeeded,
    complaints: async () => (await Promise.all(checks)).flat(),
    see(method, address, response) {
      const path = address.slice(url.length).split('?')[0]!;
      const place = operations.find((one) => fits(one, path))?.path;
      const operation = operations.find((one) => one.path === place && one.method === method);
      if (operation === undefined) return;
      if (response.ok) succeeded.add(operation.operationId);
      const type = response.headers.get('Content-Type') ?? '';
      const { status, headers } = response;
      // a stream is checked by those who follow it
      const body =
        /json/.test(type) && method !== 'HEAD' ? response.clone().text() : Promise.resolve('streamed');
      const isEmpty = status === 204 || method === 'HEAD';
      checks.push(
        body.then((text) =>
          checker
            .complaints(operation, { status, headers, text: isEmpty ? '' : text })
            .map((complaint) => `${method} ${path}: ${complaint}`),
        ),
      );
    },
  };
}

function variables({ path }: ListedOperation): number {
  return path.split('{').length;
}

function fits({ path }: ListedOperation, asked: string): boolean {
  const wanted = path.split('/');
  const given = asked.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  );
}
