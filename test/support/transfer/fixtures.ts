/** A schema with one of everything that can belong to it, made over REST. */
import type { RunningService } from '../service/start.ts';
import { zipped } from '../service/archives.ts';
import { execution } from '../service/client.ts';
import { filesBelow, freightDocumentFolder, freightXsdFolder } from '../service/fixtures.ts';

export interface RichSchema {
  /** two versions, oldest first */
  readonly origins: readonly [number, number];
  readonly xmlPath: string;
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>ours \\! \\copy</title></svg>';

/** Two versions, statistics of two jobs, several logical schemas, an inactive branch, a natural key, a drawing. */
export async function makeRichSchema({ client }: RunningService): Promise<RichSchema> {
  const xsdPath = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
  const xmlPath = await client.upload('xml', 'manifests.zip', zipped(filesBelow(freightDocumentFolder)));
  const first = await create({ name: 'freight', xsd: [xsdPath], map_level: 1 });
  const { jobs } = await client.run([
    execution('xml2er', xmlPath, [['-o', 'metadb:loaded']], String(first)),
    execution('xml2er', xmlPath, [['-g', '0']], String(first)),
  ]);
  for (const job of jobs) {
    const record = await client.ended(job);
    if (record.status !== 'C') throw new Error(`job ${job} ended ${record.status}: ${record.failure}`);
  }
  await post('/v2/mapping/deactivate', { id_sch: first, xpaths: ['/manifest/note'] });
  await client.get(`/v2/schema/generate/${first}`);
  await post('/v2/mapping/deactivate', { id_sch: first, xpaths: ['/manifest/totals/@checked'] });
  await client.get(`/v2/schema/generate/${first}/30`);
  await post('/v2/extensions/cil/keys/update', {
    cfxml: 'freight',
    keys: [{ table_name: 'manifest', column_name: 'number', key_type: 'NK', position: 1 }],
  });
  await post('/v2/diagram/svg', { id_sch: first, svg });
  const second = await create({ name: 'freight', xsd: [xsdPath], map_level: 3, id_parent_sch: first });
  await post('/v2/mapping/deactivate', { id_sch: second, xpaths: ['/manifest/note'] });
  return { origins: [first, second], xmlPath };

  async function create(body: unknown): Promise<number> {
    return (await post<{ id_sch: number }>('/v2/schema/create', body)).id_sch;
  }

  async function post<T>(path: string, body: unknown): Promise<T> {
    const { status, body: answer } = await client.post<T>(path, body);
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  }
}
