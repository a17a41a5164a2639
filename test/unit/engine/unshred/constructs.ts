/** Small XSD sets, one per construct, with documents that are valid, and documents that deviate. */

export interface Construct {
  readonly name: string;
  readonly xsd: Readonly<Record<string, string>>;
  readonly documents: readonly string[];
}

const instance = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

function xs(body: string, attributes = ''): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" ${attributes}>${body}</xs:schema>`;
}

function construct(name: string, body: string, documents: readonly string[], attributes = ''): Construct {
  return { name, xsd: { 'schema.xsd': xs(body, attributes) }, documents };
}

function element(name: string, content: string): string {
  return `<xs:element name="${name}"><xs:complexType>${content}</xs:complexType></xs:element>`;
}

const values = [
  'string',
  'normalizedString',
  'token',
  'boolean',
  'decimal',
  'integer',
  'long',
  'int',
  'unsignedByte',
  'unsignedLong',
  'float',
  'double',
  'duration',
  'dateTime',
  'time',
  'date',
  'gYearMonth',
  'gYear',
  'hexBinary',
  'base64Binary',
  'anyURI',
]
  .map((type) => `<xs:element name="${type}" type="xs:${type}" minOccurs="0" maxOccurs="unbounded"/>`)
  .join('');

const person = `
  <xs:complexType name="Person"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Pilot"><xs:complexContent><xs:extension base="Person"><xs:sequence>
    <xs:element name="hours" type="xs:int" minOccurs="0"/></xs:sequence><xs:attribute name="wing" type="xs:string"/></xs:extension></xs:complexContent></xs:complexType>`;

const shape = (wide: boolean): string => {
  const member = (name: string, letter: string): string => {
    const children = Array.from(
      { length: wide ? 170 : 2 },
      (_, at) => `<xs:element name="${letter}${at}" type="xs:string" minOccurs="0"/>`,
    );
    return `<xs:complexType name="${name}Type"><xs:complexContent><xs:extension base="Shape"><xs:sequence>${children.join('')}
      <xs:element name="point" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
      <xs:element name="${name}" type="${name}Type" substitutionGroup="shape" nillable="true"/>`;
  };
  return `
    ${element('drawing', '<xs:sequence><xs:element name="title" type="xs:string" minOccurs="0"/><xs:element ref="shape" minOccurs="0" maxOccurs="unbounded"/><xs:element name="end" type="xs:string" minOccurs="0"/></xs:sequence>')}
    ${element('frame', '<xs:sequence><xs:element ref="shape" minOccurs="0"/><xs:element name="any" type="Shape" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>')}
    <xs:element name="shape" type="Shape" abstract="true"/>
    <xs:complexType name="Shape"><xs:attribute name="id" type="xs:int"/></xs:complexType>
    ${member('circle', 'c')}${member('box', 'b')}<xs:element name="dot" type="Shape" substitutionGroup="shape"/>`;
};

const shapeDocuments = [
  '<drawing><title>T</title><circle id="1"><c0>x</c0><point>1</point><point>2</point></circle><box id="2"><b1/></box><dot id="3"/><end/></drawing>',
  `<drawing ${instance}><box/><circle xsi:nil="true" id="4"/><circle xsi:nil="false"/><dot/><unknown/><dot more="1"/></drawing>`,
  '<frame><circle><c1>y</c1><c0>x</c0></circle></frame>',
  `<frame ${instance}><box id="1"/><any id="1"/><any xsi:type="circleType"><c0>1</c0><point>7</point></any><any xsi:type="Shape"/><any xsi:type="Nowhere" z="1"><y/></any></frame>`,
  '<frame/>',
];

