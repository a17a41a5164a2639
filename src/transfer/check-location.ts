/** Whether a cloud location that a request names may be copied to or from. */
import type { OutgoingGuard } from '../access/outgoing-guard.ts';
import { AppError } from '../errors.ts';
import type { TransferRequest } from '../ports/processes/transfer-program.ts';
import { parseCloudLocation } from './cloud-location.ts';
import type { CloudLocation } from './cloud-location.ts';

export interface CheckedLocation {
  readonly location: CloudLocation;
  /** members of the request file: the location, and the addresses that were checked */
  fields(member: string): TransferRequest;
}

/** AppError `invalid_body` for a wrong form, `host_not_allowed` for a host that the operator has not allowed. */
export async function checkLocation(
  text: string,
  pointer: string,
  guard: OutgoingGuard,
): Promise<CheckedLocation> {
  const location = parseCloudLocation(text);
  if ('fault' in location) {
    throw new AppError('invalid_body', `${pointer.slice(1)} ${location.fault}`, {
      errors: [{ pointer, detail: location.fault }],
    });
  }
  const { addresses } = await guard.checkUrl(location.url);
  return { location, fields: (member) => ({ [member]: text, az_addresses: addresses }) };
}
