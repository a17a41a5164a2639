/** Faults of the user's input: diagnostics that are collected, and the error that ends the reading of a document or an XSD set. */
import type { QName } from './model/source-model.ts';

/** What is wrong, odd or noteworthy in the user's input. Collected and reported, never thrown as such. */
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
    super(formatDiagnostic(diagnostic));
    this.name = 'InputError';
    this.diagnostic = diagnostic;
  }
}

/** `file: line L, column C: message (path)`, leaving out what is not known. */
export function formatDiagnostic(d: Diagnostic): string {
  const location = d.line === undefined ? '' : `line ${d.line}, column ${d.column ?? 1}: `;
  const file = d.file === undefined ? '' : `${d.file}: `;
  const path = d.path === undefined ? '' : ` (${d.path})`;
  return `${file}${location}${d.message}${path}`;
}
