/** Loads XSD sets for tests, and looks things up in the models made of them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileXsdSet, type CompileOptions, type XsdFile } from '../../../../src/engine/xsd/compile-set.ts';
import { XsdSetError } from '../../../../src/engine/xsd/report.ts';
import type { Diagnostic } from '../../../../src/engine/diagnostics.ts';
import type {
  SourceAttribute,
  SourceChild,
  SourceElement,
  SourceModel,
  SourceType,
} from '../../../../src/engine/model/source-model.ts';

const fixtures = fileURLToPath(new URL('../../../fixtures/xsd', import.meta.url));

/** Every .xsd file under the folder, or the one file. */
export function readXsdFiles(path: string): XsdFile[] {
  const files: XsdFile[] = [];
  const read = (file: string, name: string) =>
    files.push({ name, bytes: new Uint8Array(readFileSync(file)) });
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const child = join(folder, entry.name);
      if (entry.isDirectory()) walk(child);
      else if (entry.name.endsWith('.xsd')) read(child, relative(path, child).split(sep).join('/'));
    }
  };
  if (statSync(path).isDirectory()) walk(path);
  else read(path, basename(path));
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export interface ModelView {
  readonly model: SourceModel;
  readonly diagnostics: readonly Diagnostic[];
  element(localName: string): SourceElement;
  type(localName: string): SourceType;
  typeOf(elementName: string): SourceType;
  /** children as `name min..max`, with ` ordered` when the order is implied */
  children(type: SourceType): string[];
  attribute(type: SourceType, localName: string): SourceAttribute;
  names(elementIndexes: readonly number[]): string[];
  typeNames(typeIndexes: readonly number[]): (string | undefined)[];
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the model has no ${name}`);
  return value;
}

export function view(model: SourceModel, diagnostics: readonly Diagnostic[] = []): ModelView {
  const element = (localName: string) =>
    found(
      model.elements.find(({ name }) => name.localName === localName),
      localName,
    );
  const describe = ({ element: index, minOccurs, maxOccurs, orderImplied }: SourceChild) =>
    `${model.elements[index]!.name.localName} ${minOccurs}..${maxOccurs ?? '*'}${orderImplied ? ' ordered' : ''}`;
  return {
    model,
    diagnostics,
    element,
    type: (localName) =>
      found(
        model.types.find(({ name }) => name?.localName === localName),
        localName,
      ),
    typeOf: (elementName) => model.types[element(elementName).type]!,
    children: (type) => type.children.map(describe),
    attribute: (type, localName) =>
      found(
        type.attributes.find(({ name }) => name.localName === localName),
        localName,
      ),
    names: (indexes) => indexes.map((index) => model.elements[index]!.name.localName),
    typeNames: (indexes) => indexes.map((index) => model.types[index]!.name?.localName),
  };
}

/** Compiles `test/fixtures/xsd/<name>`, a folder or one file. */
export function compileFixture(name: string, options: CompileOptions = {}): ModelView {
  const { model, diagnostics } = compileXsdSet(readXsdFiles(join(fixtures, name)), options);
  return view(model, diagnostics);
}

/** One document from the content of its schema element. */
export function schemaFile(name: string, content: string, attributes = ''): XsdFile {
  const text = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" ${attributes}>${content}</xs:schema>`;
  return { name, bytes: new TextEncoder().encode(text) };
}

/** Compiles documents that may be wrong: all diagnostics, whether the set was usable or not. */
export function diagnose(
  files: readonly XsdFile[],
  options: CompileOptions = {},
): { diagnostics: readonly Diagnostic[]; usable: boolean; model?: SourceModel } {
  try {
    return { ...compileXsdSet(files, options), usable: true };
  } catch (error) {
    if (!(error instanceof XsdSetError)) throw error;
    return { diagnostics: error.diagnostics, usable: false };
  }
}
