/** One document after another read with one state: names that were learnt, and memory, are made once. */
import { LocationCounter } from '../text-location.ts';
import { AT_START, IN_NOTHING } from './state.ts';
import type { TokenizerSettings, TokenizerState } from './state.ts';

/** The most that a state may have learnt and still be reused for the next document. Most states learn far less. */
const keptNames = 1000;
const keptContexts = 256;
/** start tags, whose serials are 32-bit integers */
const keptSerial = 2 ** 30;

/**
 * True if the state may be reused for the next document. The kept data is small compared to the limits of a document's names. Only for a
 * document that ended without a fault.
 */
export function isReusable({
  raw,
  contexts,
  resolved,
  documentType,
  inEntity,
  serial,
}: TokenizerState): boolean {
  return (
    documentType === null &&
    !inEntity &&
    raw.interner.size <= keptNames &&
    raw.interner.longNames + contexts.longUris === 0 &&
    contexts.size <= keptContexts &&
    resolved.size <= keptNames &&
    serial < keptSerial
  );
}

/** True if a document with the settings `other` can be read with a state that has `own`. */
export function areAlike(own: TokenizerSettings, other: TokenizerSettings): boolean {
  return (
    own.names === other.names &&
    own.limits === other.limits &&
    own.comments === other.comments &&
    own.windowBytes === other.windowBytes &&
    own.memory === other.memory
  );
}

/** Begins another document with compatible settings. Keeps names, namespace contexts and serials. */
export function restart(s: TokenizerState, settings: TokenizerSettings): void {
  s.settings = settings;
  s.pos = 0;
  s.end = 0;
  s.final = false;
  s.floor = 0;
  s.count = 0;
  s.decodedEnd = 0;
  s.stage = AT_START;
  s.inside = IN_NOTHING;
  s.depth = 0;
  s.stackRaw[1] = 0;
  s.context = s.stackContext[0]!;
  s.predictor = 0;
  s.tagNames.length = 0;
  s.standalone = false;
  s.isVersion11 = false;
  s.expandedBytes = 0;
  s.receivedBytes = 0;
  s.externalBytes = 0;
  s.defaultedBytes = 0;
  s.runBytes = 0;
  s.emptyElement = false;
  s.entity = null;
  s.locations = new LocationCounter(settings.memory.countLineFeeds, settings.start);
}
