/** A namespace of a catalogue as a place for tables: what jobs write lies where the catalogue says, and counts once the catalogue has it. */
import type { LakeTarget } from '../place.ts';
import { bucketLake } from '../bucket.ts';
import { type CatalogueLogin, createCatalogueRequests, type CatalogueTransport } from './requests.ts';
import { createTableObjects } from './objects.ts';
import { createRestCatalogue, type CatalogueNamespace } from './rest.ts';
import { CatalogueTables, type OpenTableStore } from './tables.ts';

export interface CatalogueLakeOptions extends CatalogueNamespace {
  /** `https://HOST/PATH`, without a '/' at its end */
  readonly address: string;
  readonly login: CatalogueLogin;
  readonly transport: CatalogueTransport;
  readonly openStore: OpenTableStore;
  /** as of tables in a bucket */
  readonly scratch: string;
  readonly lockTimeoutMs?: number;
}

export function catalogueLake(options: CatalogueLakeOptions): LakeTarget {
  const { address, login, label, transport, openStore, scratch, lockTimeoutMs } = options;
  const requests = createCatalogueRequests(address, login, label, transport);
  const tables = new CatalogueTables(createRestCatalogue(requests, address, options), label, openStore);
  return bucketLake({
    objects: createTableObjects(label, (table) => tables.storeOf(table)),
    location: label,
    prefix: '',
    label,
    catalogue: tables,
    scratch,
    ...(lockTimeoutMs === undefined ? {} : { lockTimeoutMs }),
  });
}
