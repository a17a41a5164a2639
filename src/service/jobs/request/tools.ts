/** The programs that jobs run. */

export const tools = ['xsd2er', 'xml2er', 'er2xml', 'unload'] as const;
export type Tool = (typeof tools)[number];

export function isTool(name: string): name is Tool {
  return (tools as readonly string[]).includes(name);
}
