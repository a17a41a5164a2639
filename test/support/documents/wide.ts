/** XSD sets and documents whose rows are wider than one table. */

const types = ['string', 'int', 'decimal', 'dateTime'] as const;

/** One element `row` with that many simple children, the kinds of values by turns. */
export function wideXsd(columns: number): string {
  const children = Array.from(
    { length: columns },
    (_, at) => `<xs:element name="v${at}" type="xs:${types[at % 4]}" minOccurs="${at % 2}"/>`,
  );
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="rows"><xs:complexType><xs:sequence>
    <xs:element name="row" maxOccurs="unbounded"><xs:complexType><xs:sequence>${children.join('')}
      <xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`;
}

/**
 * Rows that are full (texts as long as stay in a row of PostgreSQL), that have the required values alone, and that hold a value
 * their type has no place for.
 */
export function wideDocument(columns: number, seed: number): string {
  const row = (value: (at: number) => string | null): string => {
    const children = Array.from({ length: columns }, (_, at) => {
      const text = value(at);
      return text === null ? '' : `<v${at}>${text}</v${at}>`;
    });
    return `<row>${children.join('')}<note>${seed}</note></row>`;
  };
  const full = (at: number): string =>
    [
      `${seed} text ${at}`.padEnd(23, 'x'),
      String(2_000_000_000 + at),
      `${at}.12345678901234567890`,
      `2024-01-01T10:00:00.${String(at % 1000).padStart(3, '0')}+02:00`,
    ][at % 4]!;
  const sparse = (at: number): string | null => (at % 2 === 1 ? full(at) : null);
  const last = Math.floor((columns - 1) / 4) * 4 + 1;
  const odd = (at: number): string => (at === (last < columns ? last : 1) ? 'many' : full(at));
  return `<rows>${row(full)}${row(sparse)}${row(odd)}</rows>`;
}
