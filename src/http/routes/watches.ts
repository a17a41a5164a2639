/** Watches: /v2/watches. Reading them needs `jobs:read`, all other operations `jobs:run`, like their jobs. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { requireCommands } from '../../jobs/submit.ts';
import { changeWatch, createWatch, noWatch } from '../../watches/define.ts';
import { wire } from '../answers/wire.ts';
import type { Guards } from '../middleware/auth.ts';
import { jsonBody, optionalJsonBody, refuseProto } from '../requests/json-body.ts';
import { createGroup, json, operation, problems, removed } from '../requests/operation.ts';
import { defaultPageSize, sizeQuery, toWirePage, int32, int64 } from '../requests/paging.ts';
import {
  fileStatus,
  NewWatch,
  Watch,
  WatchChange,
  WatchFilePage,
  WatchPage,
  WatchRun,
} from '../schemas/watches.ts';

const tags = ['watches'];
const watchParam = z.object({ id: int64('The watch.', 3) });
const pageQuery = sizeQuery.extend({ page: int32('Number of the page, from 0; 0 without it.').optional() });

type WatchRouteAdapters = Pick<
  Adapters,
  'watches' | 'catalog' | 'files' | 'secrets' | 'credentials' | 'clock'
>;

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
  return operation(
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
      responses: { 201: json(Watch, 'The watch.'), ...problems(400, 409, 413, 415) },
    }),
    async (c) => {
      await refuseProto(c);
      const watch = await createWatch(adapters, config, c.get('principal').idOrg, c.req.valid('json'));
      c.set('auditSubject', `watch ${watch.id_watch}`);
      return c.json(wire(watch), 201, { Location: `/v2/watches/${watch.id_watch}` });
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
        'What each looks at, when it does so next, and how many files wait, are loaded or were rejected.',
      tags,
      ...reads,
      request: { query: pageQuery },
      responses: { 200: json(WatchPage, 'A page of watches, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { page = 0, size = defaultPageSize } = c.req.valid('query');
      return c.json(
        wire(toWirePage(await adapters.watches.listWatches(c.get('principal').idOrg, page, size))),
        200,
      );
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
        '`next_run` is when it looks next; `files.waiting`, `waiting_bytes` and `waiting_since` tell how far behind it is, `stalled` why it is.',
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
        'Its files stay known. `{"paused": true}` stops it, while a job of it goes on; `{"paused": false}` goes on, also after `on_drift` has stopped it.',
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
        'What it knew of files goes with it: another watch of the same location loads them all. Jobs and rows stay, and a job under way goes on.',
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
      summary: 'Look now, and try rejected files again',
      description:
        'The body may be left out. The answer does not wait: the location is looked at within moments, and files are loaded when they have settled. Refused while the watch is paused.',
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
      summary: 'List the files of a watch, the last met first',
      description:
        '`waiting` for it to settle or for its turn, `loading` in a job, `loaded`, `rejected` with its `reason`, or `ignored`: gone, replaced, or with a content that was loaded under that name.',
      tags,
      ...reads,
      request: {
        params: watchParam,
        query: pageQuery.extend({
          status: fileStatus
            .optional()
            .openapi({ description: 'Files of that state alone.', example: 'rejected' }),
        }),
      },
      responses: { 200: json(WatchFilePage, 'A page of files, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { page = 0, size = defaultPageSize, status = null } = c.req.valid('query');
      const { id } = c.req.valid('param');
      const found = await adapters.watches.listWatchFiles(c.get('principal').idOrg, id, status, page, size);
      if (found === null) throw noWatch();
      return c.json(wire(toWirePage(found)), 200);
    },
  );
}
