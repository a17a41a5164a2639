/** Watches, /v2/watches: the shapes of watches and their files, and the routes (docs/how-to/watches.md). */
import { demoFiles } from '../openapi/demo-files.ts';
import { z, createRoute } from '@hono/zod-openapi';
import type { WatchFileStatus } from '../../ports/stores/watches.ts';
import {
  pageOf,
  bodyId,
  plainText,
  defaultPageSize,
  sizeQuery,
  linkedPage,
  linkHeader,
  int32,
  int64,
} from '../paging.ts';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { requireCommands } from '../../service/jobs/submit.ts';
import { changeWatch, createWatch, noWatch } from '../../service/watches/define.ts';
import { wire } from '../problem.ts';
import type { Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody, optionalJsonBody, refuseProto } from '../json-body.ts';
import { createGroup, json, operation, problems, removed } from '../operation.ts';

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
  name: 'orders',
  location: demoFiles.documents,
  pattern: '**/*.xml',
  target: 'metadb:orders',
  options: { '--keys': 'hash' },
  every: '5m',
};

const NewWatch = z
  .strictObject({ name, location: longText, target: longText, every, ...settings })
  .openapi('NewWatch', {
    description:
      '`location`: a folder of the organisation or below a root, `s3://BUCKET/PREFIX/`, the `https://` address of one file, or a server of databases ' +
      '(`postgresql://HOST/DATABASE`, `mysql://…`, with user and password) whose rows `--query` and `--after` in `options` name. `target` ' +
      'is written as for `-o`, `options` has further flags of `xml2er`: `{"-f": "parquet", "--views": true}`.',
    example,
  });

const WatchChange = z
  .strictObject({
    name: name.optional(),
    location: longText.optional(),
    target: longText.optional(),
    every: every.optional(),
    ...settings,
  })
  .openapi('WatchChange', {
    description: 'Members that are not given are not changed.',
    example: { paused: true },
  });

const WatchRun = z
  .strictObject({
    retry: z.boolean().optional(),
    names: z.array(longText).max(10_000).optional(),
  })
  .openapi('WatchRun', {
    description: 'With `retry`, rejected files are retried: all of them, or those in `names`.',
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
      'A location that is checked for new documents; times are epoch milliseconds, secrets are masked.',
    example: exampleWatch,
  });

