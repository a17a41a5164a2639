/** Documents that use a part of XML or XSD which is easily got wrong. */

export interface UnusualDocuments {
  readonly name: string;
  /** null: the schema is inferred */
  readonly xsd: string | null;
  /** by file name */
  readonly documents: Readonly<Record<string, string | Uint8Array>>;
  /** the same content in plain UTF-8 without a DTD, where a document is written otherwise */
  readonly texts?: Readonly<Record<string, string>>;
}

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

function schema(content: string, attributes = ''): string {
  return `<xs:schema ${xs} ${attributes}>${content}</xs:schema>`;
}

function element(name: string, content: string): string {
  return `<xs:element name="${name}"><xs:complexType>${content}</xs:complexType></xs:element>`;
}

function bytes(prefix: readonly number[], text: string, encoding: BufferEncoding): Uint8Array {
  const content = Buffer.from(text, encoding);
  return new Uint8Array(Buffer.concat([Buffer.from(prefix), content]));
}

const zoo = `
  <xs:complexType name="Animal"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Dog"><xs:complexContent><xs:extension base="Animal"><xs:sequence>
    <xs:element name="bark" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Cat"><xs:complexContent><xs:extension base="Animal"><xs:sequence>
    <xs:element name="lives" type="xs:int" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="indoor" type="xs:boolean"/></xs:extension></xs:complexContent></xs:complexType>`;
const zooNamespace = 'targetNamespace="urn:zoo" xmlns="urn:zoo" elementFormDefault="qualified"';

const simpleTypes = [
  'gYear', 'gYearMonth', 'gMonthDay', 'duration', 'hexBinary', 'base64Binary', 'anyURI', 'QName', 'long', 'unsignedLong',
  'float', 'double', 'dateTime', 'date', 'time', 'boolean', 'decimal', 'byte', 'unsignedInt', 'normalizedString', 'token', 'language',
]; // prettier-ignore

const longName = 'n'.repeat(200);

