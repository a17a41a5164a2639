/** Decides which drawings may be stored: those that show a picture, and contain nothing that runs, loads or links elsewhere. */
import { InputError } from '../../engine/diagnostics.ts';
import { atOnce, type Steps } from '../../engine/in-slices.ts';
import { defaultEngineLimits } from '../../engine/limits.ts';
import { xmlTreeSteps } from '../../engine/xml/tree.ts';
import type { XmlElement } from '../../engine/xml/tree.ts';
import { AppError } from '../../errors.ts';
import { drawingCost } from './svg-cost.ts';
import { writeSvg } from './svg-text.ts';

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
    throw refused(`<${localName}> has text alone`, element);
  for (const { name, value } of element.attributes) {
    if (/^on/i.test(name.localName))
      throw refused(`the event handler ${name.localName} is not allowed`, element);
    if (name.localName === 'base' && name.namespaceUri !== '')
      throw refused('xml:base is not allowed', element);
    const leads = ['href', 'src', 'from', 'to', 'values', 'by'].includes(name.localName.toLowerCase());
    // only these are blanks to who reads the address; with another in front it would be a path
    if (leads && !/^[ \t\r\n]*#[^\s]*[ \t\r\n]*$/.test(value))
      throw refused(`${name.localName} may lead to a part of the drawing alone`, element);
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
      throw refused(`${name} may refer to a part of the drawing alone`, element);
    yield;
  }
}

function refused(reason: string, element?: XmlElement): AppError {
  const detail = element === undefined ? reason : `line ${element.line}, column ${element.column}: ${reason}`;
  return new AppError('invalid_body', `svg: ${detail}`, { errors: [{ pointer: '/svg', detail }] });
}
