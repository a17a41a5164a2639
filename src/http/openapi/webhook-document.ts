/**
 * The OpenAPI document of the calls that the service makes itself: webhooks of ended jobs, of watches and of their files. It is one of
 * its own: generators of clients make a client of all that they read, and some give up the group of endpoints that a webhook shares its
 * tag with.
 */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { interfaceInfo } from './document.ts';
import { Job, exampleJob } from '../routes/job-shapes.ts';
import { Watch, WatchFile, exampleFile, exampleWatch } from '../routes/watches.ts';

const JobEvent = z
  .object({
    type: z.enum(['job.completed', 'job.failed', 'job.killed', 'job.expired', 'job.lost']),
    timestamp: z.iso.datetime(),
    data: Job,
  })
  .openapi('JobEvent', {
    description: 'Sent when a job ends, if `svc.webhooks.url` is set. `data` is the job record.',
    example: { type: 'job.completed', timestamp: '2026-09-21T14:13:21.301Z', data: exampleJob },
  });

const stalledWatch = {
  ...exampleWatch,
  stalled: 'inbox/statements: there is no such file or folder',
  stalled_at: 1790000301000,
};

const WatchStalledEvent = z
  .object({ type: z.literal('watch.stalled'), timestamp: z.iso.datetime(), data: Watch })
  .openapi('WatchStalledEvent', {
    description: 'Sent when a watch stalls, and when the reason changes. `data` is its record.',
    example: { type: 'watch.stalled', timestamp: '2026-09-21T14:18:21.000Z', data: stalledWatch },
  });

const rejectedFile = {
  id_watch: 3,
  id_org: 1,
  watch: 'statements',
  ...exampleFile,
  status: 'rejected' as const,
  reason: 'line 7, column 12: the end tag does not match',
};

const FileRejectedEvent = z
  .object({
    type: z.literal('file.rejected'),
    timestamp: z.iso.datetime(),
    data: WatchFile.extend({
      id_watch: z.int().openapi({ format: 'int64' }),
      id_org: z.int().openapi({ format: 'int64' }),
      watch: z.string().openapi({ description: 'Name of the watch.' }),
    }).openapi('RejectedFile', { example: rejectedFile }),
  })
  .openapi('FileRejectedEvent', {
    description: 'Sent when a watch rejects a file.',
    example: { type: 'file.rejected', timestamp: '2026-09-21T14:18:21.000Z', data: rejectedFile },
  });

const signature = {
  'webhook-id': z.string().openapi({
    description: 'The same for every attempt.',
    example: 'msg_0b6a9d4e-55a1-4b3e-8f0c-2f6d7c1e9a10',
  }),
  'webhook-timestamp': z
    .string()
    .openapi({ description: 'Of this attempt, in Unix time.', example: '1790000002' }),
  'webhook-signature': z.string().openapi({
    description: 'Standard Webhooks: `v1,` and the base64 of an HMAC-SHA256 over id, timestamp and body.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
};

export function createWebhookDocument(): object {
  const app = new OpenAPIHono();
  const register = (path: string, operationId: string, summary: string, schema: z.ZodType): void =>
    app.openAPIRegistry.registerWebhook({
      method: 'post',
      path,
      operationId,
      summary,
      description: 'Sent by the service, and retried until the answer is 2xx; 410 ends the retries.',
      tags: ['webhooks'],
      security: [],
      request: {
        headers: z.object(signature),
        body: { required: true, content: { 'application/json': { schema } } },
      },
      responses: {
        204: { description: 'Accepted, as is any other 2xx.' },
        410: { description: 'The receiver does not want this event: it is not retried.' },
      },
    });
  register('jobEnded', 'tellJobEnded', 'A job has ended', JobEvent);
  register('watchStalled', 'tellWatchStalled', 'A watch has stalled', WatchStalledEvent);
  register('fileRejected', 'tellFileRejected', 'A file was rejected', FileRejectedEvent);
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      ...interfaceInfo,
      title: 'Conversion Job Service: webhooks',
      description: 'What the service sends to the address in `svc.webhooks.url`.',
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'webhooks', description: 'Calls that the service makes.' }],
  });
}
