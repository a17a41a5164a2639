/** The rules for the name of a schema: it is a segment of paths, as in `/v2/extensions/cil/mapping/{cfxml}`. */

/** `group` is a path of its own there; `.` and `..` are taken out of every address by who sends it, also where they are escaped. */
const reserved: ReadonlySet<string> = new Set(['group', '.', '..']);

export function isReservedName(name: string): boolean {
  return reserved.has(name);
}

export function maySchemaBeCalled(name: string): boolean {
  return name !== '' && !isReservedName(name) && !/[/\0]/.test(name);
}
