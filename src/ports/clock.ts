/** Wall time of the process, for what never decides about leases: those use the database's clock. */
export interface Clock {
  /** epoch milliseconds */
  nowMs(): number;
}
