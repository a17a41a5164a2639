/** The lexical forms of the attribute values of XSD elements. */
import { ncName, qualifiedName } from '../values/lexical-form.ts';
import type { ValueForm } from './grammar.ts';
import { collapse } from './white-space.ts';

const controlSets: Readonly<Partial<Record<ValueForm, readonly string[]>>> = {
  elementBlock: ['extension', 'restriction', 'substitution'],
  derivations: ['extension', 'restriction'],
  simpleFinal: ['list', 'union', 'restriction', 'extension'],
  schemaFinal: ['extension', 'restriction', 'list', 'union'],
};

const words: Readonly<Partial<Record<ValueForm, readonly string[]>>> = {
  boolean: ['true', 'false', '1', '0'],
  form: ['qualified', 'unqualified'],
  use: ['optional', 'required', 'prohibited'],
  processContents: ['strict', 'lax', 'skip'],
};

/** True when an attribute of an XSD element has a value of the form (XSD Part 1, Appendix A). */
export function hasForm(form: ValueForm, value: string): boolean {
  if (form === 'any') return true;
  const text = collapse(value);
  const allowed = words[form];
  if (allowed !== undefined) return allowed.includes(text);
  const controls = controlSets[form];
  if (controls !== undefined) {
    return text === '' || text === '#all' || text.split(' ').every((word) => controls.includes(word));
  }
  switch (form) {
    case 'ncName':
      return ncName.test(text);
    case 'qName':
      return qualifiedName.test(text);
    case 'qNames':
      return text === '' || text.split(' ').every((word) => qualifiedName.test(word));
    case 'count':
      return /^\+?\d+$/u.test(text);
    case 'countOrUnbounded':
      return text === 'unbounded' || /^\+?\d+$/u.test(text);
    case 'targetNamespace':
      return text !== '';
    case 'namespaces':
      if (text === '##any' || text === '##other' || text === '') return true;
      return text
        .split(' ')
        .every((word) => !word.startsWith('##') || word === '##targetNamespace' || word === '##local');
    default:
      return true;
  }
}
