/** `tables compact`: maintains folders of Delta and Iceberg tables. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LakeTarget } from '../../targets/files/lake/place.ts';
import { openSources } from '../../service/files/remote-location.ts';
import { createCredentialFinder } from '../session/tool-session.ts';
import { fileFault } from '../../storage/staging/durable-file.ts';
import { AppError } from '../../errors.ts';
import { parseTarget } from '../../service/jobs/request/target.ts';
import { UsageError, type Command, type Opened } from './specification.ts';

export const tableCommands: Readonly<Record<string, Command>> = {
  'tables compact': {
    words: ['TARGET'],
    options: ['credential'],
    meaning:
      'small files of Delta or Iceberg tables become large ones: of a folder, s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or iceberg:https://…',
    async run(opened, [text = ''], { credential }) {
      // loaded when it is used
      const { compactLake } = await import('../../targets/files/lake/compaction.ts');
      const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
      const scratch = await mkdtemp(join(tmpdir(), 'tables-compact-'));
      try {
        const target = await tablesAt(opened, text, scratch, credential);
        if ((await lakeFormatOf(target)) === null)
          throw new AppError('not_found', `${text}: there are no Delta or Iceberg tables of jobs`);
        const changes = await compactLake(target);
        return {
          text: changes.length === 0 ? 'no table has two small files' : changes.join('\n'),
          json: changes,
        };
      } catch (error) {
        throw fileFault(error, text);
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  },
};

async function tablesAt(
  { config, adapters }: Opened,
  text: string,
  scratch: string,
  credential: string | undefined,
): Promise<LakeTarget> {
  const target = parseTarget(text);
  if ('fault' in target) throw new UsageError(`the target ${target.fault}`);
  const { diskLake } = await import('../../targets/files/lake/place.ts');
  if (target.kind === 'folder') return diskLake({ directory: resolve(target.path) });
  const person = { home: { config }, byHand: true, idOrg: 1, interrupted: new AbortController().signal };
  if (target.kind === 'iceberg') {
    const { openCatalogue } = await import('../targets/catalogue.ts');
    const sources = openSources(config.sources ?? [], null);
    const find = createCredentialFinder(adapters, sources, person.idOrg, credential, () => undefined);
    const asker = { ...person, request: { inputs: [] }, credential: find };
    return openCatalogue(asker, target, 'write', scratch);
  }
  if (target.kind !== 'bucket')
    throw new UsageError(
      'tables compact takes a folder, s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or iceberg:https://…',
    );
  const { openBucketFolder } = await import('../targets/buckets.ts');
  const { bucketLake } = await import('../../targets/files/lake/bucket.ts');
  const folder = await openBucketFolder(person, target, 'write');
  return bucketLake({ ...folder, label: target.location, scratch });
}
