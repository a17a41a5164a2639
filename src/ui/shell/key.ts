/** The API key, for this tab or, if the user chose so, for this browser. It is in no address and in no cookie. */
import { serviceUrl } from '../service-url.ts';

/** Services below other prefixes of the same host have keys of their own. */
const slot = `conversion-job-service key ${new URL(serviceUrl).pathname}`;

export interface KeptKey {
  readonly key: string;
  readonly forBrowser: boolean;
}

export function keptKey(): KeptKey | null {
  for (const [store, forBrowser] of [
    [sessionStorage, false],
    [localStorage, true],
  ] as const) {
    const key = store.getItem(slot);
    if (key !== null) return { key, forBrowser };
  }
  return null;
}

export function keepKey({ key, forBrowser }: KeptKey): void {
  forgetKey();
  (forBrowser ? localStorage : sessionStorage).setItem(slot, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(slot);
  localStorage.removeItem(slot);
}
