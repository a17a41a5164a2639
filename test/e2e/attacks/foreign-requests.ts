/** Requests of one organisation that name what another has: for each operation addresses, queries and bodies. */
import { join } from 'node:path';
import { grantableScopes } from '../../../src/service/access/keys.ts';
import { addressOf } from '../../support/contract-values.ts';
import type { ListedOperation } from '../../support/openapi-document.ts';
import { execution } from '../../support/service/client.ts';
import type { FurnishedOrganisation } from './furnished.ts';

export interface Asked {
  readonly address: string;
  readonly body?: unknown;
}

/** The addresses and bodies of an operation that name something of `of`; `own` is who asks. */
export function askedOf(
  operation: ListedOperation,
  of: FurnishedOrganisation,
  own: FurnishedOrganisation,
): Asked[] {
  const bodies = bodiesOf(of, own)[operation.operationId] ?? [undefined];
  const queries = queriesOf(of)[operation.operationId] ?? [''];
  const asked = bodies.flatMap((body) =>
    queries.map((query) => ({
      address: addressOf(operation, valuesFor(of)).replace(/\?.*$|$/, (end) => query || end),
      body,
    })),
  );
  return [...asked, ...(mixed(of, own)[operation.operationId] ?? [])];
}

export const valuesFor =
  (of: FurnishedOrganisation) =>
  ({ method, path }: ListedOperation, name: string): string => {
    const id = path.startsWith('/v2/watches')
      ? of.idWatch
      : path.startsWith('/v2/schema')
        ? of.idSch
        : path.includes('/get/') || method === 'DELETE'
          ? of.idJob
          : of.idWorkflow;
    const values: Readonly<Record<string, string | number>> = {
      id,
      id_job: path.includes('/log/') ? of.idFailed : of.idJob,
      idJob: of.idJob,
      pid: of.idJob,
      idSch: of.idSch,
      from: of.idSch,
      to: of.idSch,
      page: 0,
      maxLen: 40,
      cfxml: `${of.mark}feed`,
      mapping: `${of.mark}_order`,
      id_key: of.idKey,
      name: path.includes('/credentials')
        ? `${of.mark}-store`
        : path.includes('/metrics')
          ? 'svc.jobs'
          : 'ROOT',
      asset: 'swagger-ui.css',
      code: 'not_found',
      component: 'readiness',
      group: 'readiness',
    };
    return encodeURIComponent(values[name]!);
  };

/** Queries that name something; the rest of an operation's are sizes and formats. */
const queriesOf = (of: FurnishedOrganisation): Readonly<Record<string, readonly string[]>> => ({
  removeFile: [
    of.xmlPath,
    join(of.folder, of.xmlPath),
    join(of.folder, `${of.mark}-inbox/${of.mark}-1.xml`),
  ].map((path) => `?${new URLSearchParams({ path })}`),
  removeTarget: [`?name=${of.mark}_rows`],
  listTargetRows: [
    `metadb:${of.mark}_rows`,
    `sqlite:${join(of.folder, `${of.mark}.sqlite`)}`,
    `sqlite:../${of.idOrg}/${of.mark}.sqlite`,
    join(of.folder, `${of.mark}-out`),
  ].map((target) => `?${new URLSearchParams({ target, table: `${of.mark}_order` })}`),
  exportSchemaAs: ['?format=dbml'],
  getDiagram: [`?id_lschma=${of.idLschma}`],
  listMappings: [`?id_lschma=${of.idLschma}`],
});

/** What the reader has itself, with something of the other in the same request. */
const mixed = (
  of: FurnishedOrganisation,
  own: FurnishedOrganisation,
): Readonly<Record<string, readonly Asked[]>> => ({
  changeWatch: [
    { location: join(of.folder, `${of.mark}-inbox`) },
    { location: 's3://anywhere/', credential: `${of.mark}-store` },
    { id_sch: of.idSch },
  ].map((body) => ({ address: `/v2/watches/${own.idWatch}`, body })),
  compareMappings: [
    { address: `/v2/mapping/compare/${own.idSch}/${of.idSch}` },
    { address: `/v2/mapping/compare/${own.idSch}/${own.idSch}?from_lschma=${of.idLschma}` },
  ],
  getSchemaDdl: [{ address: `/v2/schema/ddl/${own.idSch}?id_lschma=${of.idLschma}` }],
  getDiagram: [{ address: `/v2/diagram/get/${own.idSch}?id_lschma=${of.idLschma}` }],
  listMappingStatisticsOfJob: [{ address: `/v2/mapping/get_stats/${own.idSch}/${of.idJob}` }],
  getCilJob: [{ address: `/v2/extensions/cil/job/${own.mark}feed/${of.idJob}` }],
});

const run = (tool: string, input: string, ...options: [string, string?][]): unknown => ({
  executions: [execution(tool, input, options)],
});

