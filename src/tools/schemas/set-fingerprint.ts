/** The fingerprint of an XSD set: two with the same one are compiled and mapped to the same models. */
import type { EngineLimits } from '../../engine/limits.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { engineIdentity } from '../../installation.ts';
import { sha256Of } from '../../storage/staging/durable-file.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import { defaultMapLevel } from './choice.ts';

/** SHA-256, hexadecimal, of the files, the options that shape models, and the program itself. */
export function setFingerprint(
  { records, entries }: Pick<XsdSetFiles, 'records' | 'entries'>,
  request: ToolRequest,
  limits: EngineLimits,
): string {
  // an option that is omitted and one that has its default value must give the same fingerprint
  const mapLevel = request.mapLevel ?? defaultMapLevel;
  const options = { ...shapingOptions(request), mapLevel, missing: request.missing };
  const files = records.map(({ name, sha256 }) => [name, sha256]);
  return sha256Of(JSON.stringify([files, entries ?? null, options, limits, engineIdentity()]));
}

const shaping = [
  'mapLevel',
  'nameMode',
  'prefix',
  'suffix',
  'nameMaxLen',
  'defaultVarcharLen',
  'rename',
  'root',
  'extraColumns',
] as const satisfies readonly (keyof ToolRequest)[];

/** Returns the options that shape every model. */
export function shapingOptions(request: ToolRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(shaping.map((name) => [name, request[name]]));
}
