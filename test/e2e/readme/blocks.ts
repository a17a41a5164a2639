/** The code blocks of a Markdown file, by the heading above them. */
export interface CodeBlock {
  readonly heading: string;
  readonly language: string;
  readonly code: string;
}

export function readBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let heading = '';
  for (const match of markdown.matchAll(/^#+ (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (match[1] !== undefined) heading = match[1];
    else blocks.push({ heading, language: match[2]!, code: match[3]! });
  }
  return blocks;
}

/** The code of a block by the heading above it, its language and its place among those of both; throws where there is none. */
export function blockIn(blocks: readonly CodeBlock[], heading: string, language: string, index = 0): string {
  const found = blocks.filter((block) => block.heading === heading && block.language === language)[index];
  if (found === undefined) throw new Error(`no ${language} block ${index} under "${heading}"`);
  return found.code;
}
