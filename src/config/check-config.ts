/** Checks once the settings that a host hands to the application, so that a missing member is named here and not discovered later. */
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
