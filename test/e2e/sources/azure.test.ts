/** Blobs of a storage account as inputs: by hand, and new ones by a watch. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startCloudStorage,
  type CloudFolder,
  type CloudStorage,
} from '../../support/servers/cloud-storage.ts';
import { createServiceClient, type ServiceClient } from '../../support/service/client.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

describe('blobs of a storage account', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let cloud: CloudStorage;
  let folder: CloudFolder;
  let home: ServiceHome;
  let client: ServiceClient;
  let text: string;

  beforeAll(async () => {
    cloud = await startCloudStorage();
    folder = await cloud.location('in');
    text = await readFile(join(freightDocumentFolder, 'manifest-1.xml'), 'utf8');
    await folder.replace('a.xml', text);
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.sources.blobs.location': 'az://packages/in',
      'svc.sources.blobs.endpoint': `http://${cloud.address}/${cloud.account}`,
      'svc.sources.blobs.access_key': cloud.account,
      'svc.sources.blobs.secret_key': cloud.key,
    });
    const service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
  });
  afterAll(() => cloud?.stop());

  it('are loaded by hand', async () => {
    const loaded = await convert(home, 'xml2er', 'az://packages/in/', '-o', 'metadb:by_hand');
    expect(loaded).toMatchObject({ status: 'C', documents: 1 });
  });

  it('are loaded by a watch, each once, and again where one is another', async () => {
    const made = await client.post<{ readonly id_watch: number }>('/v2/watches', {
      name: 'blobs',
      location: 'az://packages/in/',
      target: 'metadb:watched',
      every: '1s',
      settle: '1s',
    });
    expect(made.status).toBe(201);
    const { id_watch: id } = made.body;
    const files = async (): Promise<{ name: string; status: string; sha256: string | null }[]> => {
      const page = (await (await client.fetch(`/v2/watches/${id}/files`)).json()) as { content: never[] };
      return page.content;
    };
    const loaded = (count: number): Promise<unknown> =>
      eventually(`${count} loaded blobs`, async () => {
        const found = await files();
        expect(found.filter(({ status }) => status === 'rejected')).toEqual([]);
        return found.filter(({ status }) => status === 'loaded').length === count ? found : null;
      });
    await loaded(1);
    await folder.replace('deep/b.xml', text);
    await folder.replace('a.xml', `${text}\n`);
    await loaded(3);
    const names = (await files()).map(({ name }) => name).toSorted();
    expect(names).toEqual(['a.xml', 'a.xml', 'deep/b.xml']);
  });
});
