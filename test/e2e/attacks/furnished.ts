/** An organisation that has one of everything, all of it named so that no answer can have it by chance. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { grantableScopes } from '../../../src/service/access/keys.ts';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { watchClient } from '../../support/service/watches.ts';

/** What the organisation has is called after `mark`. */
export interface FurnishedOrganisation {
  readonly mark: string;
  readonly idOrg: number;
  readonly client: ServiceClient;
  readonly idKey: string;
  readonly idSch: number;
  readonly idLschma: number;
  /** a load that completed, and one that failed */
  readonly idJob: number;
  readonly idFailed: number;
  readonly idWorkflow: number;
  /** has one file that is loaded and one that is kept aside; nothing more comes */
  readonly idWatch: number;
  /** as uploads answer them */
  readonly xsdPath: string;
  readonly xmlPath: string;
  /** what it has on the disk of the service, as absolute paths */
  readonly folder: string;
}

/** `mark`: a word of lower case letters. */
export async function furnishOrganisation(
  home: ServiceHome,
  service: RunningService,
  mark: string,
): Promise<FurnishedOrganisation> {
  const { body: org } = await service.client.post<{ id_org: number }>('/v2/admin/orgs', {
    name: `${mark} ltd`,
  });
  const idOrg = org.id_org;
  const { body: key } = await service.client.post<{ id_key: string; key: string }>('/v2/admin/keys', {
    name: `${mark} key`,
    id_org: idOrg,
    scopes: grantableScopes,
  });
  const client = createServiceClient(service.url, key.key);
  const folder = join(home.directory, 'files', String(idOrg));
  const made = async (path: string, body: unknown): Promise<void> => {
    const answer = await client.post(path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  const utf8 = new TextEncoder();
  const xsdPath = await client.upload('xsd', `${mark}.xsd`, utf8.encode(xsdOf(mark)));
  const xmlPath = await client.upload('xml', `${mark}.xml`, utf8.encode(documentOf(mark)));
  const badPath = await client.upload('xml', `${mark}-bad.xml`, utf8.encode(documentOf(mark).slice(0, -5)));
  const { jobs, id_workflow: idWorkflow } = await client.run(
    [
      execution('xsd2er', xsdPath, [['--name', `${mark}feed`]]),
      execution('xml2er', xmlPath, [['-o', `metadb:${mark}_rows`]], '$0'),
      execution('xml2er', xmlPath, [['-o', `sqlite:${mark}.sqlite`]], '$0'),
      execution('xml2er', badPath, [['-o', `metadb:${mark}_bad`]], '$0'),
    ],
    `${mark} flow`,
  );
  const ended = await Promise.all(jobs.map((idJob) => client.ended(idJob)));
  const states = ended.map(({ status }) => status).join('');
  if (states !== 'CCCF') throw new Error(`jobs of ${mark} ended ${states}: ${JSON.stringify(ended)}`);
  const { id_sch: idSch, id_lschma: idLschma } = ended[1]!;
  await made('/v2/admin/credentials', {
    name: `${mark}-store`,
    kind: 's3',
    endpoint: `https://${mark}.example`,
    access_key: `${mark}-access`,
    secret_key: `${mark}-secret`,
  });
  await made('/v2/diagram/svg', {
    id_sch: idSch,
    svg: `<svg xmlns="http://www.w3.org/2000/svg"><text>${mark}</text></svg>`,
  });
  await made('/v2/extensions/cil/keys/update', {
    cfxml: `${mark}feed`,
    keys: [{ table_name: `${mark}_order`, column_name: 'id', key_type: 'NK' }],
  });
  await made('/v2/schema/export', { origin_id: String(idSch), output_path: `${mark}-moved` });
  const inbox = join(folder, `${mark}-inbox`);
  await mkdir(inbox);
  await writeFile(join(inbox, `${mark}-1.xml`), documentOf(mark));
  await writeFile(join(inbox, `${mark}-2.xml`), `<${mark}_order>`);
  const watches = watchClient(client);
  const { id_watch: idWatch } = await watches.create({
    name: `${mark} watch`,
    location: `${mark}-inbox`,
    target: `metadb:${mark}_watched`,
    every: '1d',
    settle: '0s',
  });
  await watches.settled(idWatch, 2);
  return {
    mark,
    idOrg,
    client,
    idKey: key.id_key,
    idSch: idSch!,
    idLschma: idLschma!,
    idJob: jobs[1]!,
    idFailed: jobs[3]!,
    idWorkflow,
    idWatch,
    xsdPath,
    xmlPath,
    folder,
  };
}

/** What names nothing at all, in the same words. */
export function absentOrganisation(mark: string, like: FurnishedOrganisation): FurnishedOrganisation {
  const none = 8_999_999;
  return {
    ...like,
    mark,
    idOrg: none,
    idKey: like.idKey.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    idSch: none,
    idLschma: none,
    idJob: none,
    idFailed: none,
    idWorkflow: none,
    idWatch: none,
    xsdPath: like.xsdPath.replaceAll(like.mark, mark),
    xmlPath: like.xmlPath.replaceAll(like.mark, mark),
    folder: like.folder.replace(/\d+$/, String(none)),
  };
}

export function documentOf(mark: string): string {
  return `<${mark}_order><id>1</id><city>${mark} town</city></${mark}_order>\n`;
}

function xsdOf(mark: string): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="${mark}_order"><xs:complexType><xs:sequence>
    <xs:element name="id" type="xs:int"/><xs:element name="city" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
}
