/** Moves an external DTD into the document, for programs that read nothing else: the declarations become part of the document. */
import { InputError } from '../../diagnostics.ts';
import type { EngineLimits } from '../../limits.ts';
import { createNameTable } from '../names/interned.ts';
import { scanContent } from '../scan/markup.ts';
import { replacementText } from '../scan/references.ts';
import { plainMemory } from '../tokenizer/memory.ts';
import { createTokenizerOn, settingsOf } from '../tokenizer/portable.ts';
import { TokenizerState } from '../tokenizer/state.ts';
import { utf8Text } from '../utf8.ts';
import type { DocumentType, ExternalParts } from './document-type.ts';

const stepBytes = 4096;

/**
 * `head`: the beginning of a document in UTF-8, at least up to its root element. Returns it with its document type declaration replaced
 * by one that has no external references and as many lines. Returns null if there is no such declaration, or if it has a fault, which the
 * document's reader reports.
 */
export function withInternalSubset(
  head: Uint8Array,
  external: ExternalParts,
  limits: EngineLimits,
): Uint8Array | null {
  const place = declarationIn(head);
  if (place === null) return null;
  const seen = { root: false };
  const options = {
    names: createNameTable(),
    limits,
    external,
    onBatch: ({ count }: { readonly count: number }) => void (seen.root ||= count > 0),
  };
  const state = new TokenizerState(settingsOf(options, plainMemory));
  const tokenizer = createTokenizerOn(state, scanContent, {});
  try {
    for (let at = 0; at < head.length && state.documentType === null && !seen.root; at += stepBytes) {
      tokenizer.write(head.subarray(at, at + stepBytes));
      if (at + stepBytes >= head.length) tokenizer.end();
    }
    if (state.documentType === null) return null;
    const declared = utf8Text(head.subarray(place.from, place.to));
    const name = /^<!DOCTYPE\s+([^\s[>]+)/.exec(declared)?.[1] ?? '';
    const breaks = declared.replaceAll(/[^\n]/g, '');
    const text = `<!DOCTYPE ${name} [${declarationsOf(state, state.documentType)}${breaks}]>`;
    return joined(head.subarray(0, place.from), new TextEncoder().encode(text), head.subarray(place.to));
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function declarationsOf(s: TokenizerState, { generalEntities, attributeLists }: DocumentType): string {
  const parts: string[] = [];
  for (const entity of generalEntities.values()) {
    if (entity.unparsed) continue;
    const text = textOf(s, entity.name);
    if (text !== null) parts.push(`<!ENTITY ${entity.name} "${entityValue(text)}">`);
  }
  for (const [element, { definitions }] of attributeLists) {
    const owned = [...definitions.values()].map(({ name, tokenized, defaultValue }) => {
      const type = tokenized ? 'NMTOKENS' : 'CDATA';
      const value = defaultValue === null ? '#IMPLIED' : `"${attributeValue(utf8Text(defaultValue))}"`;
      return ` ${s.raw.interner.text(name)} ${type} ${value}`;
    });
    parts.push(`<!ATTLIST ${s.raw.interner.text(element)}${owned.join('')}>`);
  }
  return parts.join('');
}

/** Returns null if the entity is not read. */
function textOf(s: TokenizerState, name: string): string | null {
  const entity = s.documentType!.generalEntities.get(name)!;
  try {
    return utf8Text(replacementText(s, entity, 0, 0).subarray(0, -1));
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** XML 1.0, 4.5: returns the entity value that has this replacement text. */
function entityValue(text: string): string {
  return text
    .replaceAll('&#', '&#38;#')
    .replaceAll('%', '&#37;')
    .replaceAll('"', '&#34;')
    .replaceAll('\r', '&#13;');
}

function attributeValue(text: string): string {
  return text.replaceAll(/[&<"\t\n\r]/g, (character) => `&#${character.codePointAt(0)!};`);
}

/** Returns the range of the document type declaration, or null if there is none. */
function declarationIn(head: Uint8Array): { readonly from: number; readonly to: number } | null {
  // one character for each byte
  const text = new TextDecoder('latin1').decode(head);
  const before = /^(?:\u00ef\u00bb\u00bf)?(?:\s|<\?.*?\?>|<!--.*?-->)*/s.exec(text)![0].length;
  if (!text.startsWith('<!DOCTYPE', before)) return null;
  const parts = /"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|\[|\]|>/gs;
  parts.lastIndex = before;
  let isWithin = false;
  for (let found = parts.exec(text); found !== null; found = parts.exec(text)) {
    if (found[0] === '[') isWithin = true;
    else if (found[0] === ']') isWithin = false;
    else if (found[0] === '>' && !isWithin) return { from: before, to: parts.lastIndex };
  }
  return null;
}
