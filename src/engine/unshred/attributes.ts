/** Values of a row as they stand in a document: attributes, text, names with their prefixes. */
import { xsiNamespace } from '../model/name-labels.ts';
import type { RowValues } from './document-rows.ts';
import { escapeAttribute } from './escape.ts';
import type { KeptElements, KeptElement } from './kept-content.ts';
import type { OwnDeclarations } from './output-namespaces.ts';
import type { WritingNode, WritingPlan } from './writing-plan.ts';

/** A row, with what is kept beside it. */
export interface ElementRow {
  readonly values: RowValues;
  readonly key: string;
  /** values as written, by column name */
  readonly lexical: ReadonlyMap<string, string> | null;
  readonly kept: KeptElements | null;
}

/** The attributes of an element that its row tells of, with a blank before each. */
export function attributesOf(
  plan: WritingPlan,
  node: WritingNode,
  row: ElementRow,
  own: OwnDeclarations,
): string {
  let result = '';
  const nil = row.values[node.plan.nilColumn] ?? null;
  if (nil !== null) result += attribute(plan.nilAttribute, nil);
  for (const { tag, column, isType } of node.attributes) {
    const value = valueOf(plan, node, row, column, own);
    if (value === null) continue;
    result += attribute(tag, isType ? typeNameOf(plan, value, own) : value);
  }
  const others = row.values[node.plan.anyAttributeColumn] ?? null;
  if (others === null) return result;
  for (const line of others.split('\n')) {
    const [, uri, localName, value] = /^(?:\{(.*?)\})?([^=]+)="(.*)"$/s.exec(line)!;
    const name = plan.namespaces.nameWith({ namespaceUri: uri ?? '', localName: localName! }, own);
    // the value is escaped as markup already
    result += ` ${name}="${value!.replaceAll('<', '&lt;').replaceAll('\t', '&#9;')}"`;
  }
  return result;
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

/** A QName from its label; one whose prefix means nothing stays as it is. */
export function typeNameOf(plan: WritingPlan, label: string, own: OwnDeclarations): string {
  const name = plan.labels.typeOf(label);
  return name === null ? label : plan.namespaces.nameWith(name, own);
}

/** The value of a column as it was written; null: absent. */
export function valueOf(
  plan: WritingPlan,
  node: WritingNode,
  row: ElementRow,
  column: number,
  own: OwnDeclarations,
): string | null {
  const value = row.values[column] ?? null;
  if (row.lexical === null) return value;
  const { name, sourceType } = plan.columns(node.plan.table)[column]!.column;
  const written = row.lexical.get(name);
  if (written === undefined || (sourceType !== 'QName' && sourceType !== 'NOTATION')) return written ?? value;
  const names = written.split(' ').map((item) => (item.startsWith('{') ? typeNameOf(plan, item, own) : item));
  return names.join(' ');
}

export function attribute(name: string, value: string): string {
  return ` ${name}="${escapeAttribute(value)}"`;
}
