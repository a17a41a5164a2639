/** Faults of the user's input: diagnostics that are collected, and the error that ends the reading of a document or an XSD set. */
import type { QName } from './model/source-model.ts';

/** A fault, oddity or notable fact in the user's input. Diagnostics are collected and reported, never thrown as such. */
export interface Diagnostic {
  /** snake_case fact, such as `xsd_missing_component` */
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  /** name of the file or document, as the user knows it */
  readonly file?: string;
  /** from 1 */
  readonly line?: number;
  /** from 1, in characters */
  readonly column?: number;
  /** XPath or component name */
  readonly path?: string;
  /** name of the element that it is about */
  readonly name?: QName;
}

/** Stops the reading of one document or XSD set: not well-formed, over a limit, or unusable. */
export class InputError extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    const shown = { ...diagnostic, message: withVisibleCharacters(diagnostic.message) };
    super(formatDiagnostic(shown));
    this.name = 'InputError';
    this.diagnostic = shown;
  }
}

/** Control and formatting characters, unassigned code points, blanks other than a space, and invisible fillers. */
const invisible = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Writes each character that a reader cannot see as its number, such as U+FEFF. */
export function withVisibleCharacters(text: string): string {
  // true for most messages; errors may be thrown with little of the stack left, which the long expression needs
  if (/^[ -~\n]*$/.test(text)) return text;
  return text.replaceAll(invisible, (character) => codePointLabel(character.codePointAt(0)!));
}

/** Returns the number of a character as Unicode writes it, such as U+000A. */
export function codePointLabel(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns `file: line L, column C: message (path)` without the unknown parts. */
export function formatDiagnostic(d: Diagnostic): string {
  const location = d.line === undefined ? '' : `line ${d.line}, column ${d.column ?? 1}: `;
  const file = d.file === undefined ? '' : `${d.file}: `;
  const path = d.path === undefined ? '' : ` (${d.path})`;
  return `${file}${location}${d.message}${path}`;
}
