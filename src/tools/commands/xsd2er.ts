/** The command `xsd2er`; see src/tools/cli/usage.ts for its options. */
import { convertXsd } from '../schemas/convert-xsd.ts';
import { runTool } from '../cli/run-tool.ts';

process.exitCode = await runTool('xsd2er', process.argv.slice(2), async (session) => {
  if (session.request.from === undefined) return convertXsd(session);
  // a schema is made of documents by what loads them: without a target it loads none
  const { convertXml } = await import('../convert/documents.ts');
  return convertXml(session);
});
