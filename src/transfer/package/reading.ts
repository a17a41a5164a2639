/** Reads a part line by line and compares it with the manifest, each time it is read: a folder may change between two readings. */
import type { PackageFolder } from '../../ports/files/package-folder.ts';
import { parseJson } from './format.ts';
import type { PartEntry, PartName } from './format.ts';
import { lineShapes } from './records.ts';
import type { PartLines } from './records.ts';
import { packageFault } from '../shapes/json-shape.ts';

/** AppError `unprocessable_input` at a line of another shape; at the end, if the part differs from the manifest. */
export async function* readPart<Part extends PartName>(
  folder: PackageFolder,
  name: Part,
  parts: readonly PartEntry[],
): AsyncGenerator<PartLines[Part]> {
  const entry = parts.find((part) => part.name === name)!;
  const reading = folder.read(name);
  const shape = lineShapes[name];
  let number = 0;
  for await (const line of reading.lines) {
    number += 1;
    if (number > entry.records) throw changed(name);
    const at = `${name} line ${number}`;
    const value = parseJson(line, at);
    shape(value, at);
    yield value as PartLines[Part];
  }
  const found = reading.digest();
  if (found.sha256 !== entry.sha256 || found.records !== entry.records || found.bytes !== entry.bytes)
    throw changed(name);
}

function changed(name: string): Error {
  return packageFault(`${name} is not what the manifest says: it was changed or cut off`);
}
