/** Operations of the OpenAPI document as methods of Python. */
import { docstring, generatedBy, pythonName, pythonType, type Schema } from './types.ts';

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Operation {
  readonly path: string;
  /** upper case */
  readonly method: string;
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly content?: Content; readonly headers?: Readonly<Record<string, unknown>> }>
  >;
}

interface Answer {
  /** what the name of the method ends in */
  readonly suffix: string;
  readonly accept: string;
  readonly type: string;
  readonly kind: 'json' | 'text' | 'bytes' | 'nothing';
}

const named = (name: string): string => `models.${name}`;

/**
 * The answers that an operation is asked for, each by a method of its own: JSON where there is JSON, and the texts and files beside it.
 * What is followed (event streams) and what is made for browsers is left out where there is another.
 */
function answersOf(operation: Operation, schemas: Readonly<Record<string, Schema>>): readonly Answer[] {
  const contents = Object.entries(operation.responses)
    .filter(([status]) => status < '400')
    .map(([, { content }]) => content ?? {});
  const content = contents.find((one) => Object.keys(one).length > 0) ?? {};
  const isFile = ({ schema }: { readonly schema?: Schema }): boolean => {
    const target = schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1)!];
    return target?.format === 'binary';
  };
  const json = content['application/json'];
  const files = Object.values(content).some(isFile);
  const answers: Answer[] = [];
  // the format of a file is chosen by a parameter
  if (files) answers.push({ suffix: '', accept: '*/*', type: 'bytes', kind: 'bytes' });
  else if (json !== undefined)
    answers.push({
      suffix: '',
      accept: 'application/json',
      type: pythonType(json.schema, named),
      kind: 'json',
    });
  for (const type of ['text/plain', 'image/svg+xml'])
    if (content[type] !== undefined && !files)
      answers.push({
        suffix: answers.length === 0 ? '' : type === 'text/plain' ? '_text' : '_svg',
        accept: type,
        type: 'str',
        kind: 'text',
      });
  if (answers.length === 0) answers.push({ suffix: '', accept: '*/*', type: 'None', kind: 'nothing' });
  return answers;
}

/** With a key of its own, a request can be repeated. */
const argument = (name: string): string =>
  name === 'Idempotency-Key' ? `${pythonName(name)} or new_key()` : pythonName(name);

function method(operation: Operation, answer: Answer, way: 'sync' | 'async'): string {
  const { parameters = [], requestBody } = operation;
  const required = parameters.filter((one) => one.required === true);
  const optional = parameters.filter((one) => one.required !== true);
  const bodies = requestBody?.content ?? {};
  const binary = bodies['application/octet-stream'] !== undefined;
  const json = binary ? undefined : bodies['application/json'];
  const declared = (one: (typeof parameters)[number], none: string): string =>
    `${pythonName(one.name)}: ${pythonType(one.schema, named)}${none}`;
  const positional = [
    'self',
    ...required.filter((one) => one.in === 'path').map((one) => declared(one, '')),
    ...(binary ? [`content: ${way === 'sync' ? 'Content' : 'AsyncContent'}`] : []),
    ...(json === undefined ? [] : [`body: ${pythonType(json.schema, named)}`]),
  ];
  const keywords = [
    ...required.filter((one) => one.in !== 'path').map((one) => declared(one, '')),
    ...optional.map((one) => declared(one, ' | None = None')),
  ];
  const all = [...positional, ...(keywords.length > 0 ? ['*', ...keywords] : [])];
  const group = (place: string): string =>
    parameters
      .filter((one) => one.in === place)
      .map((one) => `${JSON.stringify(one.name)}: ${argument(one.name)}`)
      .join(', ');
  const passed = [
    ['path', group('path')],
    ['query', group('query')],
    ['headers', group('header')],
  ]
    .filter(([, members]) => members !== '')
    .map(([name, members]) => `            ${name}={${members}},\n`)
    .join('');
  const sent = binary
    ? '            content=content,\n'
    : json === undefined
      ? ''
      : '            json=body,\n';
  const text = [operation.summary, operation.description].filter((one) => one !== undefined).join('.\n\n');
  const call = `${way === 'sync' ? '' : 'await '}self._${answer.kind}(
            ${JSON.stringify(operation.method)},
            ${JSON.stringify(operation.path)},
            accept=${JSON.stringify(answer.accept)},
${passed}${sent}        )`;
  const body =
    answer.kind === 'nothing'
      ? `        ${call}\n`
      : answer.kind === 'json'
        ? `        return cast(${JSON.stringify(answer.type)}, ${call})\n`
        : `        return ${call}\n`;
  const head = `    ${way === 'sync' ? '' : 'async '}def ${pythonName(operation.operationId)}${answer.suffix}(`;
  return `\n${head}\n${all.map((one) => `        ${one},\n`).join('')}    ) -> ${answer.type}:\n${docstring(text, '        ')}${body}`;
}

