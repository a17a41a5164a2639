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
