/** A namespace of a catalogue of Iceberg tables as a target: opens the catalogue, and the stores of its tables. */
import type { CatalogueLogin, CatalogueTransport } from '../../targets/files/lake/catalogue/rest.ts';
import type { OpenTableStore } from '../../targets/files/lake/catalogue/tables.ts';
import type { LakeTarget } from '../../targets/files/lake/place.ts';
import { AppError } from '../../errors.ts';
import { isLoopbackName, sourceAt } from '../../service/files/remote-location.ts';
import { catalogueLogin, type CatalogueAccess } from '../../service/jobs/request/check-access.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { checkedRequests, openBucketFolder, s3Transport } from './buckets.ts';
import type { KindOfTarget } from './kind.ts';
import { lakeRemover, lakeSink, lakeSource } from './folders.ts';
import { type Asker, localFolder } from '../session/remote-sources.ts';
import type { ToolSession } from '../session/tool-session.ts';

export const catalogueKind: KindOfTarget<Extract<Target, { kind: 'iceberg' }>> = {
  hasFormats: true,
  hasVersions: true,
  ddlDialect: () => 'duckdb',
  async openSink(session, target) {
    const { format } = session.request;
    if (format !== undefined && format !== 'iceberg')
      throw new AppError(
        'invalid_option',
        `-f ${format}: a catalogue of Iceberg tables has tables of Iceberg; omit -f`,
      );
    return lakeSink(
      session,
      await openCatalogue(session, target, 'write', localFolder(session, 'out')),
      'iceberg',
    );
  },
  async openSource(session, target) {
    return lakeSource(session, await openCatalogue(session, target, 'read', localFolder(session, 'tables')));
  },
  async openRemover(session, target) {
    return lakeRemover(await openCatalogue(session, target, 'write', localFolder(session, 'tables')));
  },
  whatWasRun: [
    {
      target: 'Iceberg catalogues',
      driver: 'our own, `avsc` 5.7.9',
      transaction: 'one for all tables, if the catalogue supports it',
      run_against:
        'the server of Iceberg’s own tests over moto and versitygw; read by PyIceberg ([in a catalogue](../how-to/iceberg.md#in-a-catalogue))',
    },
  ],
};

/** The party that requests access, and the known facts about its request. */
export interface CatalogueAsker extends Asker {
  readonly request: Pick<ToolRequest, 'outUser' | 'outPassword' | 'inputs' | 'xsd'>;
  readonly credential: ToolSession['credential'];
}

/** AppErrors: `invalid_option`, `host_not_allowed`, `target_not_allowed`. `scratch`: a folder of this machine for this job alone. */
export async function openCatalogue(
  asker: CatalogueAsker,
  target: Extract<Target, { kind: 'iceberg' }>,
  use: 'read' | 'write',
  scratch: string,
): Promise<LakeTarget> {
  const access = catalogueLogin(
    asker.home.config.sources ?? [],
    asker.byHand ? null : asker.idOrg,
    asker.request,
    target,
    await asker.credential(),
    use === 'write',
  );
  const { catalogueLake } = await import('../../targets/files/lake/catalogue/tables.ts');
  return catalogueLake({
    address: target.address,
    warehouse: target.warehouse,
    namespace: target.namespace,
    label: target.location,
    login: loginOf(access),
    transport: await catalogueTransport(asker, access.by),
    openStore: storesOf(asker, use),
    scratch,
  });
}

function loginOf({ secret, user }: CatalogueAccess): CatalogueLogin {
  if (secret === null) return { kind: 'none' };
  return user === null ? { kind: 'token', token: secret } : { kind: 'client', id: user, secret };
}

async function catalogueTransport(asker: Asker, by: CatalogueAccess['by']): Promise<CatalogueTransport> {
  const send = await checkedRequests(asker, by);
  return (method, url, headers, body) => send({ method, url, headers, body }, asker.interrupted);
}

/** Opens stores with a source of the operator that jobs may use, otherwise with the access data of the catalogue. */
function storesOf(asker: Asker, use: 'read' | 'write'): OpenTableStore {
  const sources = asker.home.config.sources ?? [];
  return async (text, vended) => {
    const [, bucket, path = ''] = /^s3[an]?:\/\/([^/?#]+)(?:\/+(.*?))?\/*$/.exec(text) ?? [];
    if (bucket === undefined)
      throw new AppError(
        'target_not_allowed',
        `${shown(text)}: the catalogue keeps its tables there, and this version writes to s3:// locations alone; take a warehouse that lies in one`,
      );
    const prefix = path === '' ? '' : `${path}/`;
    const location = `s3://${bucket}/${path}`;
    const source = sourceAt(sources, location, asker.byHand ? null : asker.idOrg);
    const isOperators = source !== undefined && (asker.byHand || use === 'read' || source.writable === true);
    if (vended === null || isOperators)
      return openBucketFolder(asker, { kind: 'bucket', store: 's3', location, bucket, prefix }, use);
    const url = URL.parse(vended.endpoint);
    if (url?.protocol !== 'https:' && !isLoopbackName(url?.hostname ?? ''))
      throw new AppError(
        'host_not_allowed',
        `${location}: the catalogue names a store without TLS; only this machine is written to without`,
      );
    const { createS3ObjectStore } = await import('../../storage/object-store/s3.ts');
    const send = await checkedRequests(asker, 'request');
    return { objects: createS3ObjectStore({ ...vended, bucket }, s3Transport(send)), prefix };
  };
}

/** Shortens an address that somebody else has made, without parts that may be secret. */
function shown(text: string): string {
  return text
    .replace(/\/\/[^/@]*@/, '//')
    .replace(/[?#].*$/s, '')
    .slice(0, 200);
}
