/** A document as the generators think of it: what it says, not how it is written. */
import type { QName } from '../../../src/engine/model/source-model.ts';

export interface AttributeNode {
  readonly name: QName;
  value: string;
}

export interface ElementNode {
  readonly name: QName;
  attributes: AttributeNode[];
  children: (ElementNode | string)[];
  /** only elements stand in it: white space may come between them */
  readonly isElementOnly: boolean;
}

export function elementsOf(node: ElementNode): ElementNode[] {
  return [node, ...node.children.flatMap((child) => (typeof child === 'string' ? [] : elementsOf(child)))];
}
