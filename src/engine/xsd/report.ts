/** Diagnostics of an XSD set, collected while it is compiled. */
import { InputError, type Diagnostic } from '../diagnostics.ts';
import type { XmlElement } from '../xml/tree.ts';

/** The set cannot be used. `diagnostic` is the first thing that makes it so; `diagnostics` all that was found. */
export class XsdSetError extends InputError {
  readonly diagnostics: readonly Diagnostic[];
  constructor(first: Diagnostic, all: readonly Diagnostic[]) {
    super(first);
    this.name = 'XsdSetError';
    this.diagnostics = all;
  }
}

/** A place in a schema document: its file's name and an element of it. */
export interface SchemaLocation {
  readonly node: XmlElement;
  readonly document: { readonly file: { readonly name: string } };
}

/** Collects the faults of a set with their locations. */
export interface XsdReport {
  readonly diagnostics: Diagnostic[];
  /** The set breaks the standard but a model can be made. */
  error(code: string, message: string, at: SchemaLocation, path?: string): void;
  /** The set cannot be used. Reading continues so that further faults are reported. */
  fatal(code: string, message: string, at: SchemaLocation, path?: string): void;
  warning(code: string, message: string, at: SchemaLocation, path?: string): void;
  info(code: string, message: string, at: SchemaLocation, path?: string): void;
  /** Something unusable with no element to point at. */
  fatalDiagnostic(diagnostic: Diagnostic): void;
  /** Throws `XsdSetError` when anything fatal was reported. */
  throwIfUnusable(): void;
}

/** Errors beyond this number are counted, not kept: a broken set must not fill the memory with complaints. */
const maxDiagnostics = 1000;

export function createXsdReport(): XsdReport {
  const diagnostics: Diagnostic[] = [];
  let first: Diagnostic | null = null;
  const add = (
    severity: Diagnostic['severity'],
    code: string,
    message: string,
    at: SchemaLocation,
    path?: string,
  ) => {
    const { line, column } = at.node;
    const diagnostic: Diagnostic = { code, severity, message, file: at.document.file.name, line, column };
    const whole = path === undefined ? diagnostic : { ...diagnostic, path };
    if (diagnostics.length < maxDiagnostics) diagnostics.push(whole);
    return whole;
  };
  return {
    diagnostics,
    error: (code, message, at, path) => void add('error', code, message, at, path),
    fatal(code, message, at, path) {
      const diagnostic = add('error', code, message, at, path);
      first ??= diagnostic;
    },
    warning: (code, message, at, path) => void add('warning', code, message, at, path),
    info: (code, message, at, path) => void add('info', code, message, at, path),
    fatalDiagnostic(diagnostic) {
      diagnostics.push(diagnostic);
      first ??= diagnostic;
    },
    throwIfUnusable() {
      if (first !== null) throw new XsdSetError(first, diagnostics);
    },
  };
}
