/** Structures of the OpenAPI document as types of Python. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export const generatedBy =
  '# Written by `npm run client:python` from the OpenAPI document; not to be edited.';

const plain: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, Any]',
  array: 'list[Any]',
};

/** Names of Python that no member or parameter can have. */
const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** A name of the document as one of Python: `idSch` is `id_sch`, `from` is `from_`. */
export function pythonName(name: string): string {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toLowerCase();
  return keywords.has(snake) ? `${snake}_` : snake;
}

/** A text as a docstring's content, on lines of its own. */
export function docstring(text: string, indent: string): string {
  const clean = text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').trim();
  const lines = clean.split('\n').map((line) => (line === '' ? '' : indent + line));
  return `${indent}"""${lines.join('\n').slice(indent.length)}${clean.endsWith('"') ? ' ' : ''}"""\n`;
}

/** `named`: how components are written (`models.Job`). Binary strings are bytes. */
export function pythonType(schema: Schema | undefined, named: (name: string) => string): string {
  if (schema === undefined) return 'Any';
  if (schema.$ref !== undefined) return named(schema.$ref.split('/').at(-1)!);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((one) => pythonType(one, named)));
  if (schema.enum !== undefined)
    return union([
      `Literal[${schema.enum
        .filter((one) => one !== null)
        .map((one) => JSON.stringify(one))
        .join(', ')}]`,
      ...(schema.enum.includes(null) ? ['None'] : []),
    ]);
  if (schema.format === 'binary') return 'bytes';
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'Any';
  return union(types.map((type) => single(type, schema, named)));
}

function single(type: string, schema: Schema, named: (name: string) => string): string {
  if (type === 'array' && schema.items !== undefined) return `list[${pythonType(schema.items, named)}]`;
  if (type === 'object' && typeof schema.additionalProperties === 'object')
    return `dict[str, ${pythonType(schema.additionalProperties, named)}]`;
  const found = plain[type];
  if (found === undefined) throw new Error(`there is no type of Python for ${JSON.stringify(schema)}`);
  return found;
}

/** As a string that type checkers read. */
const quoted = (type: string): string => `"${type.replaceAll('"', "'")}"`;

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

/** Types are read by type checkers alone, so that what Python 3.10 lacks need not be installed. */
export function modelsModule(schemas: Readonly<Record<string, Schema>>): string {
  const whole = (schema: Schema): string => {
    const type = pythonType(schema, (name) => name);
    return type.includes('bytes') ? 'bytes' : type;
  };
  const parts = Object.entries(schemas).map(([name, schema]) => {
    const members = Object.entries(schema.properties ?? {});
    if (schema.$ref !== undefined || members.length === 0)
      return `${name}: TypeAlias = ${quoted(whole(schema))}\n`;
    const lines = members.map(([member, type]) => {
      const value = pythonType(type, (one) => one);
      const declared = schema.required?.includes(member) === true ? value : `NotRequired[${value}]`;
      const text = type.description === undefined ? '' : docstring(type.description, '    ');
      return `    ${member}: ${declared}\n${text}`;
    });
    const text = schema.description === undefined ? '' : `${docstring(schema.description, '    ')}\n`;
    // a class has no place for a member that is no name of Python
    if (members.some(([member]) => keywords.has(member) || !/^[A-Za-z_]\w*$/.test(member))) {
      const pairs = members.map(([member, type]) => {
        const value = pythonType(type, (one) => one);
        const declared = schema.required?.includes(member) === true ? value : `NotRequired[${value}]`;
        return `        ${JSON.stringify(member)}: ${quoted(declared)},\n`;
      });
      return `\n${name} = TypedDict(\n    "${name}",\n    {\n${pairs.join('')}    },\n)\n\n`;
    }
    return `\nclass ${name}(TypedDict):\n${text}${lines.join('')}\n`;
  });
  return `${generatedBy}
"""What is sent and answered, as types: at run time they are the plain dictionaries of its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias

${parts.join('')}`;
}
