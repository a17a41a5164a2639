/**
 * The XSD compiler, and the mapper behind it: a model or faults that are told with their place, the same each time, in time; the same
 * whatever the prefix of XSD, and whether a document is split; and what libxml2 takes is taken.
 */
import { InputError, type Diagnostic } from '../../../src/engine/diagnostics.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { compileXsdSet, type CompiledXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { XsdSetError } from '../../../src/engine/xsd/report.ts';
import { AppError } from '../../../src/errors.ts';
import { buildModel } from '../../../src/tools/schemas/build-model.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import {
  isForLibxml2,
  isKnownToLibxml2,
  libxml2SchemaComplaints,
  withoutAsides,
} from '../xml/libxml2-schema.ts';
import { mutate } from '../mutate.ts';
import { createRandom, type Random } from '../random.ts';
import type { Seeds } from '../xml/seeds.ts';
import { randomXsdSet, xsdSeeds } from '../xsd/seeds.ts';
import {
  addReference,
  changeXsdTree,
  readXsdTree,
  splitXsdTree,
  writeXsdTree,
  type XsdNode,
} from '../xsd/trees.ts';
import { xsdWords } from '../xsd/words.ts';
import { parseToolArguments } from '../../../src/service/jobs/request/read-request.ts';

const utf8 = new TextEncoder();
const longestMs = 15_000;
const names = ['main.xsd', 'x.xsd', 'y.xsd'];

type XsdFiles = { readonly name: string; readonly bytes: Uint8Array }[];

interface Way {
  readonly mapLevel: 0 | 1 | 2 | 3;
  readonly missing: 'fail' | 'wildcard';
  readonly twice: boolean;
  readonly splitSeed: number;
}

export function createXsdTarget(): FuzzTarget {
  const seeds = xsdSeeds();
  return {
    name: 'xsd',
    step(random) {
      const files = makeFiles(random, seeds);
      const way: Way = {
        mapLevel: random.below(4) as Way['mapLevel'],
        missing: random.chance(0.2) ? 'wildcard' : 'fail',
        twice: random.chance(0.05),
        splitSeed: random.below(1_000_000),
      };
      return { input: joined(files), cut: 'lines', check: (input) => check(input, way) };
    },
    close: () => Promise.resolve(),
  };
}

function makeFiles(random: Random, seeds: Seeds): XsdFiles {
  if (random.chance(0.1)) {
    // bytes: what the reader of files meets before any tree
    const picked = [0, 1, 2].map(() => seeds.read(random.below(seeds.count)));
    return names
      .slice(0, random.chance(0.3) ? 2 : 1)
      .map((name) => ({ name, bytes: mutate(random, picked, xsdWords) }));
  }
  const sources: readonly (readonly [string, Uint8Array])[] = random.chance(0.35)
    ? randomXsdSet(random)
    : names
        .slice(0, random.pick([1, 1, 1, 2, 3]))
        .map((name) => [name, seeds.read(random.below(seeds.count))]);
  const trees = sources.flatMap(([name, bytes]) => {
    const tree = readXsdTree(bytes);
    return tree === null ? [] : [[name, tree] as const];
  });
  const others = [seeds.read(random.below(seeds.count)), seeds.read(random.below(seeds.count))]
    .map(readXsdTree)
    .filter((tree): tree is XsdNode => tree !== null);
  for (const [name, tree] of trees) {
    const to = random.pick(trees)[0];
    if (trees.length > 1 && name !== to && random.chance(0.6)) addReference(random, tree, to);
    const changes = random.chance(0.3) ? 0 : 1 + random.below(random.chance(0.2) ? 15 : 3);
    for (let left = changes; left > 0 && others.length > 0; left -= 1) changeXsdTree(random, tree, others);
  }
  return trees.map(([name, tree]) => ({ name, bytes: writeXsdTree(tree) }));
}

/** One input of all files, each after a line with its name. */
function joined(files: XsdFiles): Uint8Array {
  return new Uint8Array(
    Buffer.concat(
      files.flatMap(({ name, bytes }) => [Buffer.from(`==== ${name}\n`), bytes, Buffer.from('\n')]),
    ),
  );
}

function filesOf(input: Uint8Array): XsdFiles {
  const parts = Buffer.from(input)
    .toString('latin1')
    .split(/^==== (.*)\n/m);
  const files: XsdFiles = [];
  for (let at = 1; at + 1 < parts.length; at += 2)
    files.push({
      name: parts[at]!,
      bytes: new Uint8Array(Buffer.from(parts[at + 1]!.replace(/\n$/, ''), 'latin1')),
    });
  return files;
}

