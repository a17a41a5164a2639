/** Leases are short, so that a lost worker is noticed soon. */
export const shortLeases = { 'svc.limits.lease': '2 s', 'svc.limits.heartbeat': '500 ms' };
