/** Markdown to HTML: with anchors as on GitHub, code that is coloured at build time, and the sections that the search finds. */
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import properties from 'highlight.js/lib/languages/properties';
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../../src/http/problem.ts';

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('properties', properties);

/** A heading with the text below it, up to the next heading. */
export interface Section {
  /** '' of the section that begins the page */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

export interface RenderedText {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  readonly headings: readonly { readonly level: number; readonly anchor: string; readonly text: string }[];
}

/** `resolve`: returns the reference for a link or an image of the text, or null if its target is not part of the site. */
export function renderMarkdown(text: string, resolve: (href: string) => string | null): RenderedText {
  const slugger = new GithubSlugger();
  const headings: { level: number; anchor: string; text: string }[] = [];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const content = this.parser.parseInline(tokens);
        const plain = plainText(content);
        const anchor = slugger.slug(plain);
        headings.push({ level: depth, anchor, text: plain });
        if (depth === 1) return `<h1 id="${anchor}">${content}</h1>\n`;
        return `<h${depth} id="${anchor}">${content} <a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(plain)}">#</a></h${depth}>\n`;
      },
      code: ({ text: code, lang }) => codeHtml(code, lang ?? ''),
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const reference = /^\w+:/.test(href) ? href : resolve(href);
        return reference === null ? content : `<a href="${escapeHtml(reference)}">${content}</a>`;
      },
      image: ({ href, text: description }) =>
        `<img src="${escapeHtml(resolve(href) ?? '')}" alt="${escapeHtml(description)}" loading="lazy">`,
      table(token: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>\n`).join('');
        return `<div class="table" tabindex="0"><table>\n<thead><tr>${cells(token.header, 'th')}</tr></thead>\n<tbody>\n${rows}</tbody></table></div>\n`;
      },
      html: ({ text: markup }) => (markup.trim().startsWith('<!--') ? '' : escapeHtml(markup)),
    },
  });
  const html = marked.parse(text, { async: false });
  return {
    title: headings.find(({ level }) => level === 1)?.text ?? '',
    html,
    sections: sectionsOf(html),
    headings,
  };
}

/** The source of a file as HTML. */
export function codeHtml(code: string, language: string): string {
  const known = hljs.getLanguage(language) === undefined ? null : language;
  const content = known === null ? escapeHtml(code) : hljs.highlight(code, { language: known }).value;
  return `<div class="code"><pre tabindex="0"><code>${content}\n</code></pre></div>\n`;
}

function sectionsOf(html: string): Section[] {
  const parts = html.split(/(?=<h[1-6] id=")/).filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const [all = '', level, anchor = '', heading = ''] =
      /^<h([1-6]) id="([^"]*)">([^]*?)(?: <a class="anchor"[^]*?)?<\/h\1>/.exec(part) ?? [];
    return {
      anchor: level === '1' ? '' : anchor,
      heading: plainText(heading),
      text: plainText(part.slice(all.length)),
    };
  });
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
};

/** The text of HTML that this module made. */
function plainText(html: string): string {
  return html
    .replaceAll(/<\/(?:p|li|t[dhr]|div|h\d)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
