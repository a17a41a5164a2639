/** Column types of SQLite, as the dialect declares them: the type that a column needs, and the text form of its values. */

type Family = 'text' | 'integer' | 'numeric' | 'real' | 'other' | 'any';

/** Digits that a number of SQLite keeps exactly, apart from whole numbers of 64 bits. */
const exactDigits = 15;

/**
 * Returns the conversion that a declared type applies to values (https://www.sqlite.org/datatype3.html, "Determination Of Column
 * Affinity").
 */
function familyOf(type: string): Family {
  if (type === '' || /BLOB/i.test(type)) return 'any';
  if (/INT/i.test(type)) return 'integer';
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'text';
  if (/REAL|FLOA|DOUB/i.test(type)) return 'real';
  return decimalDigits(type) === null ? 'other' : 'numeric';
}

export function isText(type: string): boolean {
  return familyOf(type) === 'text';
}

/** Returns the digits before and after the point; null for a type that is not a decimal with bounds. */
function decimalDigits(type: string): { readonly whole: number; readonly fraction: number } | null {
  const match = /^(?:NUMERIC|DECIMAL)\(\s*(\d+)\s*,\s*(\d+)\s*\)$/i.exec(type);
  return match === null ? null : { whole: Number(match[1]) - Number(match[2]), fraction: Number(match[2]) };
}

/** Returns the type that holds values of both types: the existing one, a wider one, or text. */
export function settledType(there: string, incoming: string): string {
  if (there.toUpperCase() === incoming.toUpperCase()) return there;
  const [ours, theirs] = [familyOf(there), familyOf(incoming)];
  // SQLite ignores lengths of text
  if (ours === 'text' || ours === 'any') return there;
  if (ours === theirs && (ours === 'integer' || ours === 'real')) return there;
  const [a, b] = [decimalDigits(there), decimalDigits(incoming)];
  if (a !== null && b !== null) {
    const [whole, fraction] = [Math.max(a.whole, b.whole), Math.max(a.fraction, b.fraction)];
    if (whole === a.whole && fraction === a.fraction) return there;
    return whole + fraction <= exactDigits ? `NUMERIC(${whole + fraction},${fraction})` : 'TEXT';
  }
  if (ours === 'integer' && b?.fraction === 0) return there;
  if (theirs === 'integer' && a?.fraction === 0) return incoming;
  return 'TEXT';
}

/** Returns the value of `expression`, of the declared type, in the form of XML Schema; a value that is already text stays unchanged. */
export function lexicalText(expression: string, type: string, isBoolean: boolean): string {
  const text = `CAST(${expression} AS TEXT)`;
  const stored = `typeof(${expression})`;
  if (isBoolean || /^BOOL/i.test(type))
    return `CASE ${stored} WHEN 'integer' THEN CASE ${expression} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END ELSE ${text} END`;
  switch (familyOf(type)) {
    case 'numeric': {
      const { fraction } = decimalDigits(type)!;
      return `CASE WHEN ${stored} IN ('integer', 'real') THEN printf('%.${fraction}f', ${expression}) ELSE ${expression} END`;
    }
    case 'integer':
      return text;
    case 'text':
      return expression;
    case 'real':
      // SQLite itself writes 15 digits of a double
      return `CASE ${stored} WHEN 'real' THEN svc_text(${expression}) ELSE replace(${text}, 'Infinity', 'INF') END`;
    default:
      return `CASE ${stored} WHEN 'real' THEN svc_text(${expression}) ELSE ${text} END`;
  }
}
