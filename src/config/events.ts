/** The settings `svc.webhooks.*` and `svc.openlineage.*`. */
import type { EventConfig } from './shape.ts';
import { parseCount, parseHttpAddress, parseQuantity, parseWebhookSecret, timeUnits } from './values.ts';

export const eventProperties = [
  {
    name: 'svc.webhooks.url',
    initial: '',
    meaning: 'address that is told of every job that ends; empty: none',
  },
  {
    name: 'svc.webhooks.secret',
    initial: '',
    meaning: 'whsec_ and the base64 of 24 to 64 bytes, which sign webhooks; needed for them',
  },
  { name: 'svc.webhooks.attempts', initial: '8', meaning: 'deliveries that are tried of one event' },
  {
    name: 'svc.webhooks.retry',
    initial: '5 s',
    meaning: 'pause before the second delivery; each further one is four times as long, at most a day',
  },
  {
    name: 'svc.openlineage.url',
    initial: '',
    meaning:
      'address that gets OpenLineage events of jobs, such as https://host/api/v1/lineage; empty: none does',
  },
  { name: 'svc.openlineage.key', initial: '', meaning: 'bearer token for that address' },
  {
    name: 'svc.openlineage.namespace',
    initial: 'conversion-job-service',
    meaning: 'namespace of the jobs in OpenLineage events',
  },
] as const;

type EventProperty = (typeof eventProperties)[number]['name'];

/** Reads the settings of events. Faults are added to `complaints`. */
export function readEvents(
  read: <T>(name: EventProperty, parse: (text: string) => T) => T,
  complaints: string[],
): EventConfig {
  const url = read('svc.webhooks.url', parseHttpAddress);
  const secret = read('svc.webhooks.secret', parseWebhookSecret);
  if (url !== null && secret === null)
    complaints.push('svc.webhooks.secret: is needed where svc.webhooks.url is set');
  const lineage = {
    url: read('svc.openlineage.url', parseHttpAddress),
    key: read('svc.openlineage.key', (text) => (text === '' ? null : text)),
    namespace: read('svc.openlineage.namespace', (text) => text),
  };
  return {
    webhook: url === null || secret === null ? null : { url, secret },
    openLineage: lineage.url === null ? null : { ...lineage, url: lineage.url },
    attempts: read('svc.webhooks.attempts', (text) => parseCount(text, 1)),
    retryMs: read('svc.webhooks.retry', (text) => parseQuantity(text, timeUnits, 'a time such as 30 s')),
  };
}
