/** Background work of a service and of a worker: delivering events, and removing records past their retention time. */
import { createHostResolver, createPinnedHttp } from '../network/checked-http.ts';
import { createPostgresEventOutbox } from '../metadb/event-outbox.ts';
import { createPostgresRetentionStore } from '../metadb/retention-store.ts';
import { createOutgoingGuard } from '../service/access/outgoing-guard.ts';
import type { Limits } from '../config/limits.ts';
import {
  createEventDelivery,
  type Receiver,
  isJobEvent,
  decodeWebhookSecret,
  signedHeaders,
  webhookBody,
} from '../service/events/deliver.ts';
import { type NamedDatabase, openLineageBody } from '../service/events/open-lineage.ts';
import { sweepExpired } from '../service/jobs/retention.ts';
import { pause } from '../service/jobs/worker/waiting.ts';
import { messageOf } from '../service/jobs/worker/run-jobs.ts';
import type { BuildInfo } from '../ports/adapters.ts';
import type { OpenedInstallation } from './open-installation.ts';

export interface Housekeeping {
  /** Ends running work. Idempotent. */
  stop(): Promise<void>;
}

/** The settings of the process that starts last decide which events are recorded from then on. */
export async function startHousekeeping(
  opened: OpenedInstallation,
  build: Pick<BuildInfo, 'name' | 'version'>,
): Promise<Housekeeping> {
  const { adapters, config, sql } = opened;
  const stopping = new AbortController();
  const outbox = createPostgresEventOutbox(sql);
  const receivers = receiversOf(opened, build);
  await outbox.recordKinds(receivers.map(({ kind }) => kind));
  const delivery = createEventDelivery({
    outbox,
    guard: createOutgoingGuard(config.allowedHosts, createHostResolver()),
    http: createPinnedHttp(),
    logger: adapters.logger,
    receivers,
    maxAttempts: config.events.attempts,
    retryMs: config.events.retryMs,
  });
  delivery.start();

  const retention = createPostgresRetentionStore(sql);
  const sweeping = (async () => {
    while (!stopping.signal.aborted) {
      await sweepExpired({ ...adapters, retention }, config.limits).catch((error: unknown) =>
        adapters.logger.warn('expired records cannot be removed now', { error: messageOf(error) }),
      );
      await pause(sweepPauseMs(config.limits), stopping.signal);
    }
  })();

  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([delivery.stop(), sweeping]);
    },
  };
}

/** A tenth of the shortest time that something is kept, from a second to an hour. */
function sweepPauseMs({ keepJobsMs, keepUploadsMs, keepIdempotencyKeysMs }: Limits): number {
  const shortest = Math.min(keepJobsMs, keepUploadsMs, keepIdempotencyKeysMs);
  return Math.min(Math.max(shortest / 10, 1000), 3_600_000);
}

function receiversOf(
  { adapters, config, databaseUrl }: OpenedInstallation,
  build: Pick<BuildInfo, 'name' | 'version'>,
): readonly Receiver[] {
  const receivers: Receiver[] = [];
  const { webhook, openLineage } = config.events;
  if (webhook !== null) {
    const secret = decodeWebhookSecret(webhook.secret)!;
    receivers.push({
      kind: 'webhook',
      url: new URL(webhook.url),
      render: async (event) => {
        const body = webhookBody(event);
        const headers = await signedHeaders(secret, `msg_${event.message}`, adapters.clock.nowMs(), body);
        return { headers, body };
      },
    });
  }
  if (openLineage !== null) {
    const headers: Record<string, string> = {};
    if (openLineage.key !== null) headers['Authorization'] = `Bearer ${openLineage.key}`;
    const settings = {
      namespace: openLineage.namespace,
      producer: `urn:${build.name}:${build.version}`,
      metadb: metadataDatabase(databaseUrl),
    };
    receivers.push({
      kind: 'openlineage',
      url: new URL(openLineage.url),
      render: async (event) => {
        // none of this kind is recorded of a watch
        if (!isJobEvent(event)) throw new TypeError('lineage is of jobs');
        return { headers, body: await openLineageBody(adapters, settings, event) };
      },
    });
  }
  return receivers;
}

function metadataDatabase(url: string): NamedDatabase {
  const { hostname, port, pathname } = new URL(url);
  return { address: `${hostname}:${port || '5432'}`, name: decodeURIComponent(pathname.slice(1)) };
}
