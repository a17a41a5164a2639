/** Settings of Spark as people may give and see them. */
import type { RequestDraft } from '../request/tool-request.ts';
import { maskSecrets } from '../mask-secrets.ts';

/** Matches the settings that Spark's own `spark.redaction.regex` regards as secret, and keys of storage accounts. */
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

/** The settings that a client may set on the operator's cluster; all others belong to the operator, in the properties. */
const sparkSettingsOverRest: ReadonlySet<string> = new Set([
  'spark.driver.memory',
  'spark.driver.memoryOverhead',
  'spark.executor.memory',
  'spark.executor.memoryOverhead',
  'spark.driver.cores',
  'spark.executor.cores',
  'spark.cores.max',
  'spark.executor.instances',
  'spark.yarn.tags',
]);

/** Reads `--spark-conf`; returns its fault, or null if there is none. */
export function sparkSetting(
  draft: RequestDraft,
  value: string,
  rest: { readonly index: number } | null,
): string | null {
  const equals = value.indexOf('=');
  const [key, setting] = [value.slice(0, Math.max(equals, 0)), value.slice(equals + 1)];
  if (!/^spark\.[A-Za-z0-9._-]+$/.test(key) || setting === '') return 'must be spark.SETTING=VALUE';
  if (Object.hasOwn(draft.sparkConf, key)) return `sets ${key} twice`;
  if (rest !== null && !sparkSettingsOverRest.has(key))
    return `${key} is not open to requests: memory, cores, instances and tags are`;
  if (rest !== null && !/^[A-Za-z0-9_.,-]{1,128}$/.test(setting))
    return `the value of ${key} has characters that are not allowed`;
  draft.sparkConf = { ...draft.sparkConf, [key]: setting };
  return null;
}
