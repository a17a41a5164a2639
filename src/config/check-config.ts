/** What a host hands to the application as its settings: checked once, so that a member that is missing is named here and not met later. */
import { ConfigError } from './wrong-settings.ts';
import { configShape } from './shape.ts';

/** ConfigError lists every member that is not as the type has it; no value is repeated, as some are secrets. */
export function checkConfig(config: unknown): void {
  const { error } = configShape.safeParse(config);
  if (error === undefined) return;
  throw new ConfigError(
    error.issues.map(({ path, message }) => `${['config', ...path.map(String)].join('.')}: ${message}`),
  );
}
