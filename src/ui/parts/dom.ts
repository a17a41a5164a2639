/** Creates elements without markup: names from documents, files and people remain text. */

export type Content = Node | string | number | null | undefined | false | readonly Content[];

type Handler = (event: never) => void;
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | Handler>>;

/** An element; `onclick` and its like are listeners, `true` is an attribute without a value, `false` and null are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...content: Content[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, content);
  return element;
}

/** The same for drawings. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...content: Content[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  append(element, content);
  return element;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
}

function append(element: Element, content: readonly Content[]): void {
  for (const one of content) {
    if (Array.isArray(one)) append(element, one as readonly Content[]);
    else if (one instanceof Node) element.append(one);
    else if (typeof one === 'string' || typeof one === 'number') element.append(String(one));
  }
}

/** Replaces the content of an element. */
export function fill(element: Element, ...content: Content[]): void {
  element.replaceChildren();
  append(element, content);
}

let counter = 0;

/** An id that no other element of the page has. */
export function freshId(word: string): string {
  counter += 1;
  return `${word}-${counter}`;
}
