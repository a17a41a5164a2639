/** The main loop of the portable tokenizer: tags and text of the root element. */
import {
  CLOSE_BRACKET,
  CR,
  EXCLAMATION,
  GREATER,
  LESS,
  LF,
  NAME_NONE,
  QUESTION,
  SLASH,
  SPACE,
  TAB,
  nameClass,
  textStops,
} from '../characters.ts';
import { resolveElement } from '../names/resolve.ts';
import { scanMarkup } from './markup.ts';
import { scanName } from './qualified-name.ts';
import { scanAttributes, scanUnusualEndTag } from './tags.ts';
import { scanSpecialText } from './text.ts';
import { GOES_ON, IN_EPILOG, NEEDS_INPUT, STATE_CHANGED } from '../tokenizer/state.ts';
import type { Outcome, TokenizerState } from '../tokenizer/state.ts';
import { FLAG_WHITE_SPACE, KIND_END, KIND_START, KIND_TEXT } from '../tokens.ts';
import { skipMultiByte } from '../utf8.ts';

/**
 * The hot loop: text, end tags and start tags without attributes. Everything else is handled by other functions, with the state written
 * back first, so that rare cases neither lengthen nor deoptimise this function.
 */
export function scanContent(s: TokenizerState): Outcome {
  const { bytes, end, raw, flushAt, floor, hasAttributeLists } = s;
  const { interner } = raw;
  const maxText = s.limits.xmlMaxTextBytes;
  const { inEntity } = s;
  const whiteText = inEntity ? KIND_TEXT : KIND_TEXT | FLAG_WHITE_SPACE;
  let { pos, count: n, depth, context, predictor, events } = s;
  for (;;) {
    if (n >= flushAt) {
      s.pos = pos;
      s.count = n;
      s.flush();
      n = 0;
    }
    let c = bytes[pos]!;
    if (c !== LESS) {
      // The usual line end of a Windows file needs no decoding: the text begins at its LF.
      if (c === CR && bytes[pos + 1] === LF && !inEntity) c = bytes[++pos]!;
      const start = pos;
      let kind = whiteText;
      while (c === SPACE || c === LF || c === TAB) c = bytes[++pos]!;
      if (c !== LESS) {
        kind = KIND_TEXT;
        for (;;) {
          while (textStops[c] === 0) c = bytes[++pos]!;
          if (c === LESS) break;
          if (c >= 0x80) {
            const next = skipMultiByte(bytes, pos, end);
            if (next === pos) break;
            pos = next;
            c = bytes[pos]!;
          } else if (c === CLOSE_BRACKET && pos + 1 < end && bytes[pos + 1] !== CLOSE_BRACKET) {
            c = bytes[++pos]!;
          } else {
            break;
          }
        }
      }
      if (c !== LESS || pos - start > maxText) {
        s.count = n;
        s.depth = depth;
        s.context = context;
        s.predictor = predictor;
        const outcome = scanSpecialText(s, start, pos);
        if (outcome !== GOES_ON) return outcome;
        pos = s.pos;
        n = s.count;
        events = s.events;
        continue;
      }
      events[n] = kind;
      events[n + 1] = 0;
      events[n + 2] = start;
      events[n + 3] = pos;
      n += 4;
    }

    c = bytes[pos + 1]!;
    if (c === SLASH) {
      const name = s.stackRaw[depth]!;
      const { arena } = interner;
      let from = interner.starts[name]!;
      const to = interner.ends[name]!;
      let i = pos + 2;
      while (from < to && arena[from] === bytes[i]) {
        from++;
        i++;
      }
      if (from !== to || bytes[i] !== GREATER || depth === floor) {
        s.count = n;
        s.depth = depth;
        s.context = context;
        s.predictor = predictor;
        i = scanUnusualEndTag(s, pos);
        if (i < 0) return NEEDS_INPUT;
      }
      i++;
      events[n] = KIND_END;
      events[n + 1] = s.stackName[depth]!;
      events[n + 2] = pos;
      events[n + 3] = i;
      n += 4;
      pos = i;
      depth--;
      context = s.stackContext[depth]!;
      predictor = name * 2 + 1;
      if (depth === 0) break;
      continue;
    }
    if (c === EXCLAMATION || c === QUESTION) {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      const outcome = scanMarkup(s);
      if (outcome !== GOES_ON) return outcome;
      pos = s.pos;
      n = s.count;
      events = s.events;
      continue;
    }

    let name = raw.nextElements[predictor]!;
    let from = interner.starts[name]!;
    let to = interner.ends[name]!;
    let i = pos + 1;
    const { arena } = interner;
    while (from < to && arena[from] === bytes[i]) {
      from++;
      i++;
    }
    if (from !== to || nameClass[bytes[i]!] !== NAME_NONE || i === pos + 1) {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      name = scanName(s, pos + 1);
      if (name < 0) return NEEDS_INPUT;
      raw.nextElements[predictor] = name;
      i = s.scanEnd;
    }
    let isEmpty = false;
    let nameId: number;
    const record = n;
    if (bytes[i] === GREATER && !hasAttributeLists) {
      i++;
      n += 4;
      nameId =
        raw.elementContexts[name] === context
          ? raw.elementNames[name]!
          : resolveElement(s, name, context, pos);
    } else {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      i = scanAttributes(s, i, name);
      if (i < 0) return NEEDS_INPUT;
      n = s.count;
      events = s.events;
      context = s.context;
      isEmpty = s.emptyElement;
      nameId =
        raw.elementContexts[name] === context
          ? raw.elementNames[name]!
          : resolveElement(s, name, context, pos);
    }
    events[record] = KIND_START;
    events[record + 1] = nameId;
    events[record + 2] = pos;
    events[record + 3] = i;
    depth++;
    if (depth >= s.stackCapacity) {
      s.depth = depth;
      s.growStack(pos);
    }
    predictor = name * 2;
    if (isEmpty) {
      events[n] = KIND_END;
      events[n + 1] = nameId;
      events[n + 2] = pos;
      events[n + 3] = i;
      n += 4;
      pos = i;
      depth--;
      context = s.stackContext[depth]!;
      predictor++;
      if (depth === 0) break;
      continue;
    }
    s.stackRaw[depth] = name;
    s.stackName[depth] = nameId;
    s.stackContext[depth] = context;
    pos = i;
  }
  s.pos = pos;
  s.count = n;
  s.depth = 0;
  s.context = context;
  s.predictor = predictor;
  s.stage = IN_EPILOG;
  return STATE_CHANGED;
}
