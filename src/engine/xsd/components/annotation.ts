/** Documentation of components. */
import { XML_NAMESPACE } from '../../xml/names/namespace-contexts.ts';
import type { XmlElement } from '../../xml/tree.ts';
import { attributeOf, isXsd } from '../read/file.ts';
import { collapse } from '../read/grammar.ts';

/** Longer texts are truncated, because they are in comments of tables and columns, and a type's text is at all of its uses. */
const maxDocumentationLength = 4_000;

/** One documentation element. */
interface Remark {
  /** primary subtag of xml:lang in lower case; '' if there is none */
  readonly language: string;
  /** kind of the text, if a standard distinguishes names from definitions */
  readonly part: 'name' | 'definition' | 'text';
  readonly text: string;
}

/**
 * Returns the text of a component's own documentation elements, with white space collapsed, or undefined if there are none. Only one
 * language is read: English and texts without a language, otherwise the first. Annotations with a structure of their own (those of
 * UN/CEFACT CCTS 3, ISO 20022's `source`) give "business name: definition".
 */
export function readDocumentation(node: XmlElement): string | undefined {
  const first = annotationOf(node);
  if (first === null) return undefined;
  const remarks: Remark[] = [];
  let length = 0;
  for (const child of first.children) {
    if (!isXsd(child) || child.name.localName !== 'documentation') continue;
    const read = readRemarks(child);
    remarks.push(...read);
    for (const { text } of read) length += text.length;
    if (length > 4 * maxDocumentationLength) break;
  }
  const text = textOfRemarks(inOneLanguage(remarks));
  if (text === '') return undefined;
  return text.length <= maxDocumentationLength ? text : `${cut(text).trimEnd()}…`;
}

/**
 * Returns the name of an enumeration value, if the annotation gives it separately from the meaning: in a documentation element of the
 * source `Name` (ISO 20022), or in an element for it (UN/CEFACT CCTS, UBL, application information).
 */
export function readLabel(node: XmlElement): string | undefined {
  const annotation = annotationOf(node);
  if (annotation === null) return undefined;
  const found: Remark[] = [];
  for (const child of annotation.children) {
    if (!isXsd(child)) continue;
    const isInformation = child.name.localName === 'appinfo';
    if (!isInformation && child.name.localName !== 'documentation') continue;
    const source = collapse(attributeOf(child, 'source') ?? '').toLowerCase();
    const text =
      findText(child, isInformation ? [...nameElements, ...shortNameElements] : nameElements) ||
      (source === 'name' ? collapse(textOf(child)) : '');
    if (text !== '') found.push({ language: languageOf(child), part: 'name', text });
  }
  const [label] = inOneLanguage(found);
  return label === undefined || label.text.length > maxLabelLength ? undefined : label.text;
}

const nameElements = ['CodeName', 'Name', 'DictionaryEntryName'];
const shortNameElements = ['ShortName', 'DisplayName', 'Label', 'shortName', 'displayName', 'label'];
const maxLabelLength = 250;

function annotationOf(node: XmlElement): XmlElement | null {
  const first = node.children.find((child) => typeof child !== 'string');
  return first === undefined || !isXsd(first) || first.name.localName !== 'annotation' ? null : first;
}

function readRemarks(node: XmlElement): Remark[] {
  const language = languageOf(node);
  const definition = findText(node, ['Definition', 'Description']);
  if (definition !== '') {
    const name = findText(node, ['DictionaryEntryName', 'Name', 'PropertyTerm']);
    return [
      ...(name === '' ? [] : [{ language, part: 'name' as const, text: name }]),
      { language, part: 'definition', text: definition },
    ];
  }
  const source = collapse(attributeOf(node, 'source') ?? '').toLowerCase();
  const text = collapse(textOf(node));
  if (text === '') return [];
  return [{ language, part: source === 'name' || source === 'definition' ? source : 'text', text }];
}

function languageOf({ attributes }: XmlElement): string {
  const found = attributes.find(
    ({ name }) => name.localName === 'lang' && name.namespaceUri === XML_NAMESPACE,
  );
  return found?.value.trim().toLowerCase().split('-')[0] ?? '';
}

/** Text of the first element below of one of the names, the first name first; '' without one. */
function findText(node: XmlElement, localNames: readonly string[]): string {
  for (const wanted of localNames) {
    const found = firstBelow(node, wanted, 3);
    if (found !== null) return collapse(textOf(found));
  }
  return '';
}

function firstBelow(node: XmlElement, localName: string, depth: number): XmlElement | null {
  for (const child of node.children) {
    if (typeof child === 'string') continue;
    if (child.name.localName === localName) return child;
    const found = depth > 1 ? firstBelow(child, localName, depth - 1) : null;
    if (found !== null) return found;
  }
  return null;
}

function inOneLanguage(remarks: readonly Remark[]): readonly Remark[] {
  const languages = new Set(remarks.map(({ language }) => language));
  if (languages.size < 2) return remarks;
  const isEnglish = languages.has('en') || languages.has('');
  const [first] = languages;
  return remarks.filter(({ language }) =>
    isEnglish ? language === 'en' || language === '' : language === first,
  );
}

function textOfRemarks(remarks: readonly Remark[]): string {
  const of = (part: Remark['part']): string =>
    remarks
      .filter((remark) => remark.part === part)
      .map(({ text }) => text)
      .reduce((before, text) => (before === '' ? text : joined(before, text)), '');
  const [name, definition, text] = [of('name'), of('definition'), of('text')];
  const named = name === '' || definition === '' ? name || definition : `${name}: ${definition}`;
  return named === '' || text === '' ? named || text : joined(named, text);
}

/** Joins two texts so that the start of the second is visible. */
function joined(before: string, text: string): string {
  return `${before}${/[\p{P}]$/u.test(before) ? '' : ';'} ${text}`;
}

/** The first characters, no surrogate pair torn apart. */
function cut(text: string): string {
  const end = maxDocumentationLength - 1;
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
}

function textOf(node: XmlElement): string {
  let text = '';
  for (const child of node.children) text += typeof child === 'string' ? child : ` ${textOf(child)} `;
  return text;
}
