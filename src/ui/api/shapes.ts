/** Records as in the API, if their shape differs from that of the service itself. */
import type { JobRecord } from '../../jobs/record.ts';
import type { StatusLetter } from '../../jobs/status-letters.ts';

export type ShownJob = Omit<JobRecord, 'status'> & { readonly status: StatusLetter };
