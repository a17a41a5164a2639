/** Signatures of a short time that requests for blobs of an Azure storage account carry in their address. */
import type { SourceAccess } from '../../config/shape.ts';

/** validity of a signature, and the remaining validity at which the next is made */
const signatureMs = 3_600_000;
const restMs = 1_200_000;

/** Adds the signature to an address. It permits reading and listing that container, or also writing there, and nothing else. */
export function createBlobSignatures(
  access: Extract<SourceAccess, { kind: 'az' }>,
  container: string,
  use: 'read' | 'write' = 'read',
): (url: URL) => Promise<URL> {
  let made: { readonly query: string; readonly until: number } | null = null;
  return async (url) => {
    if (access.token === null && (made === null || made.until - Date.now() < restMs)) {
      const blob = await import('@azure/storage-blob');
      const until = Date.now() + signatureMs;
      const query = blob.generateBlobSASQueryParameters(
        {
          containerName: container,
          permissions: blob.ContainerSASPermissions.parse(use === 'read' ? 'rl' : 'rcwdl'),
          expiresOn: new Date(until),
        },
        new blob.StorageSharedKeyCredential(access.account, access.key ?? ''),
      );
      made = { query: query.toString(), until };
    }
    const signed = new URL(url);
    for (const [name, value] of new URLSearchParams(access.token ?? made!.query))
      signed.searchParams.set(name, value);
    return signed;
  };
}
