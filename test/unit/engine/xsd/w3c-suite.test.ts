/**
 * The W3C XML Schema test suite (sun, saxon, boeing and working group parts): what its metadata calls valid in XSD 1.0 must compile without
 * an error, what it calls invalid must not. Cases that go another way stand in `w3c-suite-exceptions.json`, each with its reason; one that
 * starts to go as expected fails the run until it is taken out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseXmlTree, type XmlElement } from '../../../../src/engine/xml/tree.ts';
import type { XsdFile } from '../../../../src/engine/xsd/compile-set.ts';
import exceptions from './w3c-suite-exceptions.json' with { type: 'json' };
import { diagnose } from './fixture-sets.ts';
import { corpusDirectory, needs } from '../../../support/needs.ts';

interface SuiteCase {
  readonly id: string;
  /** names of the documents to start from, relative to the suite */
  readonly documents: readonly string[];
  /** null: no result for XSD 1.0; the compiler must only end in an orderly way */
  readonly expected: 'valid' | 'invalid' | null;
}

/** The numbers that the compiler reaches; they may only grow. */
const minimum = { validAccepted: 582, invalidRefused: 153 };

function attribute(node: XmlElement, localName: string): string | undefined {
  return node.attributes.find(({ name }) => name.localName === localName)?.value;
}

function children(node: XmlElement, localName: string): XmlElement[] {
  return node.children.filter(
    (child): child is XmlElement => typeof child !== 'string' && child.name.localName === localName,
  );
}

function readTree(file: string): XmlElement {
  return parseXmlTree(new Uint8Array(readFileSync(file)));
}

/** All schema tests, with their results for XSD 1.0. */
function readCases(suite: string): SuiteCase[] {
  const cases: SuiteCase[] = [];
  for (const folder of readdirSync(suite).filter((name) => name.endsWith('Meta'))) {
    for (const file of readdirSync(join(suite, folder)).filter((name) => name.endsWith('.testSet'))) {
      const testSet = readTree(join(suite, folder, file));
      for (const group of children(testSet, 'testGroup')) {
        for (const test of children(group, 'schemaTest')) {
          const version =
            attribute(test, 'version') ?? attribute(group, 'version') ?? attribute(testSet, 'version');
          const isLater = version !== undefined && version.includes('1.1') && !version.includes('1.0');
          const results = children(test, 'expected');
          const result =
            results.find((node) => attribute(node, 'version') === '1.0') ??
            results.find((node) => attribute(node, 'version') === undefined);
          const validity = isLater || result === undefined ? undefined : attribute(result, 'validity');
          const expected = validity === 'valid' || validity === 'invalid' ? validity : null;
          const documents = children(test, 'schemaDocument').map((node) =>
            posix.join(folder, attribute(node, 'href')!),
          );
          cases.push({
            id: `${folder}/${file.replace('.testSet', '')}/${documents[0]}`,
            documents,
            expected,
          });
        }
      }
    }
  }
  return cases;
}

/** The documents and those that they lead to, as a web server would answer. */
function collectFiles(suite: string, documents: readonly string[]): XsdFile[] {
  const found = new Map<string, Uint8Array>();
  const pending = [...documents];
  for (const name of pending) {
    if (found.has(name) || !existsSync(join(suite, name))) continue;
    found.set(name, new Uint8Array(readFileSync(join(suite, name))));
    for (const node of readTree(join(suite, name)).children) {
      const location = typeof node === 'string' ? undefined : attribute(node, 'schemaLocation');
      if (location !== undefined && !/^\w+:/u.test(location)) {
        pending.push(posix.join(posix.dirname(name), location.trim()));
      }
    }
  }
  return [...found].map(([name, bytes]) => ({ name, bytes }));
}

describe('the W3C XML Schema test suite', () => {
  it('goes as its metadata says, but for listed exceptions', needs(['corpus', 'whole run']), () => {
    const suite = join(corpusDirectory, 'xsdtests');
    const wrong: string[] = [];
    const count = { valid: 0, validAccepted: 0, invalid: 0, invalidRefused: 0 };
    const excepted = new Map(Object.entries(exceptions));
    for (const { id, documents, expected } of readCases(suite)) {
      const { diagnostics } = diagnose(collectFiles(suite, documents), { entries: documents });
      if (expected === null) continue;
      const isValid = diagnostics.every(({ severity }) => severity !== 'error');
      const asExpected = isValid === (expected === 'valid');
      count[expected]++;
      if (asExpected) count[expected === 'valid' ? 'validAccepted' : 'invalidRefused']++;
      const reason = excepted.get(id);
      if (asExpected && reason !== undefined)
        wrong.push(`${id}: goes as expected now; take it from the exceptions`);
      if (!asExpected && reason === undefined)
        wrong.push(`${id}: ${expected}, but ${diagnostics[0]?.message ?? 'accepted'}`);
    }
    console.info(
      `valid accepted: ${count.validAccepted} of ${count.valid}; invalid refused: ${count.invalidRefused} of ${count.invalid}`,
    );
    expect(wrong).toEqual([]);
    expect(count.validAccepted).toBeGreaterThanOrEqual(minimum.validAccepted);
    expect(count.invalidRefused).toBeGreaterThanOrEqual(minimum.invalidRefused);
  });
});
