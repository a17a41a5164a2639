/** The command `xsd2er`; see src/tools/cli/run-tool.ts for its options. */
import { runCommand } from './run-tool.ts';

void runCommand('xsd2er', async (session) => {
  if (session.request.from === undefined) {
    const { convertXsd } = await import('../schemas/convert-xsd.ts');
    return convertXsd(session);
  }
  // documents make their schema in the code that loads them: without a target it loads none
  const { convertXml } = await import('../convert/documents.ts');
  return convertXml(session);
});