function check(input: Uint8Array, { mapLevel, missing, twice, splitSeed }: Way): void {
  const files = filesOf(input);
  const started = performance.now();
  const compiled = compile(files, missing, input);
  const model = compiled instanceof InputError ? null : map(compiled.model, files, mapLevel, input);
  const took = performance.now() - started;
  if (took > longestMs) throw new Finding(`takes ${Math.round(took)} ms`, input);
  if (twice && textOf(compile(files, missing, input)) !== textOf(compiled))
    throw new Finding('says something else the second time', input);
  if (twice && !(compiled instanceof InputError) && map(compiled.model, files, mapLevel, input) !== model)
    throw new Finding('gives another model the second time', input);
  if (files.length !== 1 || missing !== 'fail') return;
  const tree = readXsdTree(files[0]!.bytes);
  if (tree === null) return;
  compareOtherForms(tree, compiled, splitSeed, input);
  compareWithLibxml2(writeXsdTree(tree), compiled, input);
}

function compile(files: XsdFiles, missing: Way['missing'], input: Uint8Array): CompiledXsdSet | InputError {
  try {
    return compileXsdSet(files, { missing });
  } catch (error) {
    if (!(error instanceof InputError))
      throw new Finding(`the compiler throws ${String(error)}`, input, error);
    const blind = diagnosticsOf(error).find(
      ({ severity, line }) => severity === 'error' && line !== undefined && !(line >= 1),
    );
    if (blind !== undefined) throw new Finding(`a fault has no place: ${blind.message}`, input, error);
    return error;
  }
}

function diagnosticsOf(compiled: CompiledXsdSet | InputError): readonly Diagnostic[] {
  if (compiled instanceof XsdSetError || !(compiled instanceof InputError)) return compiled.diagnostics;
  return [compiled.diagnostic];
}

function textOf(compiled: CompiledXsdSet | InputError): string {
  return JSON.stringify([diagnosticsOf(compiled), compiled instanceof InputError ? null : compiled.model]);
}

/** The relational model as text; what the mapper says against it. */
function map(source: SourceModel, files: XsdFiles, mapLevel: Way['mapLevel'], input: Uint8Array): string {
  let model;
  try {
    model = buildModel(parseToolArguments('xsd2er', [files[0]!.name]), source, { mapLevel });
  } catch (error) {
    if (error instanceof AppError || error instanceof InputError) return error.message;
    throw new Finding(`the mapper throws ${String(error)}`, input, error);
  }
  checkNames(model, input);
  return JSON.stringify(model);
}

function duplicate(all: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return all.find((name) => seen.size === seen.add(name.toLowerCase()).size);
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

/** Codes of all faults, sorted. */
function codesOf(compiled: CompiledXsdSet | InputError): string {
  return diagnosticsOf(compiled)
    .filter(({ severity }) => severity === 'error')
    .map(({ code }) => code)
    .toSorted()
    .join(' ');
}

/** Another prefix changes nothing; globals in an included document change nothing but where faults are. */
function compareOtherForms(
  tree: XsdNode,
  compiled: CompiledXsdSet | InputError,
  splitSeed: number,
  input: Uint8Array,
): void {
  const again = (files: XsdFiles) => compile(files, 'fail', input);
  const plain = again([{ name: 'main.xsd', bytes: writeXsdTree(tree) }]);
  const renamed = again([{ name: 'main.xsd', bytes: writeXsdTree(tree, 'other') }]);
  if (codesOf(renamed) !== codesOf(plain))
    throw new Finding(`another prefix: ${codesOf(plain)} / ${codesOf(renamed)}`, input);
  if (tree.name !== 'xs:schema' || codesOf(compiled) !== '') return;
  const [main, split] = splitXsdTree(createRandom(splitSeed), tree);
  const parts = again([
    { name: 'main.xsd', bytes: writeXsdTree(main) },
    { name: 'split.xsd', bytes: writeXsdTree(split) },
  ]);
  if (codesOf(parts) !== codesOf(plain)) throw new Finding(`split in two: ${codesOf(parts)}`, input);
  if (parts instanceof InputError || plain instanceof InputError) return;
  for (const what of ['elements', 'types'] as const)
    if (parts.model[what].length !== plain.model[what].length)
      throw new Finding(`split in two, it has other ${what}`, input);
}

function compareWithLibxml2(
  bytes: Uint8Array,
  compiled: CompiledXsdSet | InputError,
  input: Uint8Array,
): void {
  const text = new TextDecoder().decode(bytes);
  if (!isForLibxml2(text)) return;
  const complaints = libxml2SchemaComplaints(bytes);
  const errors = diagnosticsOf(compiled).filter(({ severity }) => severity === 'error');
  const counted = withoutAsides(complaints);
  if (errors.length === 0 && counted.length > 0)
    throw new Finding(`libxml2 refuses it: ${counted.join(' ')}`, input);
  // of two facets of one name it takes the last
  if (errors.some(({ message }) => message.includes('given twice'))) return;
  const unexpected = errors.find(isKnownToLibxml2);
  if (unexpected !== undefined && complaints.length === 0)
    throw new Finding(`libxml2 takes what is ${unexpected.code}: ${unexpected.message}`, input);
}
