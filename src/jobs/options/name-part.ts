/** Characters that names may have which people read. */
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';
import type { OptionSpec } from './specification.ts';

/**
 * Checks a part of the names of tables and columns, which people read: it may contain no invisible characters, nor any that change the
 * direction of the text around it.
 */
export function namePart(value: string): string | null {
  return hasHiddenCharacters(value)
    ? 'must not hold control characters, line ends, characters without width or marks that turn text around'
    : null;
}

/** Like `namePart`, for requests alone: the rule does not apply to a person's own command line. */
export const ofRequests =
  (apply: OptionSpec['apply']): OptionSpec['apply'] =>
  (draft, value, rest) =>
    (rest === null ? null : namePart(value)) ?? apply(draft, value, rest);
