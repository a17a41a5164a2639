/** Determines whether dates with times have a time zone, from the rules of their type. */
import type { ValueType } from '../../model/source-model.ts';
import { hasZone } from '../../model/zones.ts';
import { mayAllowText } from '../../xsd/values/pattern.ts';

/** Returns undefined if values may have a zone but need not. */
export function zoneOf({ zone, facets }: ValueType): ValueType['zone'] {
  const { patterns, enumeration } = facets;
  if (zone !== undefined) return zone;
  if (enumeration !== undefined)
    return agreed(
      enumeration.some((text) => !hasZone(text)),
      enumeration.some(hasZone),
    );
  if (patterns === undefined) return undefined;
  const allows = (text: string): boolean => mayAllowText(patterns, text);
  return agreed(
    sampleTimes.some(allows),
    sampleZones.some((end) => sampleTimes.some((time) => allows(time + end))),
  );
}

function agreed(hasLocal: boolean, hasZoned: boolean): ValueType['zone'] {
  return hasLocal === hasZoned ? undefined : hasZoned ? 'always' : 'never';
}

/** Times that patterns commonly allow: full minutes, midnight, and seconds with different numbers of digits after the point. */
const sampleTimes = ['10:20:11', '10:20:00', '00:00:00'].flatMap((clock) =>
  [0, 1, 2, 3, 4, 5, 6, 7, 9].map(
    (digits) => `2024-10-21T${clock}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`,
  ),
);
const sampleZones = ['Z', '+01:00', '-05:00', '+00:00'];
