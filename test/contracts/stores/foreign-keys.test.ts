/** Deleting or renumbering a referenced row must not scan the tables that refer to it. */
import { expect, test } from 'vitest';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();

test('every foreign key of the metadata database has an index that its check can use', async () => {
  const { sql } = await trial.database();
  // An index serves the check if it begins with the key's columns, in any order, and holds every row whose columns are not null.
  const rows = await sql<{ key: string }[]>`
    select c.conrelid::regclass || '.' || c.conname as key
      from pg_constraint c
     where c.contype = 'f' and c.connamespace = 'svc'::regnamespace
       and not exists (
         select from pg_index i
          where i.indrelid = c.conrelid and i.indisvalid
            and (select array_agg(k order by k) from unnest((i.indkey::int2[])[0:cardinality(c.conkey) - 1]) k)
                = (select array_agg(k order by k) from unnest(c.conkey) k)
            and (i.indpred is null
                 or pg_get_expr(i.indpred, i.indrelid) ~ '^[(][a-z_]+ IS NOT NULL[)]$'))
     order by 1`;
  expect(rows.map(({ key }) => key)).toEqual([]);
});
