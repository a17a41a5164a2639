/** Writes values of JSON as YAML 1.2 in block style, in a form that readers of YAML 1.1 interpret in the same way. */

export type YamlValue =
  | string
  | number
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [name: string]: YamlValue | undefined };

/** A whole value, its lines `indent` columns in; ends with a line end. Members that are undefined are left out. */
export function yaml(value: YamlValue, indent = 0): string {
  if (isList(value) && value.length > 0) return value.map((item) => yamlItem(item, indent)).join('');
  const members = membersOf(value);
  if (members.length === 0) return `${' '.repeat(indent)}${inline(value)}\n`;
  return members.map(([name, member]) => ' '.repeat(indent) + entry(name, member, indent)).join('');
}

/** One item of a list, so that a long list can be written item by item. */
export function yamlItem(item: YamlValue, indent: number): string {
  const lead = `${' '.repeat(indent)}- `;
  // the first line of the item's content follows the dash
  return isBlock(item) ? lead + yaml(item, indent + 2).slice(indent + 2) : `${lead}${inline(item)}\n`;
}

function entry(name: string, member: YamlValue, indent: number): string {
  if (!isBlock(member)) return `${text(name)}: ${inline(member)}\n`;
  return `${text(name)}:\n${yaml(member, indent + 2)}`;
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function membersOf(value: YamlValue): (readonly [string, YamlValue])[] {
  if (typeof value !== 'object' || value === null || isList(value)) return [];
  return Object.entries(value).filter((member): member is [string, YamlValue] => member[1] !== undefined);
}

function isBlock(value: YamlValue): boolean {
  return isList(value) ? value.length > 0 : membersOf(value).length > 0;
}

function inline(value: YamlValue): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'object' && value !== null) return isList(value) ? '[]' : '{}';
  return String(value);
}

/** Words that some version of YAML does not interpret as text. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

/** The characters that YAML cannot hold unescaped, or treats as line ends. JSON escapes the others. */
const unprintable = /[\u{7F}-\u{9F}\u{2028}\u{2029}\u{FEFF}\u{FFFE}\u{FFFF}]/gu;

/** Writes a text in double quotes, which are correct for any content, unless it consists of words alone. */
function text(value: string): string {
  if (/^[A-Za-z][\w-]*(?: [\w-]+)*$/.test(value) && !reserved.test(value)) return value;
  return JSON.stringify(value.toWellFormed()).replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
