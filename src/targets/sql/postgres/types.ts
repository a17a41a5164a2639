/** Column types of an existing target, as `format_type` writes them, compared with those of incoming rows. */

/** Names of the dialect that `format_type` writes differently, without sizes. */
const formattedNames: Readonly<Record<string, string>> = {
  timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone',
  time: 'time without time zone',
};

/** Returns whether the type of the target is that of the dialect. */
export function isOfType(target: string, sqlType: string): boolean {
  return target === (formattedNames[sqlType] ?? sqlType);
}

const wholeDigits: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };

interface Decimal {
  /** digits before and after the point; Infinity if unbounded */
  readonly before: number;
  readonly after: number;
}

/**
 * Returns the type that the target's column needs so that it holds its own values and those of `staged`: the target's type itself, a wider
 * one, or text.
 */
export function settledType(target: string, staged: string): string {
  if (target === staged) return target;
  if (target.endsWith('[]') && staged.endsWith('[]')) {
    const [our, their] = [target.slice(0, -2), staged.slice(0, -2)];
    const item = settledType(our, their);
    // items of other kinds have no array in common
    return item === 'text' && (textLength(our) === null || textLength(their) === null) ? 'text' : `${item}[]`;
  }
  const [ours, theirs] = [decimalOf(target), decimalOf(staged)];
  if (ours !== null && theirs !== null) {
    if (theirs.before <= ours.before && theirs.after <= ours.after) return target;
    if (ours.before <= theirs.before && ours.after <= theirs.after) return staged;
    const [before, after] = [Math.max(ours.before, theirs.before), Math.max(ours.after, theirs.after)];
    return before === Infinity || after === Infinity ? 'numeric' : `numeric(${before + after},${after})`;
  }
  const [length, wanted] = [textLength(target), textLength(staged)];
  if (length !== null && wanted !== null) {
    // a value of another length would be padded with blanks
    const [isFixed, comesFixed] = [target, staged].map((type) => type.startsWith('character('));
    if (wanted > length) return comesFixed ? `character varying(${wanted})` : staged;
    return isFixed ? `character varying(${length})` : target;
  }
  if (target === 'double precision' && staged === 'real') return target;
  if (target === 'real' && staged === 'double precision') return staged;
  return 'text';
}

function decimalOf(type: string): Decimal | null {
  if (type in wholeDigits) return { before: wholeDigits[type]!, after: 0 };
  if (type === 'numeric') return { before: Infinity, after: Infinity };
  const match = /^numeric\((\d+),(\d+)\)$/.exec(type);
  return match === null ? null : { before: Number(match[1]) - Number(match[2]), after: Number(match[2]) };
}

function textLength(type: string): number | null {
  if (type === 'text' || type === 'character varying') return Infinity;
  const match = /^character(?: varying)?\((\d+)\)$/.exec(type);
  return match === null ? null : Number(match[1]);
}

/**
 * Returns the value of `expression` in the form of XML Schema, when the column is converted to text. `fraction`: digits after the point
 * that the model gives it; a column that was widened for other values would add zeros.
 */
export function lexicalText(expression: string, type: string, fraction: number | null = null): string {
  if (type.endsWith('[]')) return lexicalList(expression, type.slice(0, -2));
  const digits = fraction === null ? null : (decimalOf(type)?.after ?? null);
  if (digits !== null && digits !== Infinity && digits > fraction!)
    return `CASE WHEN ${expression} = round(${expression}, ${fraction}) THEN round(${expression}, ${fraction}) ELSE trim_scale(${expression}) END::text`;
  switch (type) {
    case 'timestamp with time zone':
      // the session is in UTC, and no other part of the text is +00
      return `replace(replace(${expression}::text, ' ', 'T'), '+00', 'Z')`;
    case 'timestamp without time zone':
      return `replace(${expression}::text, ' ', 'T')`;
    case 'real':
    case 'double precision':
      return `replace(${expression}::text, 'Infinity', 'INF')`;
    default:
      return `${expression}::text`;
  }
}

/** The expression that is requested from the server, and the conversion that its text still needs. */
export interface SentText {
  readonly expression: string;
  /** for a date with time: the kind of value whose separator and time zone become those of XML Schema (`asMoment`); null: no conversion */
  readonly moment: 'local' | 'zoned' | null;
}

/** Types that the server sends in the form of XML Schema: a conversion to text on the server would take a third more time. */
const sentAsItIs =
  /^(?:smallint|integer|bigint|text|date|time without time zone)$|^(?:numeric|character varying)(?:\(|$)/;

/** Like `lexicalText`, for a column that is sent in the text format, in a session in UTC. */
export function sentText(expression: string, type: string, fraction: number | null): SentText {
  if (type === 'timestamp without time zone') return { expression, moment: 'local' };
  if (type === 'timestamp with time zone') return { expression, moment: 'zoned' };
  const text = lexicalText(expression, type, fraction);
  const isWhole = text === `${expression}::text` && sentAsItIs.test(type);
  return { expression: isWhole ? expression : text, moment: null };
}

const [blank, letterT, letterZ, plus] = [0x20, 0x54, 0x5a, 0x2b];

/** Rewrites a date with its time in place, in the form of XML Schema; returns the index of its end. */
export function asMoment(bytes: Uint8Array, from: number, to: number, kind: 'local' | 'zoned'): number {
  for (let at = from; at < to; at += 1) if (bytes[at] === blank) bytes[at] = letterT;
  // the session is in UTC, so the zone is +00
  if (kind === 'local' || bytes[to - 3] !== plus) return to;
  bytes[to - 3] = letterZ;
  return to - 2;
}

/** Returns items separated by a blank. */
function lexicalList(expression: string, itemType: string): string {
  switch (itemType) {
    case 'boolean':
      return `array_to_string(${expression}::text[], ' ')`;
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      // a blank is part of the item until it is a T
      return `replace(regexp_replace(replace(array_to_string(${expression}, ','), ' ', 'T'), '[+]00(?=,|$)', 'Z', 'g'), ',', ' ')`;
    case 'real':
    case 'double precision':
      return `replace(array_to_string(${expression}, ' '), 'Infinity', 'INF')`;
    default:
      return `array_to_string(${expression}, ' ')`;
  }
}

function textAtOffset(instant: string, offset: string): string {
  const local = `(${instant} AT TIME ZONE 'UTC') + ${offset} * INTERVAL '1 minute'`;
  const ahead = `abs(${offset})`;
  return `${lexicalText(`(${local})`, 'timestamp without time zone')} || CASE WHEN ${offset} < 0 THEN '-' ELSE '+' END || to_char(${ahead} / 60, 'FM00') || ':' || to_char(${ahead} % 60, 'FM00')`;
}

/**
 * Returns `expression` of type `from` as a value of type `to`. `offset`: for an instant, an expression for the minutes ahead of UTC with
 * which it is written, NULL if that is `Z`.
 */
export function converted(
  expression: string,
  from: string,
  to: string,
  offset: string | null = null,
): string {
  if (from === to) return expression;
  if (to === 'text' && from === 'timestamp with time zone' && offset !== null)
    return `CASE WHEN ${offset} IS NULL THEN ${lexicalText(expression, from)} ELSE ${textAtOffset(expression, offset)} END`;
  return to === 'text' ? lexicalText(expression, from) : `${expression}::${to}`;
}
