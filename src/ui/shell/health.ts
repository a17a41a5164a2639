/** Shows the health of the service in a word at the top of the page. */
import { serviceUrl } from '../service-url.ts';
import { keptKey } from './key.ts';
import { fill, h } from '../parts/controls.ts';

const everyMs = 15_000;

interface HealthAnswer {
  readonly status: string;
  readonly components?: Readonly<Record<string, { readonly status: string }>>;
}

const words: Readonly<Record<string, string>> = {
  UP: 'healthy',
  DOWN: 'down',
  OUT_OF_SERVICE: 'draining',
  UNKNOWN: 'unknown',
};

export function healthSign(): HTMLElement {
  const sign = h('span', { class: 'health', role: 'status' }, 'health …');
  const show = async (): Promise<void> => {
    if (document.visibilityState === 'hidden') return;
    const health = await readHealth();
    const bad = Object.entries(health.components ?? {}).filter(
      ([, { status }]) => status !== 'UP' && status !== 'UNKNOWN',
    );
    const text = [words[health.status] ?? health.status, ...bad.map(([name]) => name)].join(', ');
    if (sign.dataset['shown'] === text) return;
    sign.dataset['shown'] = text;
    sign.className = `health ${health.status === 'UP' ? 'good' : 'bad'}`;
    fill(
      sign,
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      h('span', { class: 'sr' }, 'Service: '),
      text,
    );
  };
  void show();
  setInterval(() => void show(), everyMs);
  addEventListener('key-changed', () => void show());
  return sign;
}

/** Reads the health: an unhealthy service answers 503 with the same JSON; an unknown key must not hide it. */
async function readHealth(): Promise<HealthAnswer> {
  const key = keptKey()?.key;
  try {
    const response = await fetch(`${serviceUrl}actuator/health`, {
      headers: {
        Accept: 'application/json',
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      },
      cache: 'no-store',
    });
    return (await response.json()) as HealthAnswer;
  } catch {
    return { status: 'no answer' };
  }
}
