/** What is behind the interface: numbers and names of records that are there, by what an operation calls them. */

export interface Records {
  /** Values known under a name of the interface; none when it names nothing that is stored. */
  of(name: string): readonly string[];
  /** Takes up all that an answer tells of. */
  learn(answer: unknown): void;
}

/** Names of the interface for the same thing. */
const kinds: Readonly<Record<string, string>> = {
  idSch: 'id_sch',
  from: 'id_sch',
  to: 'id_sch',
  origin_id: 'id_sch',
  from_lschma: 'id_lschma',
  to_lschma: 'id_lschma',
  idJob: 'id_job',
  pid: 'id_job',
  jobs: 'id_job',
  ids: 'id_map',
  xpaths: 'xpath',
  token: 'token',
};
const known = new Set(
  'id_sch id_lschma id_job id_workflow id_map id_key id_org xpath table_name column_name cfxml mapping path token'.split(
    ' ',
  ),
);
const most = 12;

/** `outer`: records of all sequences, behind those of this one. */
export function createRecords(outer?: Records): Records {
  const values = new Map<string, string[]>();
  const add = (name: string, value: unknown): void => {
    const kind = kinds[name] ?? name;
    if (!known.has(kind) || (typeof value !== 'number' && typeof value !== 'string')) return;
    const list = values.get(kind) ?? [];
    values.set(kind, list);
    if (!list.includes(String(value)) && list.length < most) list.push(String(value));
  };
  const learn = (answer: unknown): void => {
    if (typeof answer !== 'object' || answer === null) return;
    if (Array.isArray(answer)) return answer.slice(0, most).forEach(learn);
    for (const [name, value] of Object.entries(answer)) {
      if (Array.isArray(value)) for (const one of value.slice(0, most)) add(name, one);
      add(name, value);
      learn(value);
    }
  };
  return {
    of(name) {
      const kind = kinds[name] ?? name;
      return [...(values.get(kind) ?? []), ...(outer?.of(kind) ?? [])];
    },
    learn,
  };
}
