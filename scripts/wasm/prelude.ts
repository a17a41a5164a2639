/** The part of an AssemblyScript source that is made: constants of the memory that a kernel and TypeScript both work on. */

type Constants = Readonly<Record<string, number>>;

/** Constants by what they count. */
export interface Prelude {
  /** address of the control block */
  readonly controlAt: number;
  /** int32 of the control block, by their index */
  readonly slots?: Constants;
  /** int32 of the control block, by their offset in bytes */
  readonly slotBytes?: Constants;
  /** int32 of a record, by their index */
  readonly fields?: Constants;
  /** bytes from the start of a record */
  readonly offsets?: Constants;
  readonly integers?: Constants;
  readonly characters?: Constants;
}

/** Some constants of a module. */
export function pick<Module extends object, Name extends keyof Module>(
  module: Module,
  ...names: readonly Name[]
): Pick<Module, Name> {
  return Object.fromEntries(names.map((name) => [name, module[name]])) as Pick<Module, Name>;
}

function lines(constants: Constants, type: string, valueOf: (value: number) => number): string[] {
  return Object.entries(constants).map(([name, value]) => `const ${name}${type} = ${valueOf(value)};`);
}

/** `const NAME: type = value;`, a line each. Addresses and offsets are `usize`, characters `u8`, all else `i32`. */
export function preludeText(prelude: Prelude): string {
  const {
    controlAt,
    slots = {},
    slotBytes = {},
    fields = {},
    offsets = {},
    integers = {},
    characters = {},
  } = prelude;
  return [
    `const CONTROL: usize = ${controlAt};`,
    ...lines(slots, ': usize', (index) => controlAt + index * 4),
    ...lines(slotBytes, ': usize', (offset) => controlAt + offset),
    ...lines(fields, ': usize', (index) => index * 4),
    ...lines(offsets, ': usize', (offset) => offset),
    ...lines(integers, '', (value) => value),
    ...lines(characters, ': u8', (code) => code),
    '',
  ].join('\n');
}
