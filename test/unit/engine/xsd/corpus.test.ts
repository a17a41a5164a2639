/** Real XSD sets compile without an error, to models of known size. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { readXsdFiles, view } from './fixture-sets.ts';
import { corpusDirectory, needs, some } from '../../../support/needs.ts';

interface RealSet {
  /** folder of the set, or its only file */
  readonly path: string;
  /** default: what no other file refers to */
  readonly entries?: readonly string[];
  readonly elements: number;
  readonly types: number;
  /** global elements that documents may start with, and how many of them nothing refers to */
  readonly roots: readonly [number, number];
  /** an element with some of its children, as the standard's own documentation has them */
  readonly sample: readonly [string, ...string[]];
}

const sets: readonly RealSet[] = [
  {
    path: 'entsoe',
    elements: 150,
    types: 74,
    roots: [1, 1],
    sample: [
      'REMITTable1',
      'reportingEntityID 1..1 ordered',
      'contractList 0..1 ordered',
      'OrderList 0..1 ordered',
    ],
  },
  {
    path: 'junit',
    elements: 17,
    types: 11,
    roots: [14, 1],
    sample: ['testsuites', 'testsuite 0..* ordered'],
  },
  {
    path: 'iso20022',
    elements: 6236,
    types: 2643,
    roots: [12, 12],
    sample: ['Document', 'BkToCstmrAcctRptV01 1..1 ordered'],
  },
  {
    path: 'eforms',
    elements: 2126,
    types: 1621,
    roots: [2126, 4],
    sample: ['BusinessRegistrationInformationNotice', 'UBLExtensions 0..1 ordered', 'ID 1..1 ordered'],
  },
  {
    path: 'fpml/files-fpml/schemas/fpml5-10/confirmation',
    entries: ['fpml-main-5-10.xsd'],
    elements: 3983,
    types: 1597,
    roots: [290, 2],
    sample: ['dataDocument', 'validation 0..* ordered', 'trade 0..* ordered', 'party 0..* ordered'],
  },
  {
    path: 'siri/xsd',
    entries: ['siri.xsd'],
    elements: 2588,
    types: 1324,
    roots: [400, 1],
    sample: ['Siri', 'ServiceRequest 0..1 ordered', 'CheckStatusRequest 0..1 ordered'],
  },
  {
    path: 'netex/xsd',
    entries: ['NeTEx_publication.xsd'],
    elements: 5030,
    types: 4367,
    roots: [1547, 2],
    sample: ['PublicationRequest', 'RequestTimestamp 1..1 ordered', 'topics 0..1 ordered'],
  },
  {
    path: 'scap/schemas',
    entries: ['oval/5.11.3/oval-definitions-schema.xsd'],
    elements: 3483,
    types: 1038,
    roots: [725, 1],
    sample: [
      'oval_definitions',
      'generator 1..1 ordered',
      'definitions 0..1 ordered',
      'variables 0..1 ordered',
    ],
  },
  {
    path: 'scap/schemas',
    entries: ['xccdf/1.2/xccdf_1.2.xsd'],
    elements: 129,
    types: 104,
    roots: [16, 3],
    sample: ['Benchmark', 'status 1..* ordered', 'title 0..* ordered'],
  },
  {
    path: 'scap/schemas',
    entries: ['ocil/2.0/ocil-2.0.xsd'],
    elements: 125,
    types: 101,
    roots: [25, 1],
    sample: ['ocil', 'generator 1..1 ordered', 'document 0..1 ordered'],
  },
  {
    path: 'cdisc-odm/schema',
    entries: ['ODM.xsd'],
    elements: 188,
    types: 317,
    roots: [188, 1],
    sample: ['ODM', 'Study 0..* ordered', 'ClinicalData 0..* ordered'],
  },
  {
    path: 'musicxml/schema/schema',
    entries: ['musicxml.xsd'],
    elements: 469,
    types: 385,
    roots: [2, 2],
    sample: ['score-partwise', 'work 0..1 ordered', 'credit 0..* ordered'],
  },
  {
    path: 'sumo/xsd',
    entries: ['net_file.xsd'],
    elements: 32,
    types: 58,
    roots: [1, 1],
    sample: ['net', 'location 1..1 ordered', 'edge 0..* ordered'],
  },
  {
    path: 'sumo/xsd',
    entries: ['routes_file.xsd'],
    elements: 67,
    types: 95,
    roots: [2, 2],
    sample: ['routes', 'vType 0..*', 'vehicle 0..*'],
  },
  {
    path: 'xmark',
    elements: 77,
    types: 43,
    roots: [77, 4],
    sample: ['site', 'regions 1..1 ordered', 'closed_auctions 1..1 ordered'],
  },
  {
    path: 'docbook5',
    elements: 362,
    types: 362,
    roots: [362, 1],
    sample: ['set', 'title 0..*', 'info 0..1 ordered'],
  },
];

describe('real XSD sets', () => {
  it.each(some(sets, 8))(
    '$path $entries',
    needs('corpus'),
    ({ path, entries, elements, types, roots, sample }) => {
      const folder = join(corpusDirectory, path);
      const { model, diagnostics } = compileXsdSet(readXsdFiles(folder), { entries });
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect({ elements: model.elements.length, types: model.types.length }).toEqual({ elements, types });
      expect([model.roots.length, model.primaryRoots]).toEqual(roots);
      const { children, typeOf } = view(model);
      const [element, ...some] = sample;
      expect(children(typeOf(element))).toEqual(expect.arrayContaining(some));
    },
  );

  /** Folders that hold several versions of one namespace: without entries they contradict themselves, and the first version wins. */
  const inVersions: [path: string, others: string[]][] = [
    // ODM 1.2 has a wildcard behind ds:Signature that lets it in, too
    ['cdisc-odm', ['xsd_ambiguous_content']],
    ['scap', []],
    ['siri', []],
  ];
  it.each(some(inVersions, 1))('%s, all versions at once', needs('corpus'), (path, others) => {
    const folder = join(corpusDirectory, path);
    const { diagnostics } = compileXsdSet(readXsdFiles(folder));
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['xsd_duplicate_component', ...others]));
  });
});
