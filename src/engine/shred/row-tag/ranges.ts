/**
 * Finds the places where a document may be cut into ranges: before row elements (`--row-tag`), with all the state that a reader needs to
 * begin there. The whole document is tokenised once, because `<row` may also be in a comment, in CDATA, in an entity or inside a row.
 * Memory: the tags of the elements around, and the cuts.
 */
import { LocationCounter } from '../../xml/text-location.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../../xml/tokens.ts';
import { createRowElementTest, type RowElementName } from './elements.ts';
import { utf8Text } from '../../xml/utf8.ts';

/** A place before the `<` of a row element. */
export interface RowCut {
  readonly location: TextLocation;
  /** number of the row element in the document, from 1 */
  readonly number: number;
  /** start tags of the elements around, outermost first, as written in the document */
  readonly openTags: string;
  /** attributes of these, those that a DTD supplies among them */
  readonly attributes: number;
}

export interface RowCutFinder {
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** Asks for a cut before the next row element that is not the first since the last cut. */
  request(): void;
  /** The requested cuts that were found. A cut whose first byte is not `<` is in an entity: it is the place of the reference. */
  readonly cuts: readonly RowCut[];
  /** bytes before the root element */
  readonly prologBytes: number;
}

interface ElementAround {
  readonly tag: Uint8Array;
  attributes: number;
}

export function createRowCutFinder(name: RowElementName, names: NameTable): RowCutFinder {
  const isRow = createRowElementTest(name, names);
  const around: ElementAround[] = [];
  const cuts: RowCut[] = [];
  let number = 0;
  let requested = false;
  let prologBytes = -1;
  /** open elements of the present row element, itself included; 0 outside */
  let depth = 0;

  function cut(location: TextLocation): void {
    requested = false;
    cuts.push({
      location,
      number,
      openTags: around.map(({ tag }) => utf8Text(tag)).join(''),
      attributes: around.reduce((sum, { attributes }) => sum + attributes, 0),
    });
  }

  return {
    cuts,
    get prologBytes() {
      return prologBytes;
    },
    request: () => void (requested = true),
    consume({ events, count, bytes }, locate) {
      if (prologBytes < 0 && count > 0) prologBytes = locate(0).offset;
      for (let at = 0; at < count; at += 1) {
        const kind = events[at * RECORD_INTS]! & KIND_MASK;
        if (depth > 0) {
          if (kind === KIND_START) depth += 1;
          else if (kind === KIND_END) depth -= 1;
        } else if (kind === KIND_START) {
          if (isRow(events[at * RECORD_INTS + 1]!)) {
            number += 1;
            depth = 1;
            if (requested && number > (cuts.at(-1)?.number ?? 1)) cut(locate(at));
          } else {
            const tag = bytes.slice(events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
            around.push({ tag, attributes: 0 });
          }
        } else if (kind === KIND_END) around.pop();
        else if (kind === KIND_ATTRIBUTE) around.at(-1)!.attributes += 1;
      }
    },
  };
}

/** The end tags that the start tags need. */
export function endTagsOf(openTags: string): string {
  const tagNames = [...openTags.matchAll(/<([^\s/>]+)(?:[^>"']|"[^"]*"|'[^']*')*>/g)].map(
    ([, name]) => name!,
  );
  return tagNames
    .map((name) => `</${name}>`)
    .toReversed()
    .join('');
}

/**
 * Turns locations in the text that is parsed, `lead` followed by the document from `from` on, into locations in the document.
 * A location within the lead has no counterpart in the document, and stays as it is.
 */
export function locationsBehind(
  lead: Uint8Array,
  from: TextLocation,
): <Location extends Omit<TextLocation, 'offset'> & { readonly offset?: number }>(
  location: Location,
) => Location {
  // a byte order mark is no character
  const text = lead[0] === 0xef && lead[1] === 0xbb && lead[2] === 0xbf ? lead.subarray(3) : lead;
  const end = new LocationCounter().locate(text, text.length);
  return (location) => {
    const { line, column, offset } = location;
    if (line < end.line || (line === end.line && column < end.column)) return location;
    return {
      ...location,
      line: line - end.line + from.line,
      column: line === end.line ? column - end.column + from.column : column,
      ...(offset === undefined ? {} : { offset: offset - lead.length + from.offset }),
    };
  };
}
