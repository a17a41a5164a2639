/** `--validate`: the XSD set as another program reads it, what that program says, and where in the document that is. */
import { afterAll, beforeAll, describe, expect, it, type TestOptions } from 'vitest';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { standaloneXsdSet, type StandaloneXsdSet } from '../../../../src/engine/xsd/read/standalone-set.ts';
import type { DocumentValidator } from '../../../../src/ports/processes.ts';
import {
  createFaultFinder,
  type FaultLead,
  createStreamMarker,
  createTagMarker,
  isUtf8,
} from '../../../../src/tools/convert/check-documents.ts';
import { needs } from '../../../support/needs.ts';
import {
  byXmllint,
  inWebAssembly,
  rejectsOf,
  type CreateValidator,
} from '../../../support/models/validated.ts';

const utf8 = new TextEncoder();
const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';

function setOf(files: Readonly<Record<string, string>>, entries?: readonly string[]): StandaloneXsdSet {
  const all = Object.entries(files).map(([name, text]) => ({ name, bytes: utf8.encode(text) }));
  return standaloneXsdSet(all, entries === undefined ? {} : { entries });
}

/**
 * What a program that goes by schemaLocation alone trips over: a location that is right but for its folder, a chameleon, a
 * namespace entered at two documents, an import without location, a missing include, a redefinition, the xml: attributes.
 */
const knotted = {
  'main/order.xsd': `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- <xs:include schemaLocation="comment.xsd"/> -->
<xs:schema ${xs} targetNamespace="urn:o" xmlns="urn:o" xmlns:p="urn:p" xmlns:q="urn:q" elementFormDefault="qualified">
  <xs:annotation><xs:documentation>𝔘 <xs:include schemaLocation="documentation.xsd"/></xs:documentation></xs:annotation>
  <xs:include schemaLocation="http://example.com/published/units.xsd"/><xs:include
     schemaLocation='gone.xsd'/>
  <xs:redefine schemaLocation="../parts/base.xsd"><xs:complexType name="Base"><xs:complexContent><xs:extension base="Base">
    <xs:attribute name="more" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType></xs:redefine>
  <xs:import namespace="urn:p" schemaLocation="../parts/first.xsd"/>
  <xs:import namespace="urn:q"/>
  <xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="http://www.w3.org/2001/xml.xsd"/>
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="weight" type="Weight"/><xs:element name="base" type="Base"/>
    <xs:element ref="p:first"/><xs:element ref="p:second"/><xs:element ref="q:only"/>
  </xs:sequence><xs:attribute ref="xml:lang"/></xs:complexType></xs:element>
</xs:schema>`,
  'parts/units.xsd': `<xs:schema ${xs}><xs:simpleType name="Weight"><xs:restriction base="xs:decimal"><xs:minInclusive value="0"/></xs:restriction></xs:simpleType></xs:schema>`,
  'parts/base.xsd': `<xs:schema ${xs}><xs:complexType name="Base"><xs:attribute name="a" type="xs:int"/></xs:complexType></xs:schema>`,
  'parts/first.xsd': `<xs:schema ${xs} targetNamespace="urn:p"><xs:import namespace="urn:q" schemaLocation="q.xsd"/><xs:element name="first" type="xs:int"/></xs:schema>`,
  'parts/second.xsd': `<xs:schema ${xs} targetNamespace="urn:p"><xs:element name="second" type="xs:date"/></xs:schema>`,
  'parts/q.xsd': `<xs:schema ${xs} targetNamespace="urn:q"><xs:import namespace="urn:p" schemaLocation="second.xsd"/><xs:element name="only" type="xs:boolean"/></xs:schema>`,
};

const chameleon = (name: string, base: string, more = ''): string =>
  `<xs:schema ${xs}>${more}<xs:complexType name="${name}">${base}</xs:complexType></xs:schema>`;

const doc = (value: string): Uint8Array => utf8.encode(`<v:doc xmlns:v="urn:v"><code v="${value}"/></v:doc>`);

const order = (weight: string, lang = 'en', only = 'true'): string =>
  `<order xmlns="urn:o" xmlns:p="urn:p" xmlns:q="urn:q" xml:lang="${lang}"><weight>${weight}</weight><base a="1" more="2"/><p:first>1</p:first><p:second>2026-01-31</p:second><q:only>${only}</q:only></order>`;

