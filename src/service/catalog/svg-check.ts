/** Decides which drawings may be stored: those that show a picture, and contain nothing that runs, loads or links elsewhere. */
import { InputError } from '../../engine/diagnostics.ts';
import { atOnce, type Steps } from '../../engine/in-slices.ts';
import { defaultEngineLimits } from '../../engine/limits.ts';
import { xmlTreeSteps, type XmlElement } from '../../engine/xml/tree.ts';
import { AppError } from '../../errors.ts';
import { XML_NAMESPACE } from '../../engine/xml/names/namespace-contexts.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Elements of SVG 2 that draw, group or describe. Scripts, links, images, foreign content, animations and styles are not among them. */
const allowed: ReadonlySet<string> = new Set([
  'svg',
  'g',
  'defs',
  'symbol',
  'use',
  'title',
  'desc',
  'rect',
  'circle',
  'ellipse',
  'line',
  'polyline',
  'polygon',
  'path',
  'text',
  'tspan',
  'textPath',
  'marker',
  'pattern',
  'mask',
  'clipPath',
  'linearGradient',
  'radialGradient',
  'stop',
  'filter',
  'feBlend',
  'feColorMatrix',
  'feComponentTransfer',
  'feComposite',
  'feDropShadow',
  'feFlood',
  'feFuncA',
  'feFuncB',
  'feFuncG',
  'feFuncR',
  'feGaussianBlur',
  'feMerge',
  'feMergeNode',
  'feMorphology',
  'feOffset',
  'switch',
  'view',
  'metadata',
]);

const textOnly: ReadonlySet<string> = new Set(['title', 'desc', 'metadata']);

const limits = { ...defaultEngineLimits, xmlMaxDepth: 200, xmlMaxEntityExpansionBytes: 0 };

/** Returns the drawing, rewritten (`writeSvg`). AppError `invalid_body` names the place of forbidden content. */
export function checkSvg(svg: string): string {
  return atOnce(svgCheck(svg));
}

/** `checkSvg`, step by step. */
export function* svgCheck(svg: string): Steps<string> {
  // An entity could hide anything from the eye that reads this; a picture needs none.
  if (/<!DOCTYPE/i.test(svg)) throw refused('a document type declaration is not allowed');
  if (/<\?(?!xml\s)/.test(svg)) throw refused('a processing instruction is not allowed');
  let root: XmlElement;
  try {
    root = yield* xmlTreeSteps(new TextEncoder().encode(svg), { limits, encoding: 'UTF-8' });
  } catch (error) {
    if (error instanceof InputError) throw refused(error.message);
    throw error;
  }
  if (root.name.namespaceUri !== svgNamespace || root.name.localName !== 'svg')
    throw refused('it must be an <svg> in the namespace of SVG', root);
  const rest = [root];
  for (let element = rest.pop(); element !== undefined; element = rest.pop()) {
    yield* checkElement(element);
    for (const child of element.children.toReversed()) if (typeof child !== 'string') rest.push(child);
  }
  const fault = yield* drawingCost(root);
  if (fault !== null) throw refused(fault.reason, fault.element);
  return yield* writeSvg(root);
}

