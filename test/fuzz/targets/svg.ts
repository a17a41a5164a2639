/** Drawings: what is kept is well-formed by another parser too, and holds nothing that runs, loads or leads away. */
import { XmlDocument } from 'libxml2-wasm';
import { checkSvg } from '../../../src/service/catalog/svg-check.ts';
import { AppError } from '../../../src/errors.ts';
import { Finding, type FuzzTarget } from '../fuzzer.ts';
import { mutate } from '../mutate.ts';

const utf8 = new TextEncoder();
const seeds = [
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><defs><linearGradient id="g"><stop offset="1"/></linearGradient></defs><rect fill="url(#g)" width="20" height="10"/><use href="#g"/><text x="1">a &amp; b</text></svg>',
  '<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><s:g style="fill:red"><s:use xlink:href="#a"/><s:title>t</s:title></s:g></s:svg>',
].map((text) => utf8.encode(text));
const words = [
  '<script>',
  '</script>',
  '<s:script>',
  '<foreignObject>',
  '<animate attributeName="href" to="javascript:1"/>',
  '<set ',
  '<style>@import url(//x)</style>',
  '<a href="javascript:alert(1)">',
  '<image href="//x/y"/>',
  ' onload="alert(1)"',
  ' ONCLICK="x"',
  ' href="data:text/html,x"',
  ' xlink:href="//x"',
  ' xml:base="//x"',
  ' style="background:url(//x)"',
  ' style="fill:u\\72l(//x)"',
  ' fill="url(https://x/#a)"',
  ' from="//x"',
  '<!DOCTYPE svg [<!ENTITY x "y">]>',
  '&x;',
  '<?xml-stylesheet href="//x"?>',
  '<![CDATA[',
  ']]>',
  '&#x6a;',
  ' xmlns="http://www.w3.org/1999/xhtml"',
  ' xmlns:s="urn:x"',
  '\0',
  '﻿',
  '<!--',
  '-->',
  ' id="g"',
].map((text) => utf8.encode(text));

const lower = (name: string): string =>
  `translate(${name},'ABCDEFGHIJKLMNOPQRSTUVWXYZ','abcdefghijklmnopqrstuvwxyz')`;
const forbidden: Readonly<Record<string, string>> = {
  'a script or what holds one': `//*[contains('|script|foreignobject|iframe|object|embed|handler|listener|animate|set|style|image|a|',concat('|',${lower('local-name()')},'|'))]`,
  'an element that is not of SVG': "//*[namespace-uri()!='http://www.w3.org/2000/svg']",
  'an event handler': `//@*[starts-with(${lower('local-name()')},'on')]`,
  'a reference that leaves it': `//@*[${lower('local-name()')}='href' and not(starts-with(normalize-space(.),'#'))]`,
  'a style that loads': `//@*[contains(${lower('.')},'url(') and not(contains(.,'#'))]`,
  'a base': "//@*[local-name()='base' and namespace-uri()!='']",
};

export function createSvgTarget(): FuzzTarget {
  return {
    name: 'svg',
    step(random) {
      const bytes = mutate(random, seeds, words);
      const svg = new TextDecoder().decode(bytes);
      try {
        checkSvg(svg);
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_body') return;
        throw new Finding(`throws ${String(error)}`, svg, error);
      }
      const document = parsed(svg);
      if (document === null) return;
      try {
        for (const [what, path] of Object.entries(forbidden))
          if (document.find(path).length > 0) throw new Finding(`${what} is kept`, svg);
      } finally {
        document.dispose();
      }
    },
    close: () => Promise.resolve(),
  };
}

/** null: it wants names of namespaces to be URIs, which Namespaces in XML does not ask of processors. */
function parsed(svg: string): XmlDocument | null {
  try {
    return XmlDocument.fromString(svg);
  } catch (error) {
    if (/is not a valid URI|is not absolute/.test(String(error))) return null;
    throw new Finding(`is kept, and another parser says: ${String(error)}`, svg, error);
  }
}
