/** The command `xml2er`; see src/tools/cli/run-tool.ts for its options. */
import { runCommand } from './run-tool.ts';

void runCommand('xml2er', async (session) => {
  const { convertXml } = await import('../convert/documents.ts');
  return convertXml(session);
});
