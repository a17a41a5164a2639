/** Bodies of run requests: tools with options that they have, and values that fit them or not. */
import type { Random } from '../random.ts';
import type { Records } from './records.ts';
import { texts } from './values.ts';

const flags = (
  '--default-varchar-len --document --engine --extra-column --format --in --job --json --keys --logical --map --missing --name ' +
  '--name-max-len --namemode --no-samples --on-error --origin --out --out-password --out-user --parent --parsemode --prefix --prune ' +
  '--rename --root --row-tag --savemode --skip --skip-loaded --spark-conf --suffix --tables --unmapped --use-stats --validate ' +
  '--workers -D -R -S -a -e -f -g -i -j -l -o -p -r -s -u -x -y'
).split(' ');
const values = (
  '0 1 2 3 63 -1 o a w x all skip fail abort csv tsv jsonl parquet postgresql duckdb metadb:fuzz metadb:svc metadb: out/x out/../../x ' +
  '/etc duckdb:out/x.duckdb postgresql://127.0.0.1:1/x postgresql://u:p@169.254.169.254/x sqlserver://h/x az://a/b s3://b/k ' +
  'https://h.blob.core.windows.net/c?sig=x a=b a=$JOB c:text:now load_date=date:2024-01-01 (?<a>x)+$ (a+)+$ shipment feed/item hash'
).split(' ');

export function runBody(random: Random, records: Records): unknown {
  const pick = (from: readonly string[]): string => random.pick(from.length === 0 ? texts : from);
  const option = () => {
    const enabled = random.pick(['true', true, 'false', undefined, 'x']);
    return {
      command: random.chance(0.95) ? random.pick(flags) : random.pick(texts),
      ...(enabled === undefined ? {} : { enabled }),
      ...(random.chance(0.75)
        ? { value: random.chance(0.8) ? random.pick(values) : random.pick(texts) }
        : {}),
    };
  };
  const executions = Array.from({ length: 1 + random.below(2) }, (_, index) => ({
    app_name: random.chance(0.95) ? random.pick(['xml2er', 'xsd2er', 'er2xml']) : random.pick(texts),
    source: {
      file: { command: random.chance(0.8) ? pick(records.of('path')) : random.pick(texts) },
      ...(random.chance(0.6)
        ? {
            origin_id: {
              command: '-x',
              enabled: true,
              value: index > 0 ? '$0' : random.chance(0.8) ? pick(records.of('id_sch')) : random.pick(texts),
            },
          }
        : {}),
    },
    target: {
      ...(random.chance(0.4)
        ? {
            path: {
              command: '-o',
              enabled: true,
              value: random.chance(0.8) ? random.pick(values) : random.pick(texts),
            },
          }
        : {}),
      generation: Array.from({ length: random.below(4) }, option),
    },
  }));
  return { executions, ...(random.chance(0.3) ? { name: random.pick(texts) } : {}) };
}
