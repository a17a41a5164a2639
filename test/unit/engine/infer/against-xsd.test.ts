/** What documents alone tell, beside what their XSD says: types and occurrences must not contradict it. */
import { describe, expect, it } from 'vitest';
import type { MappingEntry, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../../../support/corpus.ts';
import { corpusGroups, groupModel, groupSource } from '../../../support/round-trip/corpus.ts';
import { inferred, modelOf, outline } from '../../../support/models/shredding.ts';
import { isHere, needs } from '../../../support/needs.ts';

const sets = [
  'iso20022/assets/camt.052.001.06.xsd',
  'iso20022/assets/camt.053.001.02.xsd',
  'iso20022/assets/camt.054.001.08.xsd',
  'entsoe/table1/Table1_V2.xsd',
  'junit/junit10/junit-10.xsd',
  'musicxml/schema/schema/musicxml.xsd',
  'sumo/xsd/net_file.xsd',
  'sumo/xsd/routes_file.xsd',
];

/** By the XSD's kind of column: kinds that values of such a type may be taken for. Text may look like anything. */
const compatible: Readonly<Record<string, readonly string[]>> = {
  boolean: ['boolean'],
  smallint: ['smallint', 'integer', 'boolean'],
  integer: ['smallint', 'integer', 'boolean'],
  bigint: ['smallint', 'integer', 'bigint'],
  numeric: ['smallint', 'integer', 'bigint', 'numeric'],
  real: ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double'],
  double: ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double'],
  // with a zone in some documents and none in others, or with a date's zone, only text gives them back
  date: ['date', 'text'],
  time: ['time', 'text'],
  timestamp: ['timestamp', 'timestamptz', 'text'],
  timestamptz: ['timestamp', 'timestamptz', 'text'],
};

/** Prefixes differ: the XSD names them. */
const bare = (xpath: string): string => xpath.replaceAll(/(\/@?)[^/:@]+:/g, '$1');
const keyOf = (entry: MappingEntry): string => `${bare(entry.xpath!)} ${entry.nodeType}`;
const kindOf = (model: RelationalModel, { table, column }: MappingEntry): string | null =>
  column === null ? null : model.tables[table]!.columns[column]!.type.kind;

/** columns that both have and that the XSD does not leave as text; those of them whose kind the documents told */
const seen = { typed: 0, told: 0 };

describe('inference beside the XSD', needs('corpus'), () => {
  const valid = new Set(
    isHere('corpus')
      ? new TextDecoder()
          .decode(readCorpus('MANIFEST.tsv'))
          .split('\n')
          .map((line) => line.split('\t'))
          .filter(([, , , , validity]) => validity === 'Y')
          .map(([, , document]) => document)
      : [],
  );
  const groups = corpusGroups().filter(({ xsd }) => xsd !== null && sets.includes(xsd));

  it.each(groups)(
    '$xsd: neither types nor occurrences contradict',
    (group) => {
      const documents = group.documents.filter((name) => valid.has(name)).map((name) => readCorpus(name));
      expect(documents.length).toBeGreaterThan(0);
      const declared = groupModel(groupSource(group).source, 0, documents);
      const guessed = modelOf(inferred(documents), 0);
      const known = new Map(
        declared.mappings.filter(({ xpath }) => xpath !== null).map((entry) => [keyOf(entry), entry]),
      );
      const contradictions: string[] = [];
      for (const entry of guessed.mappings) {
        // of times of which some have no offset it is missing
        if (entry.sourceType === 'offset') continue;
        const other = entry.xpath === null ? undefined : known.get(keyOf(entry));
        if (other === undefined) continue;
        const [guess, fact] = [kindOf(guessed, entry), kindOf(declared, other)];
        if (guess !== null && fact !== null) {
          if (fact !== 'text') seen.typed += 1;
          if (fact !== 'text' && guess !== 'text') seen.told += 1;
          if (fact !== 'text' && !compatible[fact]!.includes(guess))
            contradictions.push(`${entry.xpath}: ${fact} was taken for ${guess}`);
        }
        // what occurs more than once is only known not to be single
        const repeats = entry.maxOccurs === null || entry.maxOccurs > 1;
        if (repeats && other.maxOccurs === 1)
          contradictions.push(`${entry.xpath}: single, and repeated here`);
        if (entry.minOccurs === 0 && other.minOccurs > 0)
          contradictions.push(`${entry.xpath}: required, and missing somewhere`);
      }
      expect(contradictions).toEqual([]);
    },
    60_000,
  );

  it('tells numbers, dates, times and truth values from text nearly always', () => {
    expect(seen.typed).toBeGreaterThan(150);
    expect(seen.told / seen.typed).toBeGreaterThan(0.9);
  });
});

describe('locale data, of which there is no XSD', needs('corpus'), () => {
  const documents = ['cldr/main/de.xml', 'cldr/main/en.xml'];

  it('gives tables that a person would draw', () => {
    const model = modelOf(inferred(documents.map((name) => readCorpus(name))), 3);
    const lines = new Map(
      outline(model)
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(':')), line]),
    );
    // folded by path, one table for each thing that repeats, attributes and the text beside the keys
    expect(lines.get('ldml')).toMatch(/identity_version_number text.*identity_language_type text/);
    expect(lines.get('day')).toMatch(
      /^day: day_key bigint!, document_key bigint!, day_width_key bigint! -> day_width, position integer!, type text!, value text!$/,
    );
    expect(lines.get('quarter')).toMatch(/type integer!, .*value text!/);
    expect(model.tables.length).toBeLessThan(120);
    expect(Math.max(...model.tables.map(({ name }) => name.length))).toBeLessThan(64);
  });
});
