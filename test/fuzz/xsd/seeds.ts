/** XSD documents that inputs are made from: fixtures, the W3C suite and real sets where they are, and random ones. */
import { join } from 'node:path';
import { Choices } from '../../property/choices/random.ts';
import { makeSchema } from '../../property/schemas/generator.ts';
import { writeXsd } from '../../property/schemas/writer.ts';
import { corpusDirectory, isHere } from '../../support/needs.ts';
import type { Random } from '../random.ts';
import { filesIn, seedsOf, type Seeds } from '../xml/seeds.ts';

const longestSeed = 12 * 1024;

export function xsdSeeds(): Seeds {
  const fixtures = join(import.meta.dirname, '../../fixtures');
  return seedsOf(
    [],
    [
      ...filesIn(fixtures, /\.xsd$/, longestSeed),
      ...(isHere('corpus') ? filesIn(corpusDirectory, /\.xsd$/, longestSeed) : []),
    ],
  );
}

/** A set that follows the standard, by name; the first file is the one to start from. */
export function randomXsdSet(random: Random): readonly (readonly [name: string, bytes: Uint8Array])[] {
  const numbers = (most: number) =>
    Array.from({ length: random.below(random.chance(0.5) ? 100 : most) }, () => random.below(0x10000));
  const files = writeXsd(makeSchema(new Choices(numbers(1200))), new Choices(numbers(800)));
  return Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]);
}
