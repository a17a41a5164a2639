/** Records as they go over the wire, where those of the service itself are another shape. */
import type { JobRecord } from '../../jobs/record.ts';
import type { StatusLetter } from '../../jobs/status-letters.ts';

export type ShownJob = Omit<JobRecord, 'status'> & { readonly status: StatusLetter };
