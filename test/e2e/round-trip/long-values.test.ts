/** Files in base64 in documents, of which DuckDB keeps more at once than the memory that it is usually given: there and back. */
import { randomBytes } from 'node:crypto';
import { describe, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { useEveryTarget } from '../../support/round-trip/every-target.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="letters"><xs:complexType><xs:sequence>
  <xs:element name="letter" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="scan" type="xs:base64Binary"/></xs:sequence>
  <xs:attribute name="number" type="xs:int" use="required"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;

/** The same few scans, again and again: 180 MB. */
const scans = Array.from({ length: 3 }, () => randomBytes(750_000).toString('base64'));
const letters = Array.from(
  { length: 180 },
  (_, at) => `<letter number="${at}"><scan>${scans[at % scans.length]}</scan></letter>`,
).join('');

const everyTarget = useEveryTarget(xsd, 'letters', { 'scanned.xml': letters });

describe.each(['duckdb', 'jsonl', 'parquet'] as const)('%s', { timeout: 300_000 }, (kind) => {
  it('gives them back', needs('whole run'), () => everyTarget.expectBackFrom(kind));
});