/** The schema of the items of a list, whose pages are arrays or have `content`. */
function itemsOf(page: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema | undefined {
  const whole = page?.$ref === undefined ? page : schemas[page.$ref.split('/').at(-1)!];
  return whole?.items ?? whole?.properties?.['content']?.items;
}

/** A list whose answers link to the next page. One that begins at any page is left out if another begins at the first. */
function isList({ path, method: verb, responses }: Operation, operations: readonly Operation[]): boolean {
  const isPaged = verb === 'GET' && responses['200']?.headers?.['Link'] !== undefined;
  return isPaged && !operations.some((other) => path === `${other.path}/{page}`);
}

/** Iterates over the items of all pages. */
function iterator(
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
  way: 'sync' | 'async',
): string {
  const item = itemsOf(operation.responses['200']?.content?.['application/json']?.schema, schemas);
  if (item === undefined) throw new Error(`the pages of ${operation.operationId} have no items`);
  const parameters = (operation.parameters ?? []).filter(
    ({ name }) => !['page', 'size', 'cursor'].includes(name),
  );
  const declared = ({ name, schema, required }: (typeof parameters)[number]): string =>
    `${pythonName(name)}: ${pythonType(schema, named)}${required === true ? '' : ' | None = None'}`;
  const ofPath = parameters.filter((one) => one.in === 'path');
  const others = parameters
    .filter((one) => one.in !== 'path')
    .toSorted((a, b) => Number(b.required === true) - Number(a.required === true));
  const all = ['self', ...ofPath.map(declared), '*', ...others.map(declared), 'size: int = 100'];
  const pairs = (ones: typeof parameters): string[] =>
    ones.map(({ name }) => `${JSON.stringify(name)}: ${pythonName(name)}`);
  // a list that can be read whole has pages only if it is asked for one
  const first = operation.parameters?.find((one) => one.name === 'page');
  const path = [...pairs(ofPath), ...(first?.in === 'path' ? ['"page": 0'] : [])];
  const query = [...pairs(others), '"size": size', ...(first?.in === 'query' ? ['"page": 0'] : [])];
  const isSync = way === 'sync';
  const type = pythonType(item, named);
  const name = `iter_${pythonName(operation.operationId).replace(/^list_/, '')}`;
  return `
    def ${name}(
${all.map((one) => `        ${one},\n`).join('')}    ) -> ${isSync ? 'Iterator' : 'AsyncIterator'}[${type}]:
        """The items of all pages of \`${pythonName(operation.operationId)}\`, read as they are needed. \`size\`: items of one page."""
        return self._items(
            ${JSON.stringify(operation.path)},
            accept="application/json",
${path.length === 0 ? '' : `            path={${path.join(', ')}},\n`}            query={${query.join(', ')}},
        )
`;
}

/** A class with a method for each operation, on a transport that its subclass brings. */
export function operationsModule(
  operations: readonly Operation[],
  schemas: Readonly<Record<string, Schema>>,
  way: 'sync' | 'async',
): string {
  const methods = operations.flatMap((one) => [
    ...answersOf(one, schemas).map((answer) => method(one, answer, way)),
    ...(isList(one, operations) ? [iterator(one, schemas, way)] : []),
  ]);
  const isSync = way === 'sync';
  return `${generatedBy}
"""Every operation of the interface${isSync ? '' : ', to be awaited'}: its name in snake case, paths first, then the body, the rest by name."""

from __future__ import annotations

from collections.abc import ${isSync ? 'Iterator' : 'AsyncIterator'}
from typing import Any, Literal, cast

from . import models
from ._transport import ${isSync ? 'Content, Transport' : 'AsyncContent, AsyncTransport'}, new_key


class ${isSync ? 'Operations(Transport)' : 'AsyncOperations(AsyncTransport)'}:
    """One method for each operation of the OpenAPI document.

    \`idempotency_key\`: a key that makes repeated requests safe; each request gets a new one if it is None.
    """
${methods.join('')}`;
}
