/** Which documents are those of files. */
import { describe, expect, it } from 'vitest';
import { documentsOf, nameTest } from '../../../../src/service/watches/define.ts';

describe('documents of files', () => {
  const isOf = documentsOf(['in/a.xml', 'b.xml.gz', 'c.zip']);

  it.each([
    'in/a.xml',
    'in/a.xml#12',
    'in/a.xml#2#5',
    'b.xml',
    'b.xml#1',
    'c.zip/1.xml',
    'c.zip/in/2.xml',
    'c.zip/1.xml#3',
  ])('%s is one', (document) => expect(isOf(document)).toBe(true));

  it.each(['a.xml', 'in', 'in/a.xml.gz', 'in/a.xml2', 'b.xml.zip', 'c.zip2/1.xml', 'd/c.zip/1.xml', ''])(
    '%s is none',
    (document) => expect(isOf(document)).toBe(false),
  );
});

describe('a watch without a pattern', () => {
  const takes = nameTest(null);

  it.each(['a.xml', 'in/c.gml', 'noext', 'f.xbrl.gz', 'a.zip', 'page.xhtml'])('takes %s', (name) =>
    expect(takes(name)).toBe(true),
  );

  it.each([
    '.a.xml',
    'in/.git/x',
    'a.xml.part',
    'a.xml~',
    'a.xml.md5',
    's.xsd',
    's.xsd.gz',
    'd.dtd',
    'notes.txt',
  ])('leaves out %s', (name) => expect(takes(name)).toBe(false));
});
