/** What `npm run faults` counts: rows that are missing, that are there twice, and that hang from no document. */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { countRows, type CountedDatabase } from '../../scripts/faults/census.ts';

const document = { path: '', bytes: 0, shipments: 1, packages: 2, goods: 4, weightMillionths: 0n };

/** Two jobs, each with a document of one shipment, whose package holds another one. */
function loaded(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(`
    CREATE TABLE _documents (document_key, job); CREATE TABLE _loads (job);
    CREATE TABLE manifest (manifest_key, document_key); CREATE TABLE shipment (shipment_key, manifest_key);
    CREATE TABLE package (package_key, shipment_key, parent_package_key); CREATE TABLE goods (goods_key, package_key)`);
  for (const job of [1, 2])
    database.exec(`
      INSERT INTO _documents VALUES (${job}, ${job}); INSERT INTO _loads VALUES (${job});
      INSERT INTO manifest VALUES (${job}, ${job}); INSERT INTO shipment VALUES (${job}, ${job});
      INSERT INTO package VALUES (${job * 10}, ${job}, NULL), (${job * 10 + 1}, NULL, ${job * 10});
      INSERT INTO goods VALUES (${job * 100}, ${job * 10}), (${job * 100 + 1}, ${job * 10}), (${job * 100 + 2}, ${job * 10 + 1}), (${job * 100 + 3}, ${job * 10 + 1})`);
  return database;
}

function counted(database: DatabaseSync): CountedDatabase {
  return {
    isPresent: async () => true,
    ask: async (query) => database.prepare(query).all().map(Object.values),
    prefix: '',
  };
}

describe('the census of a cycle', () => {
  it.each([
    ['nothing', '', [1, 2], { lost: 0, doubled: 0 }],
    ['a row that went', 'DELETE FROM goods WHERE goods_key = 102', [1, 2], { lost: 1, doubled: 0 }],
    ['a row that came twice', 'INSERT INTO goods VALUES (104, 11)', [1, 2], { lost: 0, doubled: 1 }],
    ['a job that left rows and did not end well', '', [2], { lost: 0, doubled: 7 }],
    ['a job that ended well and left nothing', '', [1, 2, 3], { lost: 7, doubled: 0 }],
    [
      'a document without its rows',
      'DELETE FROM manifest WHERE manifest_key = 2',
      [1, 2],
      { lost: 7, doubled: 7 },
    ],
    ['a job that is told of twice', 'INSERT INTO _loads VALUES (1)', [1, 2], { lost: 0, doubled: 1 }],
  ])('%s', async (_, change, completed, expected) => {
    const database = loaded();
    database.exec(change);
    expect(await countRows(counted(database), document, completed)).toEqual(expected);
    database.close();
  });

  it('counts all of it lost where nothing is there', async () => {
    const nowhere = { ...counted(loaded()), isPresent: async () => false };
    expect(await countRows(nowhere, document, [1])).toEqual({ lost: 7, doubled: 0 });
  });
});
