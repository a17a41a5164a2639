/** Addresses and bodies for the contract of every operation: what stands for each parameter, and bodies that work. */
import { dirname } from 'node:path';
import type { Answered, ListedOperation } from './openapi-document.ts';
import type { ServiceClient } from './service/client.ts';
import type { Conversion } from './service/conversion.ts';
import { watchClient } from './service/watches.ts';

/** What stands for a parameter: its text as it goes into the address, encoded already. */
export type Values = (operation: ListedOperation, name: string) => string;

export const integers = /^(?:id|id_job|idSch|idJob|from|to|pid|page|maxLen)$/;
export const malformedIntegers = [
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '+1',
  'x',
  '%20',
  '%201',
  '1%0a',
  '%D9%A1',
  '%00',
  'null',
  '9223372036854775808',
  '99999999999999999999999999',
];

/** Body of a watch of the folder that the conversion's documents were uploaded to; no file there has such a name. */
const watchOf = ({ name, xmlPath }: Conversion): Readonly<Record<string, unknown>> => ({
  name: `${name} watch`,
  location: dirname(xmlPath),
  target: `metadb:${name}_watched`,
  pattern: 'none-*.xml',
  every: '1d',
});

export async function createQuietWatch(client: ServiceClient, conversion: Conversion): Promise<number> {
  return (await watchClient(client).create(watchOf(conversion))).id_watch;
}

/** What the conversion's own records are called; `idKey`: a key that may be named; `idWatch`: a watch beside it. */
export const valuesOf =
  (conversion: Conversion, idKey: string, idWatch: number): Values =>
  ({ method, path }, name) => {
    const { idSch, idWorkflow, loaded } = conversion;
    if (name === 'id')
      return String(
        path.startsWith('/v2/watches')
          ? idWatch
          : path.startsWith('/v2/schema')
            ? idSch
            : path.includes('/get/') || method === 'DELETE'
              ? loaded.id_job
              : idWorkflow,
      );
    const known: Readonly<Record<string, string>> = {
      id_job: String(loaded.id_job),
      idJob: String(loaded.id_job),
      pid: String(loaded.id_job),
      idSch: String(idSch),
      from: String(idSch),
      to: String(idSch),
      page: '0',
      maxLen: '40',
      cfxml: conversion.name,
      mapping: 'shipment',
      asset: 'swagger-ui.css',
      code: 'not_found',
      target: `metadb:${conversion.sqlSchema}`,
      table: 'shipment',
      component: path.includes('{group}') ? 'readinessState' : 'readiness',
      group: 'readiness',
      id_key: idKey,
      name: path.includes('/credentials')
        ? 'inbox'
        : path.includes('/metrics')
          ? 'svc.jobs'
          : path.includes('/env')
            ? 'metadb.url'
            : 'ROOT',
    };
    const value = known[name];
    if (value === undefined) throw new Error(`${path}: no value for ${name}`);
    return value;
  };

/** The path with its values, and the query that the operation does not go without. */
export const addressOf = (operation: ListedOperation, values: Values): string => {
  const needed = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.required === true);
  const query = needed.map(({ name, schema }) => [
    name,
    name === 'target' || name === 'table' ? values(operation, name) : String(schema.example),
  ]);
  const path = operation.path.replaceAll(/{(\w+)}/g, (_, name: string) => values(operation, name));
  return query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`;
};

export const json = (body: unknown): RequestInit => ({
  headers: { 'Content-Type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export const takesJson = ({ path, requestBody }: ListedOperation): boolean =>
  requestBody !== undefined && !path.startsWith('/v2/file/upload/x');

/** Bodies that work, and change nothing that other cases rely on. */
export const goodBodies = (conversion: Conversion): Readonly<Record<string, unknown>> => ({
  setLoggerLevel: { configuredLevel: null },
  runCommands: {
    executions: [
      {
        app_name: 'xml2er',
        source: { file: { command: conversion.xmlPath } },
        target: { generation: [{ command: '-s', enabled: 'true' }] },
      },
    ],
  },
  createSchema: { name: `made by ${conversion.name}`, xsd: [conversion.xsdPath], map_level: 1 },
  activateMappings: { id_sch: conversion.idSch, xpaths: ['/manifest'] },
  deactivateMappings: { id_sch: conversion.idSch, xpaths: ['/manifest/created'] },
  saveDiagram: {
    id_sch: conversion.idSch,
    svg: '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>',
  },
  createUploadToken: { kind: 'xml', max_bytes: 10 },
  createApiKey: { name: 'one more', scopes: ['jobs:read'] },
  createOrganisation: { name: 'third' },
  createWatch: { ...watchOf(conversion), name: 'one more' },
  changeWatch: { order: 'modified' },
  runWatch: { retry: true },
  createCredential: { name: 'spare', kind: 's3', access_key: 'K', secret_key: 'S' },
  exportSchema: { origin_id: String(conversion.idSch), output_path: `exports/${conversion.name}` },
  importSchema: { input_path: `exports/${conversion.name}` },
  updateCilKeys: {
    cfxml: conversion.name,
    keys: [{ table_name: 'shipment', column_name: 'ref', key_type: 'NK' }],
  },
  queryTarget: { target: `metadb:${conversion.sqlSchema}`, sql: 'select ref from shipment' },
});

/** An answer without what is different in every one. */
export const plain = ({ text }: Answered, address: string): string =>
  text
    .replace(/"timestamp":"[^"]*"/, '')
    .replace(/"request_id":"[^"]*"/, '')
    .replaceAll(address.replace(/\?.*$/, ''), '');