async function* pieces(text: string): AsyncIterable<Uint8Array> {
  const bytes = utf8.encode(text);
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

function mark(bytes: Uint8Array): Uint8Array | null {
  const marker = createTagMarker();
  const tokenizer = createXmlTokenizer({
    onBatch: (batch) => marker.take(batch, (record) => tokenizer.locate(record)),
  });
  tokenizer.write(bytes);
  tokenizer.end();
  return marker.marked(bytes);
}

const programs: readonly (readonly [name: string, options: TestOptions, create: CreateValidator])[] = [
  ['libxml2 in WebAssembly', {}, inWebAssembly],
  ['xmllint', needs('xmllint'), byXmllint],
];

for (const [name, options, create] of programs)
  describe(name, options, () => {
    let validator: DocumentValidator;
    beforeAll(async () => {
      validator = await create(setOf(knotted, ['main/order.xsd']));
    });
    afterAll(() => validator.close());

    it('reads a set as the compiler read it, and tells documents apart', async () => {
      const texts = [order('1.5'), order('-1'), order('2', 'en', 'maybe'), order('3')];
      const answers = await validator.checkAll(texts.map((text) => utf8.encode(text)));
      expect(answers.map(({ count }) => count > 0)).toEqual([false, true, true, false]);
      expect(answers[1]!.faults[0]).toMatchObject({ line: 1, element: 'weight', attribute: null });
      expect(answers[2]!.faults[0]).toMatchObject({ element: 'only' });
      expect(answers[2]!.faults[0]!.message).toContain("'maybe' is not a valid value");
    });

    it('leaves out what lies beside the set, and includes nothing twice', async () => {
      const set = setOf({
        'head.xsd': `<xs:schema ${xs} targetNamespace="urn:v"><xs:include schemaLocation="body.xsd"/></xs:schema>`,
        'body.xsd': `<xs:schema ${xs} xmlns="urn:v" targetNamespace="urn:v"><xs:include schemaLocation="types.xsd"/><xs:include schemaLocation="voc.xsd"/>
        <xs:import namespace="urn:x" schemaLocation="x.xsd"/><xs:element name="doc" type="Doc"/></xs:schema>`,
        'types.xsd': chameleon(
          'Doc',
          '<xs:sequence><xs:element name="code" type="Code"/></xs:sequence>',
          '<xs:include schemaLocation="voc.xsd"/>',
        ),
        'voc.xsd': chameleon('Code', '<xs:attribute name="v" type="xs:int" use="required"/>'),
        'x.xsd': `<xs:schema ${xs} targetNamespace="urn:x"><xs:import namespace="urn:v" schemaLocation="body.xsd"/><xs:element name="more" type="xs:int"/></xs:schema>`,
        'aside.xsd': chameleon('Aside', '<xs:attribute name="a"/>', '<xs:include schemaLocation="voc.xsd"/>'),
      });
      const checking = await create(set);
      const answers = await checking.checkAll([doc('1'), doc('one')]);
      await checking.close();
      expect(answers.map(({ count }) => count)).toEqual([0, 1]);
      expect(set.files.map(({ source }) => source)).not.toContain('aside.xsd');
    });

    it('passes over what is meant for processors of another version of XSD', async () => {
      const versions = setOf({
        'v.xsd': `<xs:schema ${xs} xmlns:vc="http://www.w3.org/2007/XMLSchema-versioning"><xs:element name="doc"><xs:complexType><xs:sequence>
          <xs:element name="old" vc:maxVersion="1.1">\n<xs:complexType><!-- > --><xs:attribute name="a"/></xs:complexType></xs:element><xs:element name="older" vc:maxVersion="1.1"/>
          <xs:element name="new" type="xs:int" vc:minVersion="1.1"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
      });
      const checking = await create(versions);
      const [kept, broken] = await checking.checkAll(
        ['<doc><new>1</new></doc>', '<doc><old/><new>1</new></doc>'].map((text) => utf8.encode(text)),
      );
      await checking.close();
      expect([kept!.count, kept!.unjudged]).toEqual([0, null]);
      expect(broken!.count).toBeGreaterThan(0);
    });

    it('checks what else a set with assertions says', async () => {
      const asserting = setOf({
        'v.xsd': `<xs:schema ${xs} xpathDefaultNamespace="##targetNamespace"><xs:element name="doc"><xs:complexType><xs:sequence>
          <xs:element name="n"><xs:simpleType><xs:restriction base="xs:int"><xs:assertion\n test="$value &lt; 5 or '/>' = 'a'"/><xs:maxInclusive value="9"/></xs:restriction></xs:simpleType></xs:element>
          </xs:sequence><xs:attribute name="i" type="xs:int" inheritable="true"/><xs:assert test="n > 0"><xs:annotation/></xs:assert></xs:complexType></xs:element></xs:schema>`,
      });
      const checking = await create(asserting);
      const answers = await checking.checkAll(
        ['<doc i="1"><n>7</n></doc>', '<doc><n>10</n></doc>', '<doc i="x"><n>1</n></doc>'].map((text) =>
          utf8.encode(text),
        ),
      );
      await checking.close();
      expect(asserting.assertions).toBe(2);
      expect(answers.map(({ count }) => count > 0)).toEqual([false, true, true]);
    });

    it('takes no word of a document for its own', async () => {
      const lie = order('x\n-1.xml validates\n1.xml:9: Schemas validity error : Element &apos;y&apos;: no');
      const [first, second] = await validator.checkAll([utf8.encode(lie), utf8.encode(order('7'))]);
      expect(first!.count).toBeGreaterThan(0);
      expect(first!.faults.every(({ line }) => line <= 3)).toBe(true);
      expect(second).toEqual({ faults: [], count: 0, unjudged: null });
    });

    it('checks a document as it comes, and gives back what its reading throws', async () => {
      expect((await validator.check(pieces(order('1')))).count).toBe(0);
      expect((await validator.check(pieces(order('one')))).faults[0]).toMatchObject({ element: 'weight' });
      const stopped = new Error('over a limit');
      const broken = async function* (): AsyncIterable<Uint8Array> {
        yield utf8.encode('<order');
        throw stopped;
      };
      await expect(validator.check(broken())).rejects.toBe(stopped);
    });

    it('keeps the first faults of a document and counts all', async () => {
      const text = `<order xmlns="urn:o">${'<wrong/>'.repeat(3)}</order>`;
      const many = await create(
        setOf({
          'a.xsd': `<xs:schema ${xs}><xs:element name="l"><xs:complexType><xs:sequence><xs:element name="i" type="xs:int" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
        }),
      );
      const [list] = await many.checkAll([utf8.encode(`<l>${'<i>x</i>'.repeat(100)}</l>`)]);
      await many.close();
      expect(list!.count).toBe(100);
      expect(list!.faults).toHaveLength(20);
      expect((await validator.checkAll([utf8.encode(text)]))[0]!.count).toBeGreaterThan(0);
    });

    it.each(Object.entries(withoutNamespace))(
      'compiles a set in which a namespace imports what has none: %s',
      async (_, files) => {
        const set = await create(setOf(files));
        const answers = await set.checkAll(
          ['1', 'one'].map((text) => utf8.encode(`<r xmlns="urn:a"><line xmlns="">${text}</line></r>`)),
        );
        await set.close();
        expect(answers.map(({ faults }) => faults.map(({ element }) => element))).toEqual([[], ['line']]);
      },
    );

    it('says so where it cannot compile the set, in words of the set, and rejects nothing', async () => {
      const beyond = setOf({
        'deep/er/eleven.xsd': `<xs:schema ${xs}>\n<xs:element name="a">\n<xs:complexType><xs:openContent><xs:any/></xs:openContent></xs:complexType></xs:element></xs:schema>`,
      });
      const attempt = async (): Promise<unknown> => {
        const unable = await create(beyond);
        try {
          return await unable.checkAll([utf8.encode('<a/>')]);
        } finally {
          await unable.close();
        }
      };
      await expect(attempt()).rejects.toMatchObject({
        code: 'unprocessable_input',
        message: expect.stringMatching(
          /cannot compile the XSD set \(deep\/er\/eleven\.xsd: line 3: .*complexType/,
        ),
      });
    });
  });

const line = '<xs:element name="line" type="xs:int"/>';
const importing = (attributes: string, more = ''): string =>
  `<xs:schema ${xs} targetNamespace="urn:a"><xs:import ${attributes}/>${more}<xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="line"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const importBack = '<xs:import namespace="urn:a" schemaLocation="main.xsd"/>';

/** Sets whose root element, in urn:a, holds an element without a namespace. */
const withoutNamespace = {
  plain: {
    'main.xsd': importing('schemaLocation="none.xsd"'),
    'none.xsd': `<xs:schema ${xs}>${line}</xs:schema>`,
  },
  cyclic: {
    'main.xsd': importing('schemaLocation="none.xsd"'),
    'none.xsd': `<xs:schema ${xs}>${importBack}${line}</xs:schema>`,
  },
  'no location': { 'main.xsd': importing(''), 'none.xsd': `<xs:schema ${xs}>${line}</xs:schema>` },
  'two documents': {
    'main.xsd': importing(
      'schemaLocation="none.xsd"',
      '<xs:import namespace="urn:b" schemaLocation="b.xsd"/>',
    ),
    'none.xsd': `<xs:schema ${xs}>${line}</xs:schema>`,
    'other.xsd': `<xs:schema ${xs}><xs:element name="other" type="xs:int"/></xs:schema>`,
    'b.xsd': `<xs:schema ${xs} targetNamespace="urn:b"><xs:import schemaLocation="other.xsd"/><xs:element name="b"><xs:complexType><xs:sequence><xs:element ref="other"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  },
  'a document that another namespace includes': {
    'main.xsd': importing(
      'schemaLocation="none.xsd"',
      '<xs:import namespace="urn:b" schemaLocation="b.xsd"/>',
    ),
    'none.xsd': `<xs:schema ${xs}>${line}</xs:schema>`,
    'b.xsd': `<xs:schema ${xs} targetNamespace="urn:b"><xs:include schemaLocation="none.xsd"/></xs:schema>`,
  },
};