export const unusualDocuments: readonly UnusualDocuments[] = [
  {
    name: 'a choice that repeats, with default and fixed attributes',
    xsd: schema(
      element(
        'r',
        `<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:int"/>
         ${element('c', '<xs:attribute name="k" default="d"/><xs:attribute name="f" fixed="x"/>')}</xs:choice>`,
      ),
    ),
    documents: {
      'a.xml': '<r><a>x</a><b>1</b><a>y</a><c/><c k="z" f="x"/><a/></r>',
      'b.xml': '<r/>',
    },
  },
  {
    name: 'substitution groups with an abstract head',
    xsd: schema(
      `${element('zoo', '<xs:sequence><xs:element ref="animal" maxOccurs="unbounded"/></xs:sequence>')}
       <xs:element name="animal" abstract="true" type="Animal"/>${zoo}
       <xs:element name="dog" type="Dog" substitutionGroup="animal"/><xs:element name="cat" type="Cat" substitutionGroup="animal"/>`,
      zooNamespace,
    ),
    documents: {
      'a.xml':
        '<zoo xmlns="urn:zoo"><dog><name>rex</name><bark>3</bark></dog><cat indoor="1"><name>tom</name><lives>9</lives>' +
        '<lives>8</lives></cat><dog><name>fido</name><bark>-1</bark></dog></zoo>',
    },
  },
  {
    name: 'types named in the document',
    xsd: schema(
      `${element(
        'zoo',
        '<xs:sequence><xs:element name="animal" type="Animal" maxOccurs="unbounded"/><xs:element name="star" type="Animal" minOccurs="0"/></xs:sequence>',
      )}${zoo}`,
      zooNamespace,
    ),
    documents: {
      'a.xml':
        `<zoo xmlns="urn:zoo" ${xsi}><animal xsi:type="Dog"><name>rex</name><bark>3</bark></animal><animal><name>x</name></animal>` +
        '<star xmlns:z="urn:zoo" xsi:type="z:Dog"><name>s</name><bark>1</bark></star></zoo>',
    },
  },
  {
    name: 'names that databases reserve, confuse or cut',
    xsd: null,
    documents: {
      'a.xml':
        '<Select><order a="1" A="2"><user>u</user><User>U</User><USER>UU</USER></order><Order><value>v</value><order_key>1</order_key></Order>' +
        '<_documents><x>1</x></_documents><_documents><x>2</x></_documents><größe-ß.x>1</größe-ß.x><日本><語>x</語><語>y</語></日本>' +
        `<table/><table>t</table><a.b>1</a.b><a-b>2</a-b><a_b>3</a_b><${longName}>1</${longName}><${longName}m>2</${longName}m></Select>`,
    },
  },
  {
    name: 'the simple types at their limits',
    xsd: schema(
      element(
        'r',
        `<xs:sequence>${element(
          'row',
          `<xs:sequence>${simpleTypes
            .map((type) => `<xs:element name="${type}" type="xs:${type}" minOccurs="0"/>`)
            .join('')}</xs:sequence>`,
        ).replace('name="row"', 'name="row" maxOccurs="unbounded"')}</xs:sequence>`,
      ),
    ),
    documents: {
      'a.xml':
        '<r xmlns:q="urn:q"><row><gYear>2020</gYear><gYearMonth>2020-02</gYearMonth><gMonthDay>--02-29</gMonthDay>' +
        '<duration>P1Y2M3DT4H5M6.7S</duration><hexBinary>0aFF</hexBinary><base64Binary>AQ==</base64Binary>' +
        '<anyURI>http://x/?a=b&amp;c</anyURI><QName>q:x</QName><long>-9223372036854775808</long>' +
        '<unsignedLong>18446744073709551615</unsignedLong><float>INF</float><double>1e308</double>' +
        '<dateTime>2020-01-01T23:59:59.5+14:00</dateTime><date>2020-02-29Z</date><time>23:59:58.123456</time><boolean>1</boolean>' +
        '<decimal>0.1000000000000000000000000000001</decimal><byte>-128</byte><unsignedInt>4294967295</unsignedInt>' +
        '<normalizedString>a  b</normalizedString><token> a  b </token><language>de-AT</language></row>' +
        '<row><float>-INF</float><double>+1.0E-5</double><dateTime>0001-01-01T00:00:00Z</dateTime><time>12:00:00+01:00</time>' +
        '<boolean>false</boolean><decimal>-.5</decimal></row></r>',
    },
  },
  {
    name: 'encodings',
    xsd: null,
    documents: {
      'utf16le.xml': bytes(
        [0xff, 0xfe],
        '<?xml version="1.0" encoding="UTF-16"?><r><v>Grüße 🚚</v></r>',
        'utf16le',
      ),
      'utf16be.xml': new Uint8Array(
        Buffer.from(
          '\ufeff<?xml version="1.0" encoding="UTF-16"?><r><v>Grüße 🚚</v></r>',
          'utf16le',
        ).swap16(),
      ),
      'latin1.xml': bytes([], '<?xml version="1.0" encoding="ISO-8859-1"?><r><v>Grüße ÿ</v></r>', 'latin1'),
      'windows.xml': bytes(
        [],
        '<?xml version="1.0" encoding="windows-1252"?><r><v>\x80\x93\x94</v></r>',
        'latin1',
      ),
      'bom.xml': bytes([0xef, 0xbb, 0xbf], '<r><v>é</v></r>', 'utf8'),
    },
    texts: {
      'utf16le.xml': '<r><v>Grüße 🚚</v></r>',
      'utf16be.xml': '<r><v>Grüße 🚚</v></r>',
      'latin1.xml': '<r><v>Grüße ÿ</v></r>',
      'windows.xml': '<r><v>€“”</v></r>',
      'bom.xml': '<r><v>é</v></r>',
    },
  },
  {
    name: 'an internal DTD with entities and default attributes',
    xsd: null,
    documents: {
      'a.xml':
        '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY co "A &amp; B"><!ENTITY el "<v>in</v>"><!ATTLIST v k CDATA "d">' +
        '<!ELEMENT r ANY>]><r><v>&co;</v>&el;<v k="x&co;">&#x41;</v></r>',
    },
    texts: { 'a.xml': '<r><v k="d">A &amp; B</v><v k="d">in</v><v k="xA &amp; B">A</v></r>' },
  },
  {
    name: 'mixed content, nested',
    xsd: null,
    documents: {
      'a.xml':
        '<doc><p>Hello <b>big <i>nested</i> bold</b> world<br/>again</p><p>plain</p><p><b>only</b></p></doc>',
    },
  },
  {
    name: 'six hundred levels of one element',
    xsd: null,
    documents: { 'a.xml': `${'<a>'.repeat(600)}<v>x</v>${'</a>'.repeat(600)}` },
  },
  {
    name: 'groups that repeat, unions, lists and nil',
    xsd: schema(
      `<xs:group name="g"><xs:sequence><xs:element name="x" type="xs:string"/><xs:element name="y" minOccurs="0">
         <xs:simpleType><xs:union memberTypes="xs:int xs:date"/></xs:simpleType></xs:element></xs:sequence></xs:group>
       <xs:attributeGroup name="ag"><xs:attribute name="m" type="xs:decimal"/></xs:attributeGroup>
       ${element(
         'r',
         `<xs:all>${element('one', '<xs:group ref="g" maxOccurs="unbounded"/><xs:attributeGroup ref="ag"/>')}
          <xs:element name="nums" minOccurs="0"><xs:simpleType><xs:list itemType="xs:decimal"/></xs:simpleType></xs:element>
          <xs:element name="nil" nillable="true" type="xs:int"/></xs:all>`,
       )}`,
    ),
    documents: {
      'a.xml': `<r ${xsi}><nil xsi:nil="true"/><nums>1 2.5  -3</nums><one m="1.0"><x>a</x><y>5</y><x>b</x><x>c</x><y>2020-01-01</y></one></r>`,
      'b.xml': '<r><one><x/></one><nil>7</nil></r>',
    },
  },
  {
    name: 'documents with different roots, one within the other',
    xsd: schema(
      `${element('a', '<xs:sequence><xs:element name="v" type="xs:int"/></xs:sequence>')}
       ${element('b', '<xs:sequence><xs:element ref="a" minOccurs="0" maxOccurs="unbounded"/><xs:element name="w" type="xs:string"/></xs:sequence>')}`,
    ),
    documents: {
      'a.xml': '<a><v>1</v></a>',
      'b.xml': '<b><a><v>2</v></a><a><v>3</v></a><w>x</w></b>',
    },
  },
  {
    name: 'empty elements and white space',
    xsd: null,
    documents: {
      'a.xml': '<r>\n <e/><e></e><e> </e><e>x</e><f/><g>  padded  </g><h>\n</h></r>',
      'b.xml': '<r><g/><h>1</h></r>',
    },
  },
  {
    name: 'text that looks like numbers, dates, or what COPY escapes',
    xsd: null,
    documents: {
      'a.xml':
        '<r><z>01</z><z>1</z><i>1</i><i>2147483648</i><d>1.50</d><d>2</d><b>true</b><b>false</b><m>1</m><m></m><t>2020-01-01</t>' +
        '<t>2020-01-01T00:00:00</t><big>9223372036854775808</big><neg>-0</neg><plus>+5</plus><exp>1e5</exp>' +
        '<ctl>a&#9;b&#13;c&#10;d</ctl><bs>\\.</bs><bs>\\N</bs><bs>NULL</bs><bs>a\\tb</bs></r>',
    },
  },
];
