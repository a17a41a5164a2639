/** Lines and columns are the same whichever places were asked for before, and however the text came. */
import { describe, expect, it } from 'vitest';
import { createScanKernel, compileKernel } from '../../../../src/engine/xml/kernel/instance.ts';
import { plainMemory, type TokenizerMemory } from '../../../../src/engine/xml/tokenizer/memory.ts';
import { LocationCounter } from '../../../../src/engine/xml/text-location.ts';

const windowBytes = 8192;
const utf8 = new TextEncoder();

/** As the standard has it: CR, LF and CR LF each end a line; columns are characters. */
function placeOf(text: Uint8Array, offset: number): { line: number; column: number; offset: number } {
  const before = new TextDecoder().decode(text.subarray(0, offset));
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length, column: [...lines.at(-1)!].length + 1, offset };
}

/** A sequence that is the same in each run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function textOf(below: (limit: number) => number, pieces: readonly string[]): Uint8Array {
  let text = '';
  while (text.length < windowBytes / 2) text += pieces[below(pieces.length)]!.repeat(1 + below(40));
  return utf8.encode(text).subarray(0, windowBytes);
}

/** Starts of characters of `[from, to)`. */
function startsIn(text: Uint8Array, from: number, to: number): number[] {
  const starts: number[] = [];
  for (let at = from; at < to; at += 1) if ((text[at]! & 0xc0) !== 0x80) starts.push(at);
  return starts;
}

function checkPlaces(seed: number, pieces: readonly string[], memory: TokenizerMemory): void {
  const below = numbersFrom(seed);
  const text = textOf(below, pieces);
  const window = memory.bytes(windowBytes);
  const words = new Uint32Array(window.buffer, window.byteOffset, windowBytes / 4);
  const counter = new LocationCounter(memory.countLineFeeds);
  let gone = 0;
  window.set(text);
  for (let turn = 0; turn < 4; turn += 1) {
    const starts = startsIn(text, gone, text.length);
    for (let asked = 0; asked < 30; asked += 1) {
      const at = starts[below(starts.length)]!;
      // some of them in order, most of them not
      for (const place of asked % 3 === 0 ? [at, Math.min(at + 300 + below(900), text.length)] : [at]) {
        if (place < text.length && (text[place]! & 0xc0) === 0x80) continue;
        expect(counter.locate(window, place - gone, words)).toEqual(placeOf(text, place));
      }
    }
    const leaving = starts[below(Math.ceil(starts.length / 4))]! - gone;
    counter.advance(window, words, leaving);
    gone += leaving;
    window.copyWithin(0, leaving);
  }
}

const texts = {
  'line feeds': ['a', 'bc ', '\n', '\n  ', '<x/>'],
  'line ends of all kinds': ['a', '\r\n', '\r', '\n', ' \r', 'xyz'],
  'characters of several bytes': ['é', '水', '😀', '\n', 'a', '\r\n'],
  'one long line': ['abc', 'é'],
} as const;

describe('places in a text', () => {
  it.each(Object.entries(texts))('are found in any order: %s', (_, pieces) => {
    for (let seed = 1; seed <= 8; seed += 1) checkPlaces(seed, pieces, plainMemory);
  });

  it.each(Object.entries(texts))('are found by the kernel alike: %s', (_, pieces) => {
    const kernel = createScanKernel(compileKernel()!);
    for (let seed = 1; seed <= 8; seed += 1) checkPlaces(seed, pieces, kernel.memory);
  });
});