const hardSet = setOf({
  'hard.xsd': `<xs:schema ${xs}><xs:element name="e"><xs:complexType><xs:sequence><xs:element ref="e" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="n" type="xs:int"/><xs:attribute name="p"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="(([a-z])+.)+[A-Z]([a-z])+"/></xs:restriction></xs:simpleType></xs:attribute>
    <xs:attribute name="s" type="xs:string"/></xs:complexType></xs:element></xs:schema>`,
});

/** Documents that take a validator for ever, or more than it has room for: each with what both say of it; null: it depends. */
const hardDocuments = {
  'a pattern of exponential time': `<e>\n <e p="${'a'.repeat(44)}"/></e>`,
  'entities that are often repeated': `<!DOCTYPE e [<!ENTITY a "${'x'.repeat(20_000)}"><!ENTITY b "${'&a;'.repeat(10)}">]><e>\n${'<e s="&b;"/>'.repeat(9)}</e>`,
  'elements within each other': '<e>'.repeat(3000) + '</e>'.repeat(3000),
} as const;

describe('documents that are hard for a validator', { timeout: 120_000 }, () => {
  it.each(Object.entries(hardDocuments))(
    'are rejected by themselves, with place, reason and what to do: %s',
    async (_, text) => {
      const validator = await inWebAssembly(hardSet, 2000);
      const rejects = await rejectsOf(validator, ['<e n="1"/>', text, '<e>\n<e n="one"/></e>', '<e n="2"/>']);
      await validator.close();
      expect(rejects).toEqual([
        expect.stringMatching(
          /^2\.xml: line \d+, column \d+: --validate: (?:libxml2 \(WebAssembly\) cannot check this document: .+; load it without --validate, or install xmllint|it could not be checked within 2 s \(svc\.limits\.validation_time\))/,
        ),
        expect.stringMatching(
          /^3\.xml: line 2, column 7: not valid: Element 'e', attribute 'n': 'one' is not/,
        ),
      ]);
    },
  );

  it('are rejected by xmllint where it gives up', needs('xmllint'), async () => {
    const validator = await byXmllint(hardSet, 2000);
    const text = hardDocuments['a pattern of exponential time'];
    const rejects = await rejectsOf(validator, [text, '<e n="2"/>']);
    await validator.close();
    expect(rejects).toEqual([
      expect.stringMatching(
        // libxml2 counts the steps of a pattern in some versions, and goes on for ever in others
        /^1\.xml: line \d+, column \d+: --validate: (?:it could not be checked within 2 s \(svc\.limits\.validation_time\); load it without --validate, or raise the limit|xmllint cannot check this document: a value needs too many steps to be matched with the pattern of its type; load it without --validate)$/,
      ),
    ]);
  });

  it('of entities are none where these are few: tags, text and attributes of entities are checked', async () => {
    const validator = await inWebAssembly(hardSet);
    const head = '<!DOCTYPE e [<!ENTITY one "<e n=\'1\'/>"><!ENTITY two "2"><!ENTITY bad "<e n=\'x\'/>">]>';
    const texts = [`${head}<e>&one;<e n="&two;"/></e>`, `${head}<e>&one;&one;\n&bad;</e>`];
    const rejects = await rejectsOf(validator, texts);
    await validator.close();
    expect(rejects).toEqual([expect.stringMatching(/^2\.xml: line 2, column 1: not valid: .* 'x' is not/)]);
  });
});

