/** The XSD compiler, and the mapper behind it: a model or faults that are told, the same each time, in time. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../src/engine/diagnostics.ts';
import { buildRelationalModel } from '../../src/engine/map/build-model.ts';
import { compileXsdSet } from '../../src/engine/xsd/compile-xsd-set.ts';
import { XsdSetError } from '../../src/engine/xsd/report.ts';
import { AppError } from '../../src/errors.ts';
import { parseToolArguments } from '../../src/jobs/tool-request.ts';
import { buildModel } from '../../src/tools/new-model.ts';
import { Finding, type FuzzTarget } from './fuzzer.ts';
import { mutate } from './mutate.ts';

const utf8 = new TextEncoder();
const longestMs = 15_000;
const fixtures = join(import.meta.dirname, '../fixtures');
const seeds = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.xsd'))
  .toSorted()
  .map((name) => new Uint8Array(readFileSync(join(fixtures, name))));
const words = [
  ...[
    'element',
    'complexType',
    'simpleType',
    'sequence',
    'choice',
    'all',
    'group',
    'attributeGroup',
    'attribute',
    'any',
    'anyAttribute',
    'extension',
    'restriction',
    'simpleContent',
    'complexContent',
    'list',
    'union',
    'key',
    'keyref',
    'unique',
    'selector',
    'field',
    'include',
    'import',
    'redefine',
    'override',
    'annotation',
    'documentation',
    'notation',
    'pattern',
    'enumeration',
    'assert',
    'alternative',
    'openContent',
  ].flatMap((name) => [
    `<xs:${name}>`,
    `</xs:${name}>`,
    `<xs:${name} name="a">`,
    `<xs:${name} ref="a"/>`,
    `<xs:${name} base="a">`,
  ]),
  ' name="a"',
  ' type="a"',
  ' ref="a"',
  ' base="xs:string"',
  ' base="a"',
  ' minOccurs="0"',
  ' maxOccurs="unbounded"',
  ' maxOccurs="99999999999999999999"',
  ' minOccurs="5" maxOccurs="2"',
  ' abstract="true"',
  ' substitutionGroup="a"',
  ' nillable="true"',
  ' default="x"',
  ' fixed="x"',
  ' mixed="true"',
  ' use="prohibited"',
  ' form="qualified"',
  ' targetNamespace="u"',
  ' schemaLocation="x.xsd"',
  ' namespace="##other"',
  ' processContents="lax"',
  ' final="#all"',
  ' block="#all"',
  ' value="(a|b)*[x-[y]]{2,99999}"',
  ' value="-1"',
  ' value="1e400"',
  ' itemType="a"',
  ' memberTypes="a xs:int b"',
  ' xpath=".//a/@b|c"',
  ' id="a"',
  ' xmlns:xs="urn:other"',
  '"',
  '<',
  '&a;',
].map((text) => utf8.encode(text));

export function createXsdTarget(): FuzzTarget {
  return {
    name: 'xsd',
    step(random) {
      const files = Array.from({ length: random.chance(0.3) ? 2 : 1 }, (_, at) => ({
        name: at === 0 ? 'main.xsd' : 'x.xsd',
        bytes: mutate(random, seeds, words) as Uint8Array<ArrayBuffer>,
      }));
      const input = Buffer.concat(
        files.flatMap(({ name, bytes }) => [Buffer.from(`==== ${name}\n`), bytes, Buffer.from('\n')]),
      );
      const started = performance.now();
      outcome(files, random.below(4) as 0 | 1 | 2 | 3, input);
      const took = performance.now() - started;
      if (took > longestMs) throw new Finding(`takes ${Math.round(took)} ms`, input);
      if (random.chance(0.05) && outcome(files, 3, input) !== outcome(files, 3, input))
        throw new Finding('gives another model the second time', input);
    },
    close: () => Promise.resolve(),
  };
}

function outcome(
  files: Parameters<typeof compileXsdSet>[0],
  mapLevel: 0 | 1 | 2 | 3,
  input: Uint8Array,
): string {
  let compiled;
  try {
    compiled = compileXsdSet(files, {});
  } catch (error) {
    if (error instanceof InputError) return error.message;
    if (!(error instanceof XsdSetError))
      throw new Finding(`the compiler throws ${String(error)}`, input, error);
    const blind = error.diagnostics.find(
      ({ severity, line }) => severity === 'error' && line !== undefined && !(line >= 1),
    );
    if (blind !== undefined) throw new Finding(`a fault has no place: ${blind.message}`, input, error);
    return error.message;
  }
  let model;
  try {
    model = buildModel(parseToolArguments('xsd2er', ['main.xsd']), compiled.model, { mapLevel });
  } catch (error) {
    if (error instanceof AppError || error instanceof InputError) return error.message;
    throw new Finding(`the mapper throws ${String(error)}`, input, error);
  }
  checkNames(model, input);
  return JSON.stringify(model);
}

function duplicate(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name.toLowerCase()).size);
}

/** Names are unique whatever their case, and none is longer than its limit. */
function checkNames(model: ReturnType<typeof buildRelationalModel>, input: Uint8Array): void {
  const table = duplicate(model.tables.map(({ name }) => name));
  if (table !== undefined) throw new Finding(`two tables are called ${table}`, input);
  for (const { name, columns } of model.tables) {
    const column = duplicate(columns.map((one) => one.name));
    if (column !== undefined) throw new Finding(`two columns of a table are called ${column}`, input);
    for (const one of [name, ...columns.map((each) => each.name)])
      if (one === '' || utf8.encode(one).length > model.nameMaxLength)
        throw new Finding(`a name has ${utf8.encode(one).length} bytes`, input);
  }
}