function* checkElement(element: XmlElement): Steps<void> {
  const { localName, namespaceUri } = element.name;
  if (namespaceUri !== svgNamespace || !allowed.has(localName))
    throw refused(`<${localName}> is not allowed`, element);
  // in HTML, elements inside these would be parsed
  if (textOnly.has(localName) && element.children.some((child) => typeof child !== 'string'))
    throw refused(`<${localName}> may contain only text`, element);
  for (const { name, value } of element.attributes) {
    if (/^on/i.test(name.localName))
      throw refused(`the event handler ${name.localName} is not allowed`, element);
    if (name.localName === 'base' && name.namespaceUri !== '')
      throw refused('xml:base is not allowed', element);
    const leads = ['href', 'src', 'from', 'to', 'values', 'by'].includes(name.localName.toLowerCase());
    // only these are blanks to who reads the address; with another in front it would be a path
    if (leads && !/^[ \t\r\n]*#[^\s]*[ \t\r\n]*$/.test(value))
      throw refused(`${name.localName} may refer only to a part of the drawing`, element);
    yield* checkReferences(name.localName, value, element);
  }
  yield;
}

/** Presentation attributes and `style` may refer by `url(#id)`; escapes of CSS could hide another. */
function* checkReferences(name: string, value: string, element: XmlElement): Steps<void> {
  if (/\\|@import|expression\s*\(|javascript:|image-set|image\s*\(|src\s*\(/i.test(value) && name !== 'd')
    throw refused(`the value of ${name} is not allowed`, element);
  for (const [, target = ''] of value.matchAll(/url\s*\(([^)]*)\)?/gi)) {
    if (!/^[ \t\r\n]*(['"]?)#[\w.:-]+\1[ \t\r\n]*$/.test(target))
      throw refused(`${name} may refer only to a part of the drawing`, element);
    yield;
  }
}

function refused(reason: string, element?: XmlElement): AppError {
  const detail = element === undefined ? reason : `line ${element.line}, column ${element.column}: ${reason}`;
  return new AppError('invalid_body', `svg: ${detail}`, { errors: [{ pointer: '/svg', detail }] });
}

// Estimates what a drawing costs the program that displays it: elements that references multiply, and filters, which process every
// pixel.

interface CostFault {
  readonly reason: string;
  readonly element: XmlElement;
}

/** elements, those that `use`, `pattern` and their like repeat counted each time */
const maxElements = 250_000;
/** steps of filters, and elements that are filtered */
const maxFilters = 32;
/** radius of a blur, in units of the drawing */
const widestFilter = 25;

/** Why the drawing is too much; null: it is not. */
function* drawingCost(root: XmlElement): Steps<CostFault | null> {
  const all: XmlElement[] = [];
  const byId = new Map<string, XmlElement>();
  const rest = [root];
  for (let element = rest.pop(); element !== undefined; element = rest.pop()) {
    yield;
    all.push(element);
    const id = element.attributes.find(({ name }) => name.localName === 'id')?.value;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    for (const child of element.children) if (typeof child !== 'string') rest.push(child);
  }
  return (yield* filterFault(all)) ?? (yield* expansionFault(root, byId));
}

function* filterFault(all: readonly XmlElement[]): Steps<CostFault | null> {
  let filters = 0;
  for (const element of all) {
    yield;
    const isStep = /^fe[A-Z]/.test(element.name.localName);
    const isFiltered = element.attributes.some(
      ({ name, value }) =>
        name.localName === 'filter' || (name.localName === 'style' && /filter/i.test(value)),
    );
    if (isStep || isFiltered) filters += 1;
    if (filters > maxFilters)
      return { reason: `more than ${maxFilters} filters and filtered elements are not allowed`, element };
    const wide = element.attributes.find(
      ({ name, value }) =>
        ['stdDeviation', 'radius'].includes(name.localName) &&
        value.split(/[\s,]+/).some((number) => number !== '' && !(Number(number) <= widestFilter)),
    );
    if (isStep && wide !== undefined)
      return { reason: `${wide.name.localName} may be ${widestFilter} at most`, element };
    const inStyle = element.attributes.some(
      ({ name, value }) =>
        ['style', 'filter'].includes(name.localName) && /(?:blur|drop-shadow)\s*\(/i.test(value),
    );
    if (inStyle) return { reason: 'a filter is an element of its own, which its attribute names', element };
  }
  return null;
}

/** Counts from the leaves up, each element once, so that the count takes as long as the drawing is large. */
function* expansionFault(root: XmlElement, byId: ReadonlyMap<string, XmlElement>): Steps<CostFault | null> {
  const costs = new Map<XmlElement, number>();
  const open = new Set<XmlElement>();
  const stack: { readonly element: XmlElement; readonly parts: XmlElement[]; cost: number }[] = [];
  const enter = (element: XmlElement): void => {
    open.add(element);
    const children = element.children.filter((child) => typeof child !== 'string');
    stack.push({ element, parts: [...children, ...referencesOf(element, byId)], cost: 1 });
  };
  enter(root);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    yield;
    const next = top.parts.pop();
    if (next !== undefined) {
      if (open.has(next)) return { reason: 'a part of the drawing refers to itself', element: top.element };
      const known = costs.get(next);
      if (known === undefined) enter(next);
      else top.cost += known;
    } else {
      if (top.cost > maxElements)
        return {
          reason: `its references expand to more than ${maxElements} elements`,
          element: top.element,
        };
      costs.set(top.element, top.cost);
      open.delete(top.element);
      stack.pop();
      const above = stack.at(-1);
      if (above !== undefined) above.cost += top.cost;
    }
  }
  return null;
}

function referencesOf(element: XmlElement, byId: ReadonlyMap<string, XmlElement>): XmlElement[] {
  return element.attributes.flatMap(({ name, value }) => {
    const ids =
      name.localName === 'href'
        ? [/^\s*#(.*?)\s*$/s.exec(value)?.[1]]
        : [...value.matchAll(/url\s*\(\s*['"]?#([\w.:-]+)/gi)].map(([, id]) => id);
    return ids.flatMap((id) => byId.get(id ?? '') ?? []);
  });
}

// A drawing as text that XML and HTML read alike: elements, attributes and text, without declaration, comments, CDATA sections, entities of
// its own, or attributes of other namespaces than those of SVG documents.

const xlinkNamespace = 'http://www.w3.org/1999/xlink';

/** `root`: an `<svg>`, all of whose elements are of SVG. */
function* writeSvg(root: XmlElement): Steps<string> {
  const pieces: string[] = [];
  /** an element that begins, or text that ends one */
  const rest: (XmlElement | string)[] = [root];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') {
      pieces.push(next);
      continue;
    }
    yield;
    const { localName } = next.name;
    pieces.push(`<${localName}${next === root ? namespaces : ''}${attributesOf(next)}`);
    if (next.children.length === 0) {
      pieces.push('/>');
      continue;
    }
    pieces.push('>');
    rest.push(`</${localName}>`);
    for (const child of next.children.toReversed())
      rest.push(typeof child === 'string' ? escapeText(child) : child);
  }
  return pieces.join('');
}

const namespaces = ` xmlns="${svgNamespace}"`;

function attributesOf({ attributes }: XmlElement): string {
  const names = new Set(attributes.flatMap(({ name }) => (name.namespaceUri === '' ? [name.localName] : [])));
  return attributes
    .flatMap(({ name: { localName, namespaceUri }, value }) => {
      if (namespaceUri === '') return [` ${localName}="${escapeText(value)}"`];
      // since SVG 2, without a namespace
      if (namespaceUri === xlinkNamespace)
        return localName === 'href' && !names.has('href') ? [` href="${escapeText(value)}"`] : [];
      if (namespaceUri === XML_NAMESPACE && (localName === 'lang' || localName === 'space'))
        return [` xml:${localName}="${escapeText(value)}"`];
      return [];
    })
    .join('');
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('`', '&#96;')
    .replaceAll(/[\t\n\r]/g, (blank) => (blank === '\n' ? '\n' : `&#${blank.charCodeAt(0)};`));
}
