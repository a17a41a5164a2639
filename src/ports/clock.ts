/** Wall time of the process. It never decides about leases: those use the database's clock. */
export interface Clock {
  /** epoch milliseconds */
  nowMs(): number;
}
