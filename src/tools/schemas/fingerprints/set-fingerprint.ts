/** The fingerprint of an XSD set: two with the same one are compiled and mapped to the same models. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { EngineLimits } from '../../../engine/limits.ts';
import type { ToolRequest } from '../../../jobs/request/tool-request.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import { defaultMapLevel } from '../model-choices.ts';

/** SHA-256, hexadecimal, of the files, the options that shape models, and the program itself. */
export async function setFingerprint(
  { records, entries }: Pick<XsdSetFiles, 'records' | 'entries'>,
  request: ToolRequest,
  limits: EngineLimits,
): Promise<string> {
  // what is not said and what is said to be so come to the same
  const mapLevel = request.mapLevel ?? defaultMapLevel;
  const options = { ...shapingOptions(request), mapLevel, missing: request.missing };
  const files = records.map(({ name, sha256 }) => [name, sha256]);
  const hash = createHash('sha256');
  hash.update(JSON.stringify([files, entries ?? null, options, limits]));
  for (const code of await engineCode()) hash.update(code);
  return hash.digest('hex');
}

/** Those that every model is drawn by. */
export function shapingOptions({
  mapLevel,
  nameMode,
  prefix,
  suffix,
  nameMaxLen,
  defaultVarcharLen,
  rename,
  root,
  extraColumns,
}: ToolRequest) {
  return {
    mapLevel,
    nameMode,
    prefix,
    suffix,
    nameMaxLen,
    defaultVarcharLen,
    rename,
    root,
    extraColumns,
  };
}

/** What decides on the models: a program that reads or draws otherwise has another fingerprint. */
export async function engineCode(): Promise<readonly Uint8Array[]> {
  const engine = new URL('../../../engine/', import.meta.url);
  const files = (await readdir(engine, { recursive: true }))
    .filter((name) => /^(?:infer|map|model|xml|xsd)\b.*\.[jt]s$/.test(name))
    .toSorted();
  return Promise.all(files.map((name) => readFile(new URL(name, engine))));
}