/** Bodies that name something of `of`, beside what is the reader's own; without a name: the body that a path goes with. */
export function bodiesOf(
  of: FurnishedOrganisation,
  own: FurnishedOrganisation,
): Readonly<Record<string, readonly unknown[]>> {
  const { mark } = of;
  const at = (path: string): string => join(of.folder, path);
  const watch = {
    name: `${mark} watch`,
    location: `${own.mark}-inbox`,
    target: `metadb:${own.mark}_more`,
    every: '1d',
    paused: true,
  };
  const key = { xpaths: [`/${mark}_order`], id_sch: of.idSch };
  return {
    runCommands: [
      run('xml2er', of.xmlPath),
      run('xml2er', at(of.xmlPath)),
      run('xml2er', at(`${mark}-inbox`)),
      run('xml2er', at(`${mark}-inbox/*.xml`)),
      run('xml2er', own.xmlPath, ['-x', String(of.idSch)]),
      run('xml2er', own.xmlPath, ['-x', `${mark}feed`]),
      run('xml2er', own.xmlPath, ['-l', String(of.idLschma)], ['-s']),
      run('xml2er', own.xmlPath, ['--parent', String(of.idSch)]),
      run('xml2er', own.xmlPath, ['--xsd', at(of.xsdPath)]),
      run('xml2er', own.xmlPath, ['-o', at(`${mark}-out`)]),
      run('xml2er', own.xmlPath, ['-o', `sqlite:${at(`${mark}.sqlite`)}`]),
      run('xml2er', 's3://anywhere/a.xml', ['--credential', `${mark}-store`]),
      run('xsd2er', at(of.xsdPath)),
      run('xsd2er', own.xsdPath, ['--parent', String(of.idSch)]),
      {
        executions: [
          {
            app_name: 'xml2er',
            source: {},
            target: {
              generation: [
                ['--from', `sqlite:${at(`${mark}.sqlite`)}`],
                ['--query', `select * from ${mark}_order`],
              ].map(([command, value]) => ({ command, value, enabled: 'true' })),
            },
          },
        ],
      },
      {
        executions: [
          {
            app_name: 'er2xml',
            source: {},
            target: {
              generation: [
                ['-l', String(of.idLschma)],
                ['-i', `sqlite:${at(`${mark}.sqlite`)}`],
                ['-o', 'back'],
              ].map(([command, value]) => ({ command, value, enabled: 'true' })),
            },
          },
        ],
      },
    ],
    createWatch: [
      { ...watch, location: at(`${mark}-inbox`) },
      { ...watch, location: `../${of.idOrg}/${mark}-inbox` },
      { ...watch, location: `${mark}-inbox` },
      { ...watch, id_sch: of.idSch },
      { ...watch, location: 's3://anywhere/', credential: `${mark}-store` },
      { ...watch, options: { '--xsd': at(of.xsdPath) } },
      { ...watch, target: at(`${mark}-out`) },
    ],
    changeWatch: [{ paused: true }, { name: 'mine' }],
    runWatch: [{}, { retry: true, names: [`${mark}-2.xml`] }],
    queryTarget: [
      ...[
        `metadb:${mark}_rows`,
        `sqlite:${at(`${mark}.sqlite`)}`,
        `sqlite:../${of.idOrg}/${mark}.sqlite`,
      ].map((target) => ({ target, sql: `select * from ${mark}_order` })),
      { target: `metadb:${own.mark}_rows`, sql: `select * from ${mark}_rows.${mark}_order` },
    ],
    createUploadToken: [{ kind: 'xml' }],
    uploadXml: [undefined],
    uploadXsd: [undefined],
    exportSchema: [
      { origin_id: String(of.idSch), output_path: 'taken' },
      { origin_id: String(own.idSch), output_path: at(`${mark}-out`) },
    ],
    importSchema: [{ input_path: `${mark}-moved` }, { input_path: at(`${mark}-moved`) }],
    createSchema: [
      { name: 'taken', xsd: [of.xsdPath] },
      { name: 'taken', xsd: [at(of.xsdPath)] },
      { name: 'taken', xml: [at(of.xmlPath)] },
      { name: 'taken', xsd: ['s3://anywhere/a.xsd'], credential: `${mark}-store` },
    ],
    activateMappings: [key],
    deactivateMappings: [key],
    saveDiagram: [{ id_sch: of.idSch, svg: '<svg xmlns="http://www.w3.org/2000/svg"/>' }],
    updateCilKeys: [
      { cfxml: `${mark}feed`, keys: [{ table_name: `${mark}_order`, column_name: 'city', key_type: 'NK' }] },
    ],
    createApiKey: [{ name: 'taken', scopes: grantableScopes, id_org: of.idOrg }],
    createOrganisation: [{ name: `${mark} ltd` }],
    createCredential: [{ name: `${mark}-store`, kind: 'https', host: 'feed.example', token: 'T' }],
    setLoggerLevel: [{ configuredLevel: null }],
  };
}
