/** Documents after one another on one kernel: what was learnt of one is kept, and changes nothing of what the next one says. */
import { describe, expect, it } from 'vitest';
import { InputError } from '../../../../src/engine/diagnostics.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import type { ScanKernel } from '../../../../src/engine/xml/kernel/instance.ts';
import {
  createFastXmlTokenizer,
  createTokenizerKernels,
  type TokenizerKernels,
} from '../../../../src/engine/xml/tokenizer/fast.ts';
import type { TokenizerState } from '../../../../src/engine/xml/tokenizer/state.ts';
import {
  createXmlTokenizer,
  type XmlTokenizerOptions,
} from '../../../../src/engine/xml/tokenizer/portable.ts';
import {
  KIND_MASK,
  RECORD_INTS,
  type TokenBatch,
  type XmlTokenizer,
} from '../../../../src/engine/xml/tokens.ts';
import { rangeText } from '../../../../src/engine/shred/xml-capture.ts';

/** What a document says, by names and text, or the place and code of its fault. */
function said(text: string, create: (options: XmlTokenizerOptions) => XmlTokenizer): readonly string[] {
  const names = sharedNames;
  const heard: string[] = [];
  const tokenizer: XmlTokenizer = create({
    names,
    onBatch: (batch: TokenBatch) => {
      for (let at = 0; at < batch.count; at += 1) {
        const kind = batch.events[at * RECORD_INTS]! & KIND_MASK;
        const id = batch.events[at * RECORD_INTS + 1]!;
        const { line, column, offset } = tokenizer.locate(at);
        const name = `${names.namespaceUri(id)}|${names.localName(id)}`;
        heard.push(`${kind} ${name} ${rangeText(batch, at)} ${line}:${column} ${offset}`);
      }
    },
  });
  try {
    tokenizer.write(new TextEncoder().encode(text));
    tokenizer.end();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, line, column } = error.diagnostic;
    heard.push(`${code} ${line}:${column}`);
  }
  return heard;
}

const sharedNames = createNameTable();

const orders = '<orders xmlns="urn:a"><order id="1">\n<x:line xmlns:x="urn:b" x:n="2"/>é</order></orders>';
const documents = [
  orders,
  orders,
  // the same names in other namespaces
  '<orders xmlns="urn:b"><order id="1">\n<x:line xmlns:x="urn:a" x:n="2"/></order></orders>',
  '<orders><order id="1" id="2"/></orders>',
  '<orders><order id="1"><x:line/></order></orders>',
  orders,
  '<!DOCTYPE orders [<!ATTLIST order kind CDATA "new"><!ENTITY e "<order/>">]><orders><order/>&e;</orders>',
  '<orders><order/>&e;</orders>',
  '<orders><order/></orders>',
  '<?xml version="1.0" standalone="yes"?>\r\n<orders>\r\n<order\n a="&amp;">&#65;</order><![CDATA[<]]></orders>\n',
  '<orders><order>',
  '<x:orders xmlns:x="urn:a" xmlns:y="urn:a"><order x:n="1" y:n="2"/></x:orders>',
  `<orders>${'<order id="7">\n</order>'.repeat(9000)}<order></orders>`,
  orders,
];

describe('documents after one another', () => {
  it('say what each says by itself', () => {
    const kernels = createTokenizerKernels(0);
    const together = documents.map((text) =>
      said(text, (options) => createFastXmlTokenizer(options, kernels)),
    );
    const alone = documents.map((text) => said(text, createXmlTokenizer));
    expect(together).toEqual(alone);
  });

  it('say the same whatever stood before', () => {
    const short = documents.filter((text) => text.length < 1000);
    for (const first of short)
      for (const second of short) {
        const kernels = createTokenizerKernels(0);
        said(first, (options) => createFastXmlTokenizer(options, kernels));
        const after = said(second, (options) => createFastXmlTokenizer(options, kernels));
        expect(after).toEqual(said(second, createXmlTokenizer));
      }
  });

  it('share a state after a good one, not after one that failed or has a DTD', () => {
    const inner = createTokenizerKernels(0);
    const begun: TokenizerState[] = [];
    const watched = new Set<ScanKernel>();
    const kernels: TokenizerKernels = {
      take: (firstBytes) => {
        const kernel = inner.take(firstBytes)!;
        if (!watched.has(kernel)) {
          const begin = kernel.begin.bind(kernel);
          kernel.begin = (settings) => {
            const state = begin(settings);
            begun.push(state);
            return state;
          };
          watched.add(kernel);
        }
        return kernel;
      },
      giveBack: (kernel) => inner.giveBack(kernel),
    };
    const limits = defaultEngineLimits;
    for (const text of [orders, orders, '<orders>', orders, documents[6]!, orders])
      said(text, (options) => createFastXmlTokenizer({ ...options, limits }, kernels));
    const isKept = begun.map((state, at) => at > 0 && state === begun[at - 1]);
    expect(isKept).toEqual([false, true, true, false, true, false]);
  });
});
