/** Documents checked by libxml2 in WebAssembly, where no xmllint is installed. It holds each document as a tree. */
import type { StandaloneXsdSet } from '../../engine/xsd/standalone-set.ts';
import { AppError } from '../../errors.ts';
import type { DocumentValidator, Validity } from '../../ports/document-validator.ts';
import { addFault, uncheckable, validityFault, type FaultList } from './validity-messages.ts';

/** A tree takes ten times its document. */
const maxDocumentBytes = 50 * 1024 * 1024;
const program = 'libxml2 (WebAssembly)';

export async function createLibxml2Validator(set: StandaloneXsdSet): Promise<DocumentValidator> {
  const {
    ParseOption,
    XmlBufferInputProvider,
    XmlDocument,
    XmlLibError,
    XmlValidateError,
    XsdValidator,
    xmlCleanupInputProvider,
    xmlRegisterInputProvider,
  } = await import('libxml2-wasm');
  const option = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_BIG_LINES | ParseOption.XML_PARSE_HUGE;
  const contents = Object.fromEntries(set.files.map(({ name, bytes }) => [`/set/${name}`, bytes]));
  // nothing but the set can be opened
  xmlRegisterInputProvider(new XmlBufferInputProvider(contents));
  const fail = (error: unknown): never => {
    if (!(error instanceof XmlLibError)) throw error;
    throw uncheckable(
      program,
      set,
      error.details.map(({ file = '', line, message }) => ({
        file: file.replace(/^\/set\//, ''),
        line,
        message,
      })),
    );
  };
  let schema: InstanceType<typeof XmlDocument> | null = null;
  let validator: ReturnType<typeof XsdValidator.fromDoc>;
  try {
    schema = XmlDocument.fromBuffer(contents[`/set/${set.main}`]!, { url: `/set/${set.main}`, option });
    validator = XsdValidator.fromDoc(schema);
  } catch (error) {
    schema?.dispose();
    xmlCleanupInputProvider();
    return fail(error);
  }

  function checkOne(bytes: Uint8Array): Validity {
    const list: FaultList = { faults: [], count: 0 };
    const document = XmlDocument.fromBuffer(bytes, { option });
    try {
      validator.validate(document);
    } catch (error) {
      if (!(error instanceof XmlValidateError)) throw error;
      for (const { line, message } of error.details) addFault(list, validityFault(line, message));
      if (list.count === 0) addFault(list, validityFault(1, error.message));
    } finally {
      document.dispose();
    }
    return list;
  }

  return {
    program,
    maxTextBytes: Infinity,
    checkAll: (documents) => Promise.resolve(documents.map(checkOne)),
    async check(chunks) {
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxDocumentBytes)
          throw new AppError(
            'unprocessable_input',
            `--validate: a document of more than ${maxDocumentBytes / 1024 / 1024} MB is checked by xmllint only: install it (libxml2-utils)`,
          );
        parts.push(chunk);
      }
      return checkOne(new Uint8Array(Buffer.concat(parts)));
    },
    async close() {
      validator.dispose();
      schema.dispose();
      xmlCleanupInputProvider();
    },
  };
}