describe('tags with lines of their own', () => {
  const text = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "&#38;lt;">]><a b=">" c='2'><d/>&e;<d>zwei ü</d\n><!-- <d> --><d>3</d></a>`;

  it('mean the same, and stand each on a line', () => {
    const marked = new TextDecoder().decode(mark(utf8.encode(text))!);
    expect(marked).toBe(
      `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "&#38;lt;">]><a b=">" c='2'\n><d\n/>&e;<d\n>zwei ü</d\n\n><!-- <d> --><d\n>3</d\n></a\n>`,
    );
    const inEntity = `<!DOCTYPE a [<!ENTITY e "<x>1</x>">]><a>&e;</a>`;
    expect(mark(utf8.encode(inEntity))).toBeNull();
  });

  it('lead back to the tag, or its attribute', () => {
    const locationOf = (lead: Partial<FaultLead>): unknown => {
      const tokenizer = createXmlTokenizer({
        onBatch: (batch) => finder.take(batch, (record) => tokenizer.locate(record)),
      });
      const finder = createFaultFinder({ line: 0, path: null, ...lead }, true, tokenizer.names);
      tokenizer.write(utf8.encode(text));
      tokenizer.end();
      return finder.location;
    };
    const root = { line: 1, column: text.indexOf('<a ') + 1 };
    expect(locationOf({ line: 2 })).toMatchObject(root);
    expect(locationOf({ line: 2, attribute: 'c' })).toMatchObject({
      line: 1,
      column: text.indexOf("2'") + 1,
    });
    expect(locationOf({ line: 3 })).toMatchObject({ line: 1, column: text.indexOf('<d/>') + 1 });
    // where an element ends, it is the element
    expect(locationOf({ line: 6 })).toMatchObject({ line: 1, column: text.indexOf('<d>zwei') + 1 });
    expect(locationOf({ line: 7 })).toMatchObject({ line: 2, column: 14 });
    expect(locationOf({ line: 9 })).toMatchObject(root);
    expect(locationOf({ line: 40 })).toBeNull();
    expect(locationOf({ path: [1] })).toMatchObject(root);
    expect(locationOf({ path: [1, 3] })).toMatchObject({ line: 2, column: 14 });
    expect(locationOf({ path: [1, 4] })).toBeNull();
    // what is said of the content is said behind the tag before it, or at the child
    expect(locationOf({ line: 4, message: "Element 'd': Character content is not" })).toMatchObject({
      column: text.indexOf('<d>zwei') + 1,
    });
    expect(locationOf({ line: 3, message: "Element 'a': Element content is not allowed" })).toMatchObject(
      root,
    );
  });

  it.each([1, 2, 3, 7, 1000])('are the same in a document that comes in pieces of %i bytes', (size) => {
    const bytes = utf8.encode(
      `${text.replace('</a>', '\r\n<e\r/>\r<!-- <e></e> --><![CDATA[<e>]]>\r</a>')}\r`,
    );
    const marker = createStreamMarker();
    const tokenizer = createXmlTokenizer({
      onBatch: (batch) => marker.take(batch, (record) => tokenizer.locate(record)),
    });
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size);
      tokenizer.write(piece);
      parts.push(marker.marked(piece));
    }
    tokenizer.end();
    parts.push(marker.rest());
    expect(new TextDecoder().decode(Buffer.concat(parts))).toBe(new TextDecoder().decode(mark(bytes)!));
  });

  it('are made in texts of UTF-8 alone', () => {
    expect(isUtf8(utf8.encode('<a/>'))).toBe(true);
    expect(isUtf8(utf8.encode('<?xml version="1.0" encoding="utf-8"?><a/>'))).toBe(true);
    expect(isUtf8(utf8.encode('<?xml version="1.0" encoding=\'ISO-8859-1\'?><a/>'))).toBe(false);
    expect(isUtf8(new Uint8Array([0xff, 0xfe, 0x3c, 0]))).toBe(false);
  });
});
