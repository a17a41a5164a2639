/** Reads YAML in block style whose texts are words or in double quotes: not by the code that writes it. */

export function readYaml(text: string): unknown {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ indent: line.length - line.trimStart().length, rest: line.trim() }));
  const [value, end] = block(lines, 0, lines[0]?.indent ?? 0);
  if (end !== lines.length) throw new Error(`line ${end + 1} of ${lines.length} is not read`);
  return value;
}

type Lines = { indent: number; rest: string }[];

function block(lines: Lines, from: number, indent: number): [unknown, number] {
  return lines[from]!.rest.startsWith('-') ? list(lines, from, indent) : members(lines, from, indent);
}

function list(lines: Lines, from: number, indent: number): [unknown[], number] {
  const items: unknown[] = [];
  let at = from;
  while (at < lines.length && lines[at]!.indent === indent && lines[at]!.rest.startsWith('- ')) {
    const rest = lines[at]!.rest.slice(2);
    if (!isMember(rest) && !rest.startsWith('- ')) {
      items.push(scalar(rest));
      at += 1;
      continue;
    }
    lines[at] = { indent: indent + 2, rest };
    const [item, next] = block(lines, at, indent + 2);
    items.push(item);
    at = next;
  }
  return [items, at];
}

function members(lines: Lines, from: number, indent: number): [Record<string, unknown>, number] {
  const found: Record<string, unknown> = {};
  let at = from;
  while (at < lines.length && lines[at]!.indent === indent && !lines[at]!.rest.startsWith('- ')) {
    const { rest } = lines[at]!;
    const [, name, value] = member.exec(rest) ?? [];
    if (name === undefined) throw new Error(`no member: ${rest}`);
    if (value !== undefined) {
      found[String(scalar(name))] = scalar(value);
      at += 1;
    } else [found[String(scalar(name))], at] = block(lines, at + 1, lines[at + 1]!.indent);
  }
  return [found, at];
}

const member = /^("(?:[^"\\]|\\.)*"|[A-Za-z][\w -]*):(?: (.*))?$/;

function isMember(text: string): boolean {
  return /^(?:"(?:[^"\\]|\\.)*"|[A-Za-z][\w -]*):(?: |$)/.test(text);
}

function scalar(text: string): unknown {
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?|\[\]|\{\}|".*")$/.test(text)) return JSON.parse(text);
  if (!/^[A-Za-z][\w-]*(?: [\w-]+)*$/.test(text)) throw new Error(`a text without quotes: ${text}`);
  return text;
}
