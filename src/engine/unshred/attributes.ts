/** Writes the values of a row in the forms of a document: attributes, text, names with their prefixes. */
import { xsiNamespace } from '../model/name-labels.ts';
import { holdsNames } from '../model/source-model.ts';
import { escapeAttribute } from './escape.ts';
import type { KeptElement } from './kept-content.ts';
import type { OwnDeclarations } from './output-namespaces.ts';
import { cellText, isNull, utf8Of, type RowBytes } from './rows/values.ts';
import type { TakenRow } from './rows/reader.ts';
import type { WritingNode, WritingPlan } from './writing-plan.ts';
import type { XmlOutput } from './xml-output.ts';

/** Writes the attributes that an element's row has into the open start tag. */
export function writeAttributes(
  out: XmlOutput,
  plan: WritingPlan,
  node: WritingNode,
  row: TakenRow,
  own: OwnDeclarations,
): void {
  const { nilColumn, anyAttributeColumn } = node.plan;
  if (nilColumn >= 0) writeAttribute(out, plan.nilAttribute, row, nilColumn);
  for (const { tag, column, isType } of node.attributes) {
    if (!isType && !isKept(plan, node, row, column)) {
      writeAttribute(out, tag, row, column);
      continue;
    }
    const value = valueOf(plan, node, row, column, own);
    if (value === null) continue;
    const bytes = utf8Of(isType ? typeNameOf(plan, value, own) : value);
    out.attribute(tag, bytes, 0, bytes.length);
  }
  if (anyAttributeColumn < 0 || isNull(row, anyAttributeColumn)) return;
  for (const line of cellText(row, anyAttributeColumn)!.split('\n')) {
    const [, uri, localName, value] = /^(?:\{(.*?)\})?([^=]+)="(.*)"$/s.exec(line)!;
    const name = plan.namespaces.nameWith({ namespaceUri: uri ?? '', localName: localName! }, own);
    // the value is escaped as markup already
    out.attributes(` ${name}="${value!.replaceAll('<', '&lt;').replaceAll('\t', '&#9;')}"`);
  }
}

/** Writes the content of a cell, as text or as separate XML text. */
export function writeCell(
  out: XmlOutput,
  { bytes, cells, at }: RowBytes,
  column: number,
  kind: 'text' | 'wildcard',
): void {
  const from = cells[at + column * 2]!;
  const to = cells[at + column * 2 + 1]!;
  if (kind === 'text') {
    if (from >= 0) out.value(bytes, from, to);
  } else out.markupBytes(bytes, Math.max(from, 0), from < 0 ? 0 : to);
}

function writeAttribute(
  out: XmlOutput,
  name: Uint8Array,
  { bytes, cells, at }: RowBytes,
  column: number,
): void {
  const from = cells[at + column * 2]!;
  if (from >= 0) out.attribute(name, bytes, from, cells[at + column * 2 + 1]!);
}

export function keptAttributesOf(plan: WritingPlan, kept: KeptElement, own: OwnDeclarations): string {
  const { labels, namespaces } = plan;
  let result = '';
  for (const [label, content] of kept.attributes) {
    const name = labels.attributeOf(label) ?? { namespaceUri: '', localName: label };
    const isType = name.namespaceUri === xsiNamespace && name.localName === 'type';
    const value = isType && content.startsWith('{') ? typeNameOf(plan, content, own) : content;
    result += attribute(namespaces.nameWith(name, own), value);
  }
  return result;
}

/** Returns a QName for its label. A name whose prefix is not declared stays unchanged. */
export function typeNameOf(plan: WritingPlan, label: string, own: OwnDeclarations): string {
  const name = plan.labels.typeOf(label);
  return name === null ? label : plan.namespaces.nameWith(name, own);
}

/** True if the value of a column is kept beside the row, as it was written. */
export function isKept(plan: WritingPlan, node: WritingNode, { lexical }: TakenRow, column: number): boolean {
  return lexical !== null && lexical.has(plan.columns(node.plan.table)[column]!.column.name);
}

/** The value of a column as it was written; null: absent. */
export function valueOf(
  plan: WritingPlan,
  node: WritingNode,
  row: TakenRow,
  column: number,
  own: OwnDeclarations,
): string | null {
  if (row.lexical === null) return cellText(row, column);
  const { name, sourceType } = plan.columns(node.plan.table)[column]!.column;
  const written = row.lexical.get(name);
  if (written === undefined) return cellText(row, column);
  if (!holdsNames(sourceType)) return written;
  const names = written.split(' ').map((item) => (item.startsWith('{') ? typeNameOf(plan, item, own) : item));
  return names.join(' ');
}

export function attribute(name: string, value: string): string {
  return ` ${name}="${escapeAttribute(value)}"`;
}
