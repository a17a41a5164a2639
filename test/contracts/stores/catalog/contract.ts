/** What every catalog store does. */
import { describeModels } from './origins.ts';
import type { CatalogStoreFixture } from './models.ts';
import { describeUses } from './uses.ts';

export { emptySourceModel } from './models.ts';
export type { CatalogStoreFixture } from './models.ts';

export function describeCatalogStore(name: string, open: () => Promise<CatalogStoreFixture>): void {
  describeModels(name, open);
  describeUses(name, open);
}
