/** Settings of Spark as people may see them. */
import { maskSecrets } from '../secrets/mask-secrets.ts';

/** What Spark's own `spark.redaction.regex` takes for a secret, and keys of storage accounts. */
const secretName = /secret|passw|token|credential|access[._-]?key|account[._-]?key|sas[._]|\.key$/i;

export function settingHoldsSecret(name: string, value: string): boolean {
  return secretName.test(name) || maskSecrets(`${name}=${value}`) !== `${name}=${value}`;
}

/** The values with `***` for secrets, by names without `spark.`: the group `spark` of a job record. */
export function shownSettings(settings: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(settings).map(([name, value]) => [
    name.replace(/^spark\./, ''),
    secretName.test(name) ? '***' : maskSecrets(`${name}=${value}`).slice(name.length + 1),
  ]);
  return Object.fromEntries(shown) as Record<string, string>;
}
