/** The fingerprint of an XSD set: two with the same one are compiled and mapped to the same models. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { EngineLimits } from '../../engine/limits.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import type { XsdSetFiles } from '../inputs/xsd-files.ts';
import { defaultMapLevel } from './model-choices.ts';

/** SHA-256, hexadecimal, of the files, the options that shape models, and the program itself. */
export async function setFingerprint(
  { records, entries }: Pick<XsdSetFiles, 'records' | 'entries'>,
  request: ToolRequest,
  limits: EngineLimits,
): Promise<string> {
  const { mapLevel, nameMode, prefix, suffix, nameMaxLen, defaultVarcharLen, rename, root, missing } =
    request;
  const options = {
    // what is not said and what is said to be so come to the same
    mapLevel: mapLevel ?? defaultMapLevel,
    nameMode,
    prefix,
    suffix,
    nameMaxLen,
    defaultVarcharLen,
    rename,
    root,
    missing,
  };
  const files = records.map(({ name, sha256 }) => [name, sha256]);
  const hash = createHash('sha256');
  hash.update(JSON.stringify([files, entries ?? null, options, request.extraColumns, limits]));
  for (const code of await engineCode()) hash.update(code);
  return hash.digest('hex');
}

/** What decides on the models: a program that reads or draws otherwise has another fingerprint. */
async function engineCode(): Promise<readonly Uint8Array[]> {
  const engine = new URL('../../engine/', import.meta.url);
  const files = (await readdir(engine, { recursive: true }))
    .filter((name) => /^(?:map|model|xml|xsd)\b.*\.[jt]s$/.test(name))
    .toSorted();
  return Promise.all(files.map((name) => readFile(new URL(name, engine))));
}
