/** Watches and their files as they go over the wire (docs/watches.md). */
import { z } from '@hono/zod-openapi';
import type { WatchFileStatus } from '../../ports/stores/watches.ts';
import { pageOf, bodyId, plainText } from '../requests/paging.ts';

const int = z.int().openapi({ format: 'int64' });
/** texts of paths and targets: as long as options of tools may be */
const longText = plainText(4096);

const settings = {
  pattern: longText.nullable().optional(),
  id_sch: bodyId().nullable().optional(),
  options: z.record(z.string().max(100), z.unknown()).optional(),
  order: z.enum(['name', 'modified']).optional(),
  settle: plainText(20).optional(),
  on_error: z.enum(['fail', 'skip']).optional(),
  on_drift: z.enum(['keep', 'evolve', 'fail']).optional(),
  max_files: z.int().min(1).max(10_000).optional(),
  max_bytes: z.int().min(1).max(Number.MAX_SAFE_INTEGER).openapi({ format: 'int64' }).optional(),
  credential: plainText(128).nullable().optional(),
  paused: z.boolean().optional(),
};
const name = plainText(200);
const every = plainText(200);

const example = {
  name: 'statements',
  location: 'inbox/statements',
  pattern: '**/*.xml.gz',
  target: 'metadb:bank',
  options: { '--keys': 'hash' },
  every: '5m',
};

export const NewWatch = z
  .strictObject({ name, location: longText, target: longText, every, ...settings })
  .openapi('NewWatch', {
    description:
      '`location`: a folder of the organisation or below a root, `s3://BUCKET/PREFIX/`, the `https://` address of one file, or a server of databases ' +
      '(`postgresql://HOST/DATABASE`, `mysql://…`, with user and password) whose rows `--query` and `--after` in `options` name. `target` ' +
      'is written as for `-o`, `options` has further flags of `xml2er`: `{"-f": "parquet", "--views": true}`.',
    example,
  });

export const WatchChange = z
  .strictObject({
    name: name.optional(),
    location: longText.optional(),
    target: longText.optional(),
    every: every.optional(),
    ...settings,
  })
  .openapi('WatchChange', {
    description: 'Members that are not given stay as they are.',
    example: { paused: true },
  });

export const WatchRun = z
  .strictObject({
    retry: z.boolean().optional(),
    names: z.array(longText).max(10_000).optional(),
  })
  .openapi('WatchRun', {
    description: 'With `retry` rejected files are tried again: all of them, or those in `names`.',
    example: { retry: true },
  });

const FileCounts = z
  .object({ waiting: int, loading: int, loaded: int, rejected: int, ignored: int, replaced: int })
  .openapi('WatchFileCounts', {
    description: 'Files of a watch, by state.',
    example: { waiting: 2, loading: 0, loaded: 118, rejected: 1, ignored: 0, replaced: 3 },
  });

export const exampleWatch = {
  id_watch: 3,
  id_org: 1,
  ...example,
  id_sch: null,
  order: 'name' as const,
  settle: '30s',
  on_error: 'fail' as const,
  on_drift: 'evolve' as const,
  max_files: 1000,
  max_bytes: 1073741824,
  credential: null,
  paused: false,
  created: 1790000000000,
  next_run: 1790000600000,
  last_run: 1790000300000,
  id_job: null,
  stalled: null,
  stalled_at: null,
  files: { waiting: 2, loading: 0, loaded: 118, rejected: 1, ignored: 0, replaced: 3 },
  waiting_bytes: 18211,
  waiting_since: 1790000300412,
};

export const Watch = z
  .object({
    id_watch: int,
    id_org: int,
    name: z.string(),
    location: z.string(),
    pattern: z.string().nullable(),
    id_sch: int.nullable(),
    target: z.string(),
    options: z.record(z.string(), z.unknown()),
    every: z.string(),
    order: z.enum(['name', 'modified']),
    settle: z.string(),
    on_error: z.enum(['fail', 'skip']),
    on_drift: z.enum(['keep', 'evolve', 'fail']),
    max_files: z.int(),
    max_bytes: int,
    credential: z.string().nullable(),
    paused: z.boolean(),
    created: int,
    next_run: int.nullable(),
    last_run: int.nullable(),
    id_job: int.nullable(),
    stalled: z.string().nullable(),
    stalled_at: int.nullable(),
    files: FileCounts,
    waiting_bytes: int,
    waiting_since: int.nullable(),
  })
  .openapi('Watch', {
    description:
      'A location that is looked at for new documents; times are epoch milliseconds, secrets are masked.',
    example: exampleWatch,
  });

export const WatchPage = pageOf(Watch).openapi('WatchPage', {
  description: 'A page of watches.',
  example: { content: [exampleWatch], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

export const fileStatus = z.enum([
  'waiting',
  'loading',
  'loaded',
  'rejected',
  'ignored',
  'replaced',
]) satisfies z.ZodType<WatchFileStatus>;

export const exampleFile = {
  name: '2026-11-23/0001.xml.gz',
  version: '"9b2cf535f27731c974343645a3985328"',
  bytes: 18211,
  modified: 1790000299000,
  sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  status: 'loaded' as const,
  id_job: 7,
  reason: null,
  replaced_by: null,
  seen_at: 1790000300412,
};

export const WatchFile = z
  .object({
    name: z.string(),
    version: z.string(),
    bytes: int,
    modified: int.nullable(),
    sha256: z.string().nullable(),
    status: fileStatus,
    id_job: int.nullable(),
    reason: z.string().nullable(),
    replaced_by: z.string().nullable(),
    seen_at: int,
  })
  .openapi('WatchFile', {
    description: 'One version of one object. A changed file of the same name is another version.',
    example: exampleFile,
  });

export const WatchFilePage = pageOf(WatchFile).openapi('WatchFilePage', {
  description: 'A page of files.',
  example: { content: [exampleFile], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});