export const constructs: readonly Construct[] = [
  construct('values of every type', element('r', `<xs:sequence>${values}</xs:sequence>`), [
    `<r><string/><string> a&#9;b&#13;&#10;c </string><string>😀 &amp; &lt;b> ]]&gt;</string><string>null</string><string>\\N</string>
      <normalizedString> a  b </normalizedString><token>  a\n b </token><boolean>1</boolean><boolean> false </boolean><boolean>true</boolean>
      <decimal>12345678901234567890.12345678901234567890</decimal><decimal>+01.50</decimal><decimal>-.5</decimal><decimal>-0</decimal>
      <integer>123456789012345678901234567890</integer><integer>007</integer><long>-9223372036854775808</long><int>+5</int>
      <unsignedByte>255</unsignedByte><unsignedLong>18446744073709551615</unsignedLong>
      <float>1.5E3</float><float>INF</float><float>NaN</float><float>0.1</float><double>-INF</double><double>1e-300</double><double>-0</double>
      <duration>P1Y2M3DT4H5M6.7S</duration><dateTime>2024-02-29T23:59:59Z</dateTime><dateTime>2024-02-29T23:59:59.120+05:30</dateTime>
      <dateTime>2024-02-29T00:00:00</dateTime><dateTime>2024-02-29T24:00:00Z</dateTime><dateTime>2024-01-01T00:00:00.123456789Z</dateTime>
      <time>10:00:00</time><time>10:00:00.5-08:00</time><time>24:00:00</time><date>2024-02-29</date><date>2024-02-29Z</date><date>2024-02-29+14:00</date>
      <gYearMonth>2024-02</gYearMonth><gYear>-0044</gYear><hexBinary>0aFF</hexBinary><base64Binary>QUJD RA==</base64Binary><anyURI> http://x/?a&amp;b </anyURI></r>`,
    '<r><boolean>yes</boolean><decimal>1e5</decimal><decimal/><integer>1.0</integer><int>2147483648</int><unsignedByte>-1</unsignedByte><float>x</float><dateTime>yesterday</dateTime><date>2023-02-29</date><date>-0044-03-15</date><time>25:00:00</time><dateTime/><boolean/><hexBinary>0</hexBinary></r>',
    '<r><int>1</int><int>2147483647</int><double>Infinity</double><double>INF</double><boolean>t</boolean><boolean>true</boolean><dateTime>2024-02-29 23:59:59+00</dateTime><dateTime>2024-02-29T23:59:59Z</dateTime></r>',
  ]),
  construct(
    'values in columns of their own',
    element(
      'r',
      `<xs:sequence><xs:element name="v" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="ms" type="xs:dateTime"/><xs:attribute name="local" type="xs:dateTime"/>
       <xs:attribute name="t" type="xs:time"/><xs:attribute name="d" type="xs:date"/><xs:attribute name="two" type="xs:decimal"/><xs:attribute name="any" type="xs:decimal"/><xs:attribute name="b" type="xs:boolean"/>
       <xs:attribute name="big" type="xs:integer"/><xs:attribute name="small" type="xs:short"/><xs:attribute name="zoned" type="xs:dateTime"/></xs:complexType></xs:element></xs:sequence>`,
    ),
    [
      `<r><v ms="2024-01-01T10:00:00.500Z" local="2024-01-01T10:00:00" t="10:00:00.10" d="2024-01-01" two="1.50" any="1.5" b="true" big="9223372036854775807" small="-1" zoned="2024-01-01T10:00:00+02:00"/>
       <v ms="2024-01-01T10:00:00.250Z" local="0001-12-31T23:59:59.999999" t="00:00:00" d="9999-12-31" two="10.00" any="100.125" b="false" big="0" small="32767" zoned="2024-01-01T10:00:00Z"/><v ms="2024-01-01T10:00:00.000Z" two="-0.01" any="0" zoned="2024-01-01T10:00:00-00:00"/></r>`,
      '<r><v ms="" two="12345678901234567890.12" any="1E5" big="9223372036854775808" small="32768" b="1" d="2024-1-1"/></r>',
    ],
  ),
  construct(
    'attributes',
    element(
      'r',
      `<xs:attribute name="a" type="xs:int"/><xs:attribute name="b" type="xs:string" default="d"/><xs:attribute name="c" type="xs:boolean" fixed="true"/>
       <xs:attribute name="l" type="xs:NMTOKENS"/><xs:attribute name="when" type="xs:date"/>`,
    ),
    [
      '<r/>',
      '<r a="01" b="" c="1" l=" x  y " when="2024-01-01Z"/>',
      '<r a="" b="a&#10;b&#9;c&#13;d &quot;&lt;&amp;\'>" l="" when=""/>',
      '<r a="x" z="unknown" xml:lang="de" xml:space="preserve" b="xml"/>',
      '<r b="d"> \n </r>',
      '<r>text<!-- c -->more</r>',
      `<r a="\ufeffx" b="\ufeff" z="\ufeffy" l="\ufeffa \ufeffb" ${instance} xsi:nil="\u00a0true">\ufeff<u k="\ufeffz">\ufeffu</u></r>`,
      `<r ${instance} xsi:type="\u00a0Nobody"/>`,
    ],
  ),
  construct(
    'attributes in namespaces',
    `<xs:element name="r"><xs:complexType><xs:attribute name="a" type="xs:string" form="qualified"/><xs:attribute ref="g"/><xs:anyAttribute namespace="##other" processContents="skip"/></xs:complexType></xs:element>
     <xs:attribute name="g" type="xs:string"/>`.replace('ref="g"', 'ref="t:g"'),
    [
      '<r xmlns="urn:t" xmlns:t="urn:t" xmlns:o="urn:o" t:a="1" t:g="2" o:x="a=&quot;b&quot;&#10;c&#9;&lt;" o:y="" xml:id="i"/>',
      '<x:r xmlns:x="urn:t" a="plain" x:unknown="q" x:a="q" xmlns:p="urn:o" p:x="1"/>',
    ],
    'targetNamespace="urn:t" xmlns:t="urn:t"',
  ),
  construct(
    'unqualified local elements',
    `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="a" type="xs:int"/><xs:element name="b" form="qualified" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="a" type="xs:string" minOccurs="0"/><xs:element name="a" type="xs:string" form="qualified" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`,
    [
      '<t:r xmlns:t="urn:t"><a>1</a><t:b><a>x</a></t:b><t:b><t:a>y</t:a></t:b><t:b><a/><t:a/></t:b></t:r>',
      '<r xmlns="urn:t"><a xmlns="">1</a><a>2</a><b><a><q/></a></b><b><a xmlns="" k="1"/><a k="2"/></b></r>',
    ],
    'targetNamespace="urn:t"',
  ),
  construct(
    'optional, empty and absent',
    element(
      'r',
      `<xs:sequence><xs:element name="s" type="xs:string" minOccurs="0"/><xs:element name="i" type="xs:int" minOccurs="0"/>
       <xs:element name="flag" minOccurs="0"><xs:complexType/></xs:element>
       <xs:element name="o" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:string" minOccurs="0"/><xs:element name="y" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="k" type="xs:int"/></xs:complexType></xs:element>
       <xs:element name="sure"><xs:complexType><xs:sequence><xs:element name="x" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
       <xs:element name="maybe" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:sequence>`,
    ),
    [
      '<r><s/><i/><flag/><o/><sure><x/></sure><maybe><x/></maybe></r>',
      '<r><o><y/></o><sure><x>1</x></sure></r>',
      '<r><o k=""/><sure/></r>',
      '<r/>',
      '<r><maybe/></r>',
      '<r><sure/><maybe/></r>',
      '<r><sure><unknown/></sure><maybe z="1"/></r>',
      '<r><maybe>text</maybe></r>',
      '<r><sure> <!-- nothing --> </sure></r>',
    ],
  ),
  construct(
    'order that deviates',
    element(
      'r',
      `<xs:sequence><xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string" minOccurs="0"/>
       <xs:element name="m" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
       <xs:element name="c" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int" minOccurs="0"/><xs:element name="y" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
       <xs:element name="d" type="xs:string" minOccurs="0"/></xs:sequence>`,
    ),
    [
      '<r><a>1</a><b>2</b><m>3</m><m>4</m><c><x>1</x><y>2</y></c><d>5</d></r>',
      '<r><d>5</d><c><y>2</y><x>1</x></c><m>3</m><b>2</b><m>4</m><a>1</a></r>',
      '<r><b>2</b><a>1</a><d/><c/></r>',
      '<r><m/><a/><u/><b/><a>second</a><m/><b>second</b><c><y/><u/><x/><y>2</y></c><m/></r>',
      '<r>one<a>1</a> two <b>2</b><c>three<x>1</x></c>four<!-- x -->five\n</r>',
    ],
  ),
  construct(
    'repeated choice and all',
    `${element('r', '<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:string"/><xs:element name="c"><xs:complexType><xs:attribute name="k"/></xs:complexType></xs:element></xs:choice>')}
     ${element('one', '<xs:choice><xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:string"/></xs:choice>')}
     ${element('all', '<xs:all><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:string" minOccurs="0"/><xs:element name="z" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="q" type="xs:int" maxOccurs="5"/></xs:sequence></xs:complexType></xs:element></xs:all>')}
     ${element('pairs', '<xs:sequence maxOccurs="unbounded"><xs:element name="k" type="xs:string"/><xs:element name="v" type="xs:string" minOccurs="0"/></xs:sequence>')}`,
    [
      '<r><b>1</b><a>2</a><b/><c k="1"/><a>3</a><c/></r>',
      '<one><b>x</b></one>',
      '<one><b>x</b><a>1</a></one>',
      '<all><z><q>1</q><q>2</q></z><y>b</y><x>1</x></all>',
      '<all><x>1</x><x>2</x><z/><y/></all>',
      '<pairs><k>1</k><v>a</v><k>2</k><k>3</k><v>c</v></pairs>',
    ],
  ),
  construct(
    'nillable elements',
    element(
      'r',
      `<xs:sequence><xs:element name="i" type="xs:int" nillable="true" minOccurs="0"/><xs:element name="s" type="xs:string" nillable="true" minOccurs="0"/>
       <xs:element name="n" type="xs:int" minOccurs="0"/>
       <xs:element name="c" nillable="true" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int" minOccurs="0"/></xs:sequence><xs:attribute name="k"/></xs:complexType></xs:element>
       <xs:element name="f" nillable="true" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int" minOccurs="0"/></xs:sequence><xs:attribute name="k"/></xs:complexType></xs:element></xs:sequence>`,
    ),
    [
      `<r ${instance}><i xsi:nil="true"/><s xsi:nil="1"/><c xsi:nil="true" k="1"/><c/><c xsi:nil="false"><x>1</x></c><f xsi:nil="true" k="2"/></r>`,
      `<r ${instance}><i xsi:nil="false">5</i><s xsi:nil="0"/><n xsi:nil="true"/><f xsi:nil=" true "/></r>`,
      `<r ${instance}><i xsi:nil="true">7</i><s xsi:nil="maybe">x</s><c xsi:nil="true"><x>2</x></c><f xsi:nil="false"/></r>`,
      `<r ${instance} xsi:schemaLocation="urn:a a.xsd" xsi:noNamespaceSchemaLocation="b.xsd"><i/><s/></r>`,
    ],
  ),
  construct(
    'recursion',
    `<xs:element name="part" type="Part"/><xs:complexType name="Part"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/><xs:element name="spare" type="Part" minOccurs="0"/><xs:element name="note" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>`,
    [
      '<part><name>1</name><part><name>1.1</name><part><name>1.1.1</name></part></part><part><name>1.2</name><spare><name>s</name><part><name>s.1</name></part></spare></part><spare><name>z</name></spare><note/></part>',
      '<part><part><u>x</u><name>late</name></part>text<name/><part/></part>',
      `${'<part><name>n</name>'.repeat(1500)}${'</part>'.repeat(1500)}`,
    ],
  ),
  construct(
    'roots that share a table',
    `<xs:element name="order" type="Doc"/><xs:element name="invoice" type="Doc"/><xs:element name="batch"><xs:complexType><xs:sequence><xs:element ref="order" maxOccurs="unbounded"/><xs:element name="copy" type="Doc" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
     <xs:complexType name="Doc"><xs:sequence><xs:element name="no" type="xs:int"/><xs:element name="doc" type="Doc" minOccurs="0" maxOccurs="2"/></xs:sequence></xs:complexType>`,
    [
      '<order><no>1</no></order>',
      '<invoice><no>2</no><doc><no>3</no></doc></invoice>',
      '<batch><order><no>1</no></order><order><no>2</no></order><copy><no>3</no></copy></batch>',
    ],
  ),
  construct(
    'shared types',
    `${element('order', '<xs:sequence><xs:element name="shipTo" type="Address"/><xs:element name="billTo" type="Address" minOccurs="0"/><xs:element name="other" type="Address" minOccurs="0" maxOccurs="unbounded"/><xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="shipTo" type="Address" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:sequence>')}
     <xs:complexType name="Address"><xs:sequence><xs:element name="street" type="xs:string" maxOccurs="3"/><xs:element name="city" type="xs:string"/></xs:sequence></xs:complexType>`,
    [
      '<order><shipTo><street>a</street><street>b</street><city>c</city></shipTo><other><street>d</street><city/></other><line><shipTo><street>e</street><city>f</city></shipTo></line><line/></order>',
      '<order><billTo><city>c</city><street>late</street></billTo><shipTo/><other/><line><shipTo/><shipTo/></line></order>',
    ],
  ),
  {
    name: 'one local name in two namespaces',
    xsd: {
      'a.xsd': xs(
        `<xs:import namespace="urn:b" schemaLocation="b.xsd"/><xs:element name="r"><xs:complexType><xs:sequence maxOccurs="unbounded"><xs:element ref="a:item" minOccurs="0"/><xs:element ref="b:item" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
         <xs:element name="s"><xs:complexType><xs:sequence><xs:element ref="a:item" minOccurs="0"/><xs:element ref="b:item" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
         <xs:element name="item" type="b:Item"/>`,
        'targetNamespace="urn:a" xmlns:a="urn:a" xmlns:b="urn:b"',
      ),
      'b.xsd': xs(
        `<xs:element name="item" type="b:Item"/><xs:complexType name="Item"><xs:sequence><xs:element name="v" type="xs:int" minOccurs="0" maxOccurs="unbounded" form="qualified"/></xs:sequence><xs:attribute name="k"/></xs:complexType>`,
        'targetNamespace="urn:b" xmlns:b="urn:b"',
      ),
    },
    documents: [
      '<r xmlns="urn:a" xmlns:b="urn:b"><item k="1"/><b:item k="2"><b:v>1</b:v></b:item><item/><b:item/><item><b:v>2</b:v></item></r>',
      '<s xmlns="urn:a" xmlns:b="urn:b"><b:item k="2"><b:v>1</b:v></b:item></s>',
      '<s xmlns="urn:a" xmlns:b="urn:b"><item k="2"><b:v>1</b:v></item><b:item><b:v>3</b:v></b:item></s>',
    ],
  },
  {
    name: 'chameleon include',
    xsd: {
      'a.xsd': xs(
        '<xs:include schemaLocation="c.xsd"/><xs:element name="r"><xs:complexType><xs:sequence><xs:element name="m" type="t:Money" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>',
        'targetNamespace="urn:t" xmlns:t="urn:t" elementFormDefault="qualified"',
      ),
      'c.xsd': xs(
        '<xs:complexType name="Money"><xs:simpleContent><xs:extension base="Amount"><xs:attribute name="cur"/></xs:extension></xs:simpleContent></xs:complexType><xs:simpleType name="Amount"><xs:restriction base="xs:decimal"><xs:totalDigits value="6"/><xs:fractionDigits value="2"/></xs:restriction></xs:simpleType>',
      ),
    },
    documents: [
      '<r xmlns="urn:t"><m cur="EUR">1.50</m><m>0001</m></r>',
      '<t:r xmlns:t="urn:t"><t:m>123456.789</t:m><t:m cur="">x<t:z/>y</t:m><t:m/><t:m> <u/>5</t:m></t:r>',
    ],
  },
  construct('substitution groups', shape(false), shapeDocuments),
  construct('wide substitution groups', shape(true), shapeDocuments),
  construct(
    'xsi:type',
    `${element('r', '<xs:sequence><xs:element name="p" type="Person" minOccurs="0"/><xs:element name="q" type="Person" minOccurs="0" maxOccurs="unbounded"/><xs:element name="s" type="xs:string" minOccurs="0"/><xs:element name="v" type="Person" minOccurs="0"/></xs:sequence>')}${person}`,
    [
      `<r ${instance}><p xsi:type="Pilot" wing="l"><name>A</name><hours>1</hours></p><q><name>B</name></q><q xsi:type="Pilot"><name>C</name></q><q xsi:type="Person"><name>D</name></q></r>`,
      `<r ${instance} xmlns:xs="http://www.w3.org/2001/XMLSchema"><p xsi:type="Pilot"/><q xsi:type="Gone"><name>C</name><hours>1</hours></q><s xsi:type="xs:token">x</s><v xsi:type="Person"/></r>`,
      `<r ${instance} xsi:type="R" xmlns:e="urn:e"><q xsi:type="e:Pilot"><name/></q><q xsi:type="undeclared:Pilot"><name/></q><v/></r>`,
      '<r><p/><v><name/></v></r>',
    ],
  ),
  construct(
    'xsi:type in a namespace',
    `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="q" type="t:Person" maxOccurs="unbounded"/><xs:any minOccurs="0" maxOccurs="unbounded" namespace="##other" processContents="skip"/></xs:sequence></xs:complexType></xs:element>${person.replaceAll('base="Person"', 'base="t:Person"')}`,
    [
      `<r xmlns="urn:t" ${instance} xmlns:x="urn:t" xmlns:o="urn:o"><q xsi:type="Pilot"><name>1</name></q><q xsi:type="x:Pilot"><name>2</name></q><q xsi:type="o:Pilot"/><o:foreign xsi:type="Pilot"><o:in xsi:type="x:Pilot"/></o:foreign></r>`,
      `<x:r ${instance} xmlns:x="urn:t"><x:q xsi:type="Pilot"><x:name>1</x:name></x:q></x:r>`,
    ],
    'targetNamespace="urn:t" xmlns:t="urn:t" elementFormDefault="qualified"',
  ),
  construct(
    'mixed content',
    `<xs:element name="p"><xs:complexType mixed="true"><xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="b" type="xs:string"/><xs:element name="i"><xs:complexType mixed="true"><xs:sequence><xs:element name="b" type="xs:string" minOccurs="0"/></xs:sequence><xs:attribute name="k"/></xs:complexType></xs:element></xs:choice></xs:complexType></xs:element>
     ${element('r', '<xs:sequence><xs:element name="head" minOccurs="0"><xs:complexType mixed="true"><xs:sequence><xs:element name="b" type="xs:string" minOccurs="0"/><xs:element name="c" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element><xs:element ref="p" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>')}`,
    [
      '<p>one <b>two</b> <b>three</b>\n<i>x<b/>y</i><i k="1"/> </p>',
      '<p/>',
      '<p> </p>',
      '<p>&#13;&#10;<![CDATA[<x>]]>&amp;<!-- c -->z<?pi?><u>unknown</u>tail</p>',
      '<r><head>a<b>1</b>b<c>2</c>c</head><p>x</p></r>',
      '<r><head/><p/></r>',
      '<r>\n<head>\n</head>\n</r>',
      '<r><head><c>2</c>between<b>1</b></head><p/><head>second</head></r>',
    ],
  ),
  construct(
    'mixed content that declares no children',
    `<xs:element name="m"><xs:complexType mixed="true"><xs:attribute name="id"/></xs:complexType></xs:element>
     ${element('r', '<xs:sequence><xs:element ref="m" minOccurs="0"/><xs:element name="n" minOccurs="0" maxOccurs="unbounded"><xs:complexType mixed="true"/></xs:element><xs:element name="s" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:element name="t" type="xs:token" minOccurs="0"/></xs:sequence>')}`,
    [
      '<r><m id="1">text</m><n/><n> </n><s> </s></r>',
      '<r>\n<m id="1">\n  <u> <v/> </u>\n</m>\n<n> <u/></n><n><u/> <u/>\n</n></r>',
      '<r><n>a<u/> <u/>b</n><s>a<u/> <u/> b</s><s> <u/></s><t> <u/> </t></r>',
      '<m> <u/> </m>',
    ],
  ),
  construct(
    'wildcards',
    `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="a" type="xs:string"/><xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></xs:sequence><xs:anyAttribute processContents="lax"/></xs:complexType></xs:element>
     ${element('f', '<xs:sequence><xs:element name="ext" minOccurs="0"><xs:complexType><xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="skip"/></xs:sequence></xs:complexType></xs:element><xs:element name="z" type="xs:string" minOccurs="0"/></xs:sequence>')}
     <xs:element name="anything"/><xs:element name="simple" type="xs:anySimpleType"/>`,
    [
      '<r x="1" xmlns:n="urn:n" n:y="2"><a>1</a><b>mixed <c xmlns="urn:c" n:k="v">t</c> &lt; &#13;</b><n:d/><a>again</a><!-- c --><e> </e></r>',
      '<r/>',
      '<f><ext><a/>text<b/></ext><z/></f>',
      '<f><ext/></f>',
      '<f><ext k="1"/></f>',
      `<anything ${instance} xmlns:xs="http://www.w3.org/2001/XMLSchema" xsi:type="xs:int">5</anything>`,
      '<anything a="1">x<b>y</b>z</anything>',
      '<simple> x </simple>',
    ],
  ),
  construct(
    'lists and unions',
    `<xs:simpleType name="Ints"><xs:list itemType="xs:int"/></xs:simpleType><xs:simpleType name="Codes"><xs:list itemType="Code"/></xs:simpleType>
     <xs:simpleType name="Code"><xs:restriction base="xs:string"><xs:maxLength value="3"/></xs:restriction></xs:simpleType>
     <xs:simpleType name="Times"><xs:list itemType="xs:dateTime"/></xs:simpleType>
     <xs:simpleType name="Either"><xs:union memberTypes="xs:int xs:date Code"/></xs:simpleType>
     ${element('r', '<xs:sequence><xs:element name="i" type="Ints" minOccurs="0" maxOccurs="unbounded"/><xs:element name="c" type="Codes" minOccurs="0" maxOccurs="unbounded"/><xs:element name="t" type="Times" minOccurs="0" maxOccurs="unbounded"/><xs:element name="u" type="Either" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="ids" type="xs:IDREFS"/>')}`,
    [
      '<r ids=" a  b "><i>1 2\n3</i><i/><i> </i><c>a "b" c\\</c><c>{} NULL ,</c><t>2024-01-01T00:00:00Z 2024-01-01T00:00:00+02:00</t><u>01</u><u>2024-01-01</u><u>abc</u></r>',
      '<r ids=""><i>1 x</i><c>toolong ok</c><t>now</t><u/></r>',
    ],
  ),
  construct(
    'type alternatives',
    `${element('r', '<xs:sequence><xs:element name="s" type="S" minOccurs="0" maxOccurs="unbounded"><xs:alternative test="@k=1" type="A"/><xs:alternative test="@k=2" type="B"/></xs:element></xs:sequence>')}
     <xs:complexType name="S"><xs:attribute name="k"/></xs:complexType><xs:complexType name="A"><xs:complexContent><xs:extension base="S"><xs:sequence><xs:element name="v" type="xs:int"/><xs:element name="w" type="xs:date" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
     <xs:complexType name="B"><xs:complexContent><xs:extension base="S"><xs:sequence><xs:element name="w" type="xs:date"/><xs:element name="v" type="S" maxOccurs="2"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`,
    [
      '<r><s k="1"><v>1</v></s><s k="2"><w>2026-01-01</w><v k="3"/><v/></s><s/><s k="1"><v>x</v><w>2026-01-02Z</w></s></r>',
    ],
  ),
  construct(
    'QNames',
    `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="q" type="xs:QName" minOccurs="0" maxOccurs="unbounded"/><xs:element name="l" minOccurs="0"><xs:simpleType><xs:list itemType="xs:QName"/></xs:simpleType></xs:element></xs:sequence><xs:attribute name="n" type="xs:QName"/></xs:complexType></xs:element>`,
    [
      '<r xmlns="urn:t" xmlns:a="urn:a" n="a:x"><q>local</q><q xmlns:a="urn:other">a:y</q><q xmlns:b="urn:t"> b:z </q><q xml:lang="x">xml:lang</q><q>undeclared:x</q><l>a:x local  a:y</l></r>',
      '<t:r xmlns:t="urn:t" n="plain"><t:q>t:x</t:q><t:q>none</t:q><t:q/></t:r>',
    ],
    'targetNamespace="urn:t" xmlns:t="urn:t" elementFormDefault="qualified"',
  ),
  construct(
    'names that structure wants too',
    element(
      'r',
      `<xs:sequence><xs:element name="i" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="value"/><xs:attribute name="position"/><xs:attribute name="i_key"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
       <xs:element name="head" type="Head" minOccurs="0" maxOccurs="unbounded"/><xs:element name="present" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="present" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:sequence>`,
    ) +
      '<xs:complexType name="Head"><xs:sequence><xs:element name="head" type="Head" minOccurs="0" maxOccurs="unbounded"/><xs:element name="type" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>',
    [
      '<r><i value="v" position="p" i_key="k">t</i><i/><head><head/><head><type>x</type></head></head><present><present/></present></r>',
      '<r><present/></r>',
    ],
  ),
  construct(
    'document types',
    element(
      'r',
      '<xs:sequence><xs:element name="a" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="d"/>',
    ),
    [
      '<!DOCTYPE r [<!ENTITY e "x &amp; y"><!ATTLIST r d CDATA "default"><!ATTLIST a k NMTOKEN "n">]><r><a>&e;</a><a k=" m "/></r>',
    ],
  ),
];
