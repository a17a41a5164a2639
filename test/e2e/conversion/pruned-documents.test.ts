/** `--prune` without an XSD: a type that several places share has, at each of them, what documents hold there. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { bytesOf, inferred } from '../../support/models/shredding.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const claim = `<claim>
  <insurer><name>A</name><street>x</street><city>Ulm</city><licence>7</licence></insurer>
  <holder><name>B</name><contact><name>C</name><street>y</street><city>Bonn</city><phone>1</phone></contact></holder>
  <witness><name>D</name><contact><name>E</name><street>z</street><city>Kiel</city></contact></witness>
</claim>`;

const trial = useTrial();

it('leaves no column that is never filled, and gives the document back', { timeout: 120_000 }, async () => {
  const home = await trial.home();
  const at = (name: string): string => join(home.directory, name);
  await mkdir(at('in'));
  await writeFile(at('in/claim.xml'), claim);
  const columns = async (folder: string): Promise<string[]> =>
    (await readFile(at(`${folder}/claim.tsv`), 'utf8')).split('\n')[0]!.split('\t');
  const load = (folder: string, ...more: string[]): ReturnType<typeof convert> =>
    convert(home, 'xml2er', at('in/claim.xml'), '-o', at(folder), '-f', 'tsv', '--name', folder, ...more);
  await load('shared');
  expect(await columns('shared')).toContain('witness_contact_phone');
  await load('pruned', '--prune');
  const pruned = await columns('pruned');
  expect(pruned).toContain('holder_contact_phone');
  expect(pruned).not.toContain('witness_contact_phone');
  await convert(home, 'er2xml', '-i', at('pruned'), '-o', at('back'));
  const written = await readFile(at('back/claim.xml'));
  expect(compareXml(bytesOf(claim), written, { source: inferred([claim]), asText: true })).toEqual([]);
});
