CREATE TABLE IF NOT EXISTS "lib""rary"."_documents" (
  "document_key" INTEGER NOT NULL /* document */,
  "name" TEXT /* name of the file, or of the member of an archive */,
  "sha256" VARCHAR(64) /* SHA-256 of its bytes, hexadecimal */,
  "bytes" INTEGER /* size */,
  "loaded_at" DATETIME /* time at which it was read */,
  "job" INTEGER /* number of the job that loaded it */,
  "job_uuid" VARCHAR(36) /* UUID of that job */,
  PRIMARY KEY ("document_key")
) /* documents that were loaded */;

CREATE TABLE "lib""rary"."library" (
  "library_key" INTEGER NOT NULL /* row key */,
  "document_key" INTEGER /* document, as in _documents */,
  "name" VARCHAR(80) NOT NULL /* /library/name */,
  "founded" DATE /* /library/founded */,
  "opened_at" DATETIME /* /library/opened_at */,
  "is_public" BOOLEAN /* /library/is_public */,
  PRIMARY KEY ("library_key"),
  FOREIGN KEY ("document_key") REFERENCES "lib""rary"."_documents" ("document_key")
) /* /library: The library's own row; -- DROP TABLE "x"; * / {braces} \ 'quoted' */;

CREATE TABLE "lib""rary"."book" (
  "book_key" INTEGER NOT NULL /* row key */,
  "library_key" INTEGER NOT NULL /* key of the parent row in library */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "isbn" VARCHAR(17) NOT NULL /* /library/book/@isbn */,
  "title" TEXT NOT NULL /* /library/title */,
  "price" NUMERIC(10,2) /* /library/price */,
  "weight" TEXT /* /library/weight */,
  "pages" INTEGER /* /library/pages */,
  "volume" INTEGER /* /library/volume */,
  "score" REAL /* /library/score */,
  "rating" REAL /* /library/rating */,
  "closes" TIME /* /library/closes */,
  "printed" DATETIME /* /library/printed */,
  "keywords_count" INTEGER /* /library/keywords: number of items, NULL if the list is absent */,
  "years_count" INTEGER NOT NULL /* /library/years: number of items */,
  "serial" TEXT /* /library/serial */,
  PRIMARY KEY ("book_key"),
  CONSTRAINT "book_isbn" UNIQUE ("isbn"),
  CONSTRAINT "book_title" UNIQUE ("title", "pages"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key")
) /* /library/book */;

CREATE TABLE "lib""rary"."person" (
  "person_key" INTEGER NOT NULL /* row key */,
  "library_key" INTEGER /* key of the parent row in library */,
  "book_key" INTEGER /* key of the parent row in book */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "name" TEXT /* /library/name */,
  "born" DATE /* /library/born */,
  PRIMARY KEY ("person_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
) /* /library/person */;

CREATE TABLE "lib""rary"."section" (
  "section_key" INTEGER NOT NULL /* row key */,
  "book_key" INTEGER /* key of the parent row in book */,
  "parent_section_key" INTEGER /* key of the parent row in section */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "heading" TEXT /* /library/heading */,
  PRIMARY KEY ("section_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key"),
  FOREIGN KEY ("parent_section_key") REFERENCES "lib""rary"."section" ("section_key")
) /* /library/section */;

CREATE TABLE "lib""rary"."section_text" (
  "section_text_key" INTEGER NOT NULL /* row key */,
  "section_key" INTEGER NOT NULL /* key of the parent row in section */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "content" TEXT /* /library/book/section */,
  PRIMARY KEY ("section_text_key"),
  FOREIGN KEY ("section_key") REFERENCES "lib""rary"."section" ("section_key")
) /* /library/section_text (text runs) */;

CREATE TABLE "lib""rary"."group" (
  "group_key" INTEGER NOT NULL /* row key */,
  "library_key" INTEGER /* key of the parent row in library */,
  "note_key" INTEGER /* key of the parent row in note */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "label" TEXT /* /library/label */,
  PRIMARY KEY ("group_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key"),
  FOREIGN KEY ("note_key") REFERENCES "lib""rary"."note" ("note_key") DEFERRABLE INITIALLY DEFERRED
) /* /library/group */;

CREATE TABLE "lib""rary"."note" (
  "note_key" INTEGER NOT NULL /* row key */,
  "group_key" INTEGER NOT NULL /* key of the parent row in group */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "label" TEXT /* /library/label */,
  PRIMARY KEY ("note_key"),
  FOREIGN KEY ("group_key") REFERENCES "lib""rary"."group" ("group_key")
) /* /library/note */;

CREATE TABLE "lib""rary"."odd ""name"" 😀" (
  "odd_key" INTEGER NOT NULL /* row key */,
  "library_key" INTEGER NOT NULL /* key of the parent row in library */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "it's" TEXT /* /library/it's */,
  "a]b" TEXT /* /library/a]b */,
  "back`tick" TEXT /* /library/back`tick */,
  "back\slash" TEXT /* /library/back\slash */,
  "per%cent" TEXT /* /library/per%cent */,
  "select" TEXT /* /library/select */,
  PRIMARY KEY ("odd_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key")
) /* /library/odd "name" 😀 */;

CREATE TABLE "lib""rary"."book_keywords" (
  "book_keywords_key" INTEGER NOT NULL /* row key */,
  "book_key" INTEGER NOT NULL /* key of the parent row in book */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "keywords" TEXT NOT NULL /* /library/keywords */,
  PRIMARY KEY ("book_keywords_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
) /* /library/keywords: items of the list book.keywords */;

CREATE TABLE "lib""rary"."book_years" (
  "book_years_key" INTEGER NOT NULL /* row key */,
  "book_key" INTEGER NOT NULL /* key of the parent row in book */,
  "position" INTEGER NOT NULL /* position among the children of its parent, from 1 */,
  "years" INTEGER NOT NULL /* /library/years */,
  PRIMARY KEY ("book_years_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
) /* /library/years: items of the list book.years */;

CREATE TABLE IF NOT EXISTS "lib""rary"."_loads" (
  "job_uuid" VARCHAR(36) NOT NULL /* identifies the job */,
  "job" INTEGER NOT NULL /* its number in the metadata database */,
  "installation" VARCHAR(255) NOT NULL /* UUID of the metadata database */,
  "id_sch" INTEGER /* number of the origin there */,
  "id_lschma" INTEGER /* number of the logical schema there */,
  "model_sha256" VARCHAR(64) /* SHA-256 of its model, which identifies the logical schema */,
  "published_at" DATETIME NOT NULL /* time at which its rows became visible */,
  "documents" INTEGER NOT NULL /* documents that it added, minus those that it removed */,
  "rows" INTEGER NOT NULL /* rows that it added, minus those that it removed */,
  PRIMARY KEY ("job_uuid")
) /* jobs that were published in this target */;

CREATE TABLE IF NOT EXISTS "lib""rary"."_unmapped" (
  "document_key" INTEGER NOT NULL /* document */,
  "parent_table" VARCHAR(255) /* table of the row that it belongs to */,
  "parent_key" INTEGER /* key of that row */,
  "position" INTEGER /* position among the children of its parent */,
  "xpath" TEXT /* its path in the document */,
  "kind" VARCHAR(16) /* kind: element, attribute, text and others */,
  "content" TEXT /* the content; markup has its own namespace declarations */
) /* content that the schema does not declare */;
CREATE INDEX IF NOT EXISTS "_unmapped_document_key_idx" ON "lib""rary"."_unmapped" ("document_key");

CREATE TABLE IF NOT EXISTS "lib""rary"."_lexical" (
  "document_key" INTEGER NOT NULL /* document */,
  "table_name" VARCHAR(255) NOT NULL /* table of the value */,
  "row_key" INTEGER NOT NULL /* key of its row */,
  "column_name" VARCHAR(255) NOT NULL /* column of the value */,
  "content" TEXT /* the value as written */
) /* original texts of values that their column cannot return exactly */;
CREATE INDEX IF NOT EXISTS "_lexical_document_key_idx" ON "lib""rary"."_lexical" ("document_key");

CREATE TABLE IF NOT EXISTS "lib""rary"."_keys" (
  "table_name" VARCHAR(255) NOT NULL /* table */,
  "last_value" INTEGER NOT NULL /* highest key that was given out */,
  PRIMARY KEY ("table_name")
) /* highest row key of each table */;

CREATE INDEX "library_document_key_idx" ON "lib""rary"."library" ("document_key") WHERE "document_key" IS NOT NULL;

CREATE INDEX "book_library_key_idx" ON "lib""rary"."book" ("library_key");

CREATE INDEX "person_library_key_idx" ON "lib""rary"."person" ("library_key") WHERE "library_key" IS NOT NULL;
CREATE INDEX "person_book_key_idx" ON "lib""rary"."person" ("book_key") WHERE "book_key" IS NOT NULL;

CREATE INDEX "section_book_key_idx" ON "lib""rary"."section" ("book_key") WHERE "book_key" IS NOT NULL;
CREATE INDEX "section_parent_section_key_idx" ON "lib""rary"."section" ("parent_section_key") WHERE "parent_section_key" IS NOT NULL;

CREATE INDEX "section_text_section_key_idx" ON "lib""rary"."section_text" ("section_key");

CREATE INDEX "group_library_key_idx" ON "lib""rary"."group" ("library_key") WHERE "library_key" IS NOT NULL;
CREATE INDEX "group_note_key_idx" ON "lib""rary"."group" ("note_key") WHERE "note_key" IS NOT NULL;

CREATE INDEX "note_group_key_idx" ON "lib""rary"."note" ("group_key");

CREATE INDEX "odd ""name"" 😀_library_key_idx" ON "lib""rary"."odd ""name"" 😀" ("library_key");

CREATE INDEX "book_keywords_book_key_idx" ON "lib""rary"."book_keywords" ("book_key");

CREATE INDEX "book_years_book_key_idx" ON "lib""rary"."book_years" ("book_key");
