/** Content of the root element, scanned by the kernel; the events that it does not handle are scanned in TypeScript. */
import { resolveElement } from '../names/resolve.ts';
import { scanContent, scanMarkup, scanSpecialText } from '../scan/markup.ts';
import { scanName } from '../scan/qualified-name.ts';
import { scanAttributes, scanUnusualEndTag } from '../scan/tags.ts';
import {
  GOES_ON,
  IN_EPILOG,
  NEEDS_INPUT,
  STATE_CHANGED,
  type Outcome,
  type TokenizerState,
} from '../tokenizer/state.ts';
import { KIND_END, KIND_START } from '../tokens.ts';
import { EXIT_END_TAG, EXIT_FULL, EXIT_MARKUP, EXIT_START_TAG, EXIT_TEXT } from './layout.ts';
import type { ScanKernel } from './instance.ts';

/** Does the same as `scanContent`, with the same results. */
export function scanContentFast(s: TokenizerState, kernel: ScanKernel): Outcome {
  for (;;) {
    if (!kernel.serves(s)) return scanContent(s);
    const exit = kernel.scan(s);
    if (exit === EXIT_FULL) {
      s.flush();
      continue;
    }
    const outcome = scanRest(s, kernel, exit);
    if (outcome !== GOES_ON) return outcome;
  }
}

function scanRest(s: TokenizerState, kernel: ScanKernel, exit: number): Outcome {
  switch (exit) {
    case EXIT_TEXT:
      return scanSpecialText(s, kernel.textStart, kernel.textAt);
    case EXIT_MARKUP:
      return scanMarkup(s);
    case EXIT_START_TAG:
      return scanStartTag(s);
    case EXIT_END_TAG:
      return scanEndTag(s);
    default:
      return closeRoot(s);
  }
}

function closeRoot(s: TokenizerState): Outcome {
  s.stage = IN_EPILOG;
  return STATE_CHANGED;
}

/** The start tag at `pos`. */
function scanStartTag(s: TokenizerState): Outcome {
  const { pos, count: record, raw } = s;
  const name = scanName(s, pos + 1);
  if (name < 0) return NEEDS_INPUT;
  raw.nextElements[s.predictor] = name;
  const behind = scanAttributes(s, s.scanEnd, name);
  if (behind < 0) return NEEDS_INPUT;
  const nameId = resolveElement(s, name, s.context, pos);
  const { events } = s;
  events[record] = KIND_START;
  events[record + 1] = nameId;
  events[record + 2] = pos;
  events[record + 3] = behind;
  s.pos = behind;
  s.depth++;
  if (s.depth >= s.stackCapacity) s.growStack(pos);
  s.predictor = name * 2;
  if (s.emptyElement) {
    s.emit(KIND_END, nameId, pos, behind);
    return leaveElement(s, name);
  }
  s.stackRaw[s.depth] = name;
  s.stackName[s.depth] = nameId;
  s.stackContext[s.depth] = s.context;
  return GOES_ON;
}

/** The end tag at `pos`. */
function scanEndTag(s: TokenizerState): Outcome {
  const { pos, depth } = s;
  const last = scanUnusualEndTag(s, pos);
  if (last < 0) return NEEDS_INPUT;
  s.emit(KIND_END, s.stackName[depth]!, pos, last + 1);
  s.pos = last + 1;
  return leaveElement(s, s.stackRaw[depth]!);
}

function leaveElement(s: TokenizerState, name: number): Outcome {
  s.depth--;
  s.context = s.stackContext[s.depth]!;
  s.predictor = name * 2 + 1;
  return s.depth === 0 ? closeRoot(s) : GOES_ON;
}
