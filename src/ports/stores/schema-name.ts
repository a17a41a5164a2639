/** The rules for the name of a schema: it is a segment of paths, as in `/v2/extensions/cil/mapping/{cfxml}`. */

/** `group` is a path of its own there; clients remove `.` and `..` from every address, even escaped. */
const reserved: ReadonlySet<string> = new Set(['group', '.', '..']);

export function isReservedName(name: string): boolean {
  return reserved.has(name);
}

export function maySchemaBeCalled(name: string): boolean {
  return name !== '' && !isReservedName(name) && !/[/\0]/.test(name);
}
