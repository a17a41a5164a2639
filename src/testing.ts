/**
 * The entry `conversion-job-service/testing`: contracts of the adapters that a host application may bring, for its own tests. Each is a
 * list of cases that any test runner can run: `for (const { name, run } of rowStoreContract(open)) test(name, run);`
 */
export type { ContractCase } from './testing/cases.ts';
export { fileStoreContract } from './testing/file-contract.ts';
export { rowStoreContract } from './testing/row-contract.ts';
export { processRunnerContract } from './testing/runner-contract.ts';
