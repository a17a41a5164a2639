/** The public surface: the application, what it must be given, and the parts that can be given to it. */
export { createApp } from './app.ts';
export { readConfig } from './config.ts';
export type { Config } from './config.ts';
export { AppError, errorCatalogue } from './errors.ts';
export type { ErrorCode, ErrorDetail } from './errors.ts';
export type {
  AboutApi,
  AdminApi,
  CilApi,
  DiagramsApi,
  ExecutionsApi,
  FilesApi,
  MappingsApi,
  MigrationApi,
  RunApi,
  SchemasApi,
  WorkflowsApi,
} from './http/client-types.ts';
export { issueKey } from './access/issue-key.ts';
export type { AccessStore, Scope } from './ports/access-store.ts';
export { allScopes } from './ports/access-store.ts';
export type { Adapters, BuildInfo, RuntimeInfo } from './ports/adapters.ts';
export type { AssetStore } from './ports/asset-store.ts';
export type { CatalogStore } from './ports/catalog-store.ts';
export type { Clock } from './ports/clock.ts';
export type { FileStore } from './ports/file-store.ts';
export type { HealthComponent, HealthProbe, HealthStatus } from './ports/health-probe.ts';
export type { JobStore } from './ports/job-store.ts';
export type { Logger } from './ports/logger.ts';
export type { MigrationProgram } from './ports/migration-program.ts';
export type { HostResolver } from './ports/outgoing.ts';
export type { CompiledSchema, FindCompiled, SchemaCompiler, SchemaSources } from './ports/schema-compiler.ts';
export type { SecretBox } from './ports/secret-box.ts';