const WatchPage = pageOf(Watch).openapi('WatchPage', {
  description: 'A page of watches.',
  example: { content: [exampleWatch], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

const fileStatus = z.enum([
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

const WatchFilePage = pageOf(WatchFile).openapi('WatchFilePage', {
  description: 'A page of files.',
  example: { content: [exampleFile], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

// The routes. Reading watches needs `jobs:read`, and all other operations `jobs:run`, like their jobs.

const tags = ['watches'];
const watchParam = z.object({ id: int64('The watch.', 3) });
const pageQuery = sizeQuery.extend({ page: int32('Number of the page, from 0; default 0.').optional() });

type WatchRouteAdapters = Pick<
  Adapters,
  'watches' | 'catalog' | 'files' | 'secrets' | 'credentials' | 'clock'
> &
  IdempotencyAdapters;

export function createWatchRoutes(adapters: WatchRouteAdapters, config: Config, guards: Guards) {
  const shared = sharedOf(adapters, config, guards);
  return createGroup([
    createOperation(shared),
    listOperation(shared),
    getOperation(shared),
    changeOperation(shared),
    removeOperation(shared),
    runOperation(shared),
    filesOperation(shared),
  ]);
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(adapters: WatchRouteAdapters, config: Config, guards: Guards) {
  const reads = guards.require('jobs:read');
  const changes = guards.require('jobs:run');
  const withBody = (body = jsonBody(config.limits.jsonBodyBytes)) => ({
    security: changes.security,
    middleware: [...changes.middleware, body],
  });
  return { adapters, config, reads, changes, withBody };
}

type Shared = ReturnType<typeof sharedOf>;

function createOperation({ adapters, config, withBody }: Shared) {
  return creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/watches',
      operationId: 'createWatch',
      summary: 'Watch a location for new documents',
      description:
        'Objects that are new at the location, by name and version, become jobs of `xml2er`: each is loaded once, when it has not changed for ' +
        '`settle`. `every` is a duration (`1s`, `5m`, `1h`) or five fields of cron in UTC.',
      tags,
      ...withBody(),
      request: { body: { required: true, content: { 'application/json': { schema: NewWatch } } } },
      responses: {
        201: {
          ...json(Watch, 'The watch.'),
          headers: {
            Location: {
              description: 'The watch; relative to the address of the request.',
              schema: { type: 'string' },
              example: 'watches/3',
            },
          },
        },
        ...problems(400, 409, 413, 415),
      },
    }),
    async (c) => {
      await refuseProto(c);
      const watch = await createWatch(adapters, config, c.get('principal').idOrg, c.req.valid('json'));
      c.set('auditSubject', `watch ${watch.id_watch}`);
      return c.json(wire(watch), 201, { Location: `watches/${watch.id_watch}` });
    },
  );
}

function listOperation({ adapters, reads }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/watches',
      operationId: 'listWatches',
      summary: 'List watches, oldest first',
      description:
        'The location and the next check of each watch, and the numbers of waiting, loaded and rejected files.',
      tags,
      ...reads,
      request: { query: pageQuery },
      responses: {
        200: { ...json(WatchPage, 'A page of watches, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { page = 0, size = defaultPageSize } = c.req.valid('query');
      const found = await adapters.watches.listWatches(c.get('principal').idOrg, page, size);
      return c.json(linkedPage(c, 'query', found), 200);
    },
  );
}

function getOperation({ adapters, reads }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/watches/{id}',
      operationId: 'getWatch',
      summary: 'Get one watch',
      description:
        '`next_run` is the time of the next check; `files.waiting`, `waiting_bytes` and `waiting_since` show the backlog, `stalled` its reason.',
      tags,
      ...reads,
      request: { params: watchParam },
      responses: { 200: json(Watch, 'The watch.'), ...problems(400) },
    }),
    async (c) => {
      const watch = await adapters.watches.findWatch(c.get('principal').idOrg, c.req.valid('param').id);
      if (watch === null) throw noWatch();
      return c.json(wire(watch), 200);
    },
  );
}

function changeOperation({ adapters, config, withBody }: Shared) {
  return operation(
    createRoute({
      method: 'patch',
      path: '/v2/watches/{id}',
      operationId: 'changeWatch',
      summary: 'Change, pause or resume a watch',
      description:
        'Its list of files is kept. `{"paused": true}` pauses it, but a running job continues; `{"paused": false}` resumes it, also after `on_drift` has paused it.',
      tags,
      ...withBody(),
      request: {
        params: watchParam,
        body: { required: true, content: { 'application/json': { schema: WatchChange } } },
      },
      responses: { 200: json(Watch, 'The watch.'), ...problems(400, 409, 413, 415) },
    }),
    async (c) => {
      await refuseProto(c);
      const { id } = c.req.valid('param');
      const watch = await changeWatch(adapters, config, c.get('principal').idOrg, id, c.req.valid('json'));
      return c.json(wire(watch), 200);
    },
  );
}

function removeOperation({ adapters, changes }: Shared) {
  return operation(
    createRoute({
      method: 'delete',
      path: '/v2/watches/{id}',
      operationId: 'removeWatch',
      summary: 'Remove a watch',
      description:
        'Its list of files is removed, too: another watch of the same location loads all files. Jobs and rows stay, and a running job continues.',
      tags,
      ...changes,
      request: { params: watchParam },
      responses: { ...removed, ...problems(400) },
    }),
    async (c) => {
      if (!(await adapters.watches.removeWatch(c.get('principal').idOrg, c.req.valid('param').id)))
        throw noWatch();
      return c.body(null, 204);
    },
  );
}

function runOperation({ adapters, config, withBody }: Shared) {
  return operation(
    createRoute({
      method: 'post',
      path: '/v2/watches/{id}/run',
      operationId: 'runWatch',
      summary: 'Check the location now, and retry rejected files',
      description:
        'The body is optional. The request returns at once: the location is checked within moments, and files are loaded when they have settled. Refused while the watch is paused.',
      tags,
      ...withBody(optionalJsonBody(config.limits.jsonBodyBytes)),
      request: {
        params: watchParam,
        body: { required: false, content: { 'application/json': { schema: WatchRun } } },
      },
      responses: { 202: json(Watch, 'The watch, due now.'), ...problems(400, 409, 413, 415) },
    }),
    async (c) => {
      requireCommands(config);
      const { retry = false, names } = c.req.valid('json') ?? {};
      const which = names ?? (retry ? 'all' : 'none');
      const watch = await adapters.watches.runNow(c.get('principal').idOrg, c.req.valid('param').id, which);
      if (watch === null) throw noWatch();
      return c.json(wire(watch), 202);
    },
  );
}

function filesOperation({ adapters, reads }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/watches/{id}/files',
      operationId: 'listWatchFiles',
      summary: 'List the files of a watch, the newest first',
      description:
        '`waiting` for it to settle or for its turn, `loading` in a job, `loaded`, `rejected` with its `reason`, or `ignored`: removed, replaced, or with content that was already loaded under that name.',
      tags,
      ...reads,
      request: {
        params: watchParam,
        query: pageQuery.extend({
          status: fileStatus
            .optional()
            .openapi({ description: 'Only files with this state.', example: 'rejected' }),
        }),
      },
      responses: {
        200: { ...json(WatchFilePage, 'A page of files, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { page = 0, size = defaultPageSize, status = null } = c.req.valid('query');
      const { id } = c.req.valid('param');
      const found = await adapters.watches.listWatchFiles(c.get('principal').idOrg, id, status, page, size);
      if (found === null) throw noWatch();
      return c.json(linkedPage(c, 'query', found), 200);
    },
  );
}
