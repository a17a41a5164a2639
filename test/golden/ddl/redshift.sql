CREATE SCHEMA IF NOT EXISTS "lib""rary";

CREATE TABLE IF NOT EXISTS "lib""rary"."_documents" (
  "document_key" BIGINT NOT NULL,
  "name" VARCHAR(65535),
  "sha256" VARCHAR(64),
  "bytes" BIGINT,
  "loaded_at" TIMESTAMPTZ,
  "job" BIGINT,
  "job_uuid" VARCHAR(36),
  PRIMARY KEY ("document_key")
);
COMMENT ON TABLE "lib""rary"."_documents" IS 'documents that were loaded';
COMMENT ON COLUMN "lib""rary"."_documents"."document_key" IS 'document';
COMMENT ON COLUMN "lib""rary"."_documents"."name" IS 'name of the file, or of the member of an archive';
COMMENT ON COLUMN "lib""rary"."_documents"."sha256" IS 'SHA-256 of its bytes, hexadecimal';
COMMENT ON COLUMN "lib""rary"."_documents"."bytes" IS 'size';
COMMENT ON COLUMN "lib""rary"."_documents"."loaded_at" IS 'time at which it was read';
COMMENT ON COLUMN "lib""rary"."_documents"."job" IS 'number of the job that loaded it';
COMMENT ON COLUMN "lib""rary"."_documents"."job_uuid" IS 'UUID of that job';

CREATE TABLE "lib""rary"."library" (
  "library_key" BIGINT NOT NULL,
  "document_key" BIGINT,
  "name" VARCHAR(320) NOT NULL,
  "founded" DATE,
  "opened_at" TIMESTAMPTZ,
  "is_public" BOOLEAN,
  PRIMARY KEY ("library_key"),
  FOREIGN KEY ("document_key") REFERENCES "lib""rary"."_documents" ("document_key")
);
COMMENT ON TABLE "lib""rary"."library" IS '/library: The library''s own row; -- DROP TABLE "x"; */ {braces} \\ ''quoted''';
COMMENT ON COLUMN "lib""rary"."library"."library_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."library"."document_key" IS 'document, as in _documents';
COMMENT ON COLUMN "lib""rary"."library"."name" IS '/library/name';
COMMENT ON COLUMN "lib""rary"."library"."founded" IS '/library/founded';
COMMENT ON COLUMN "lib""rary"."library"."opened_at" IS '/library/opened_at';
COMMENT ON COLUMN "lib""rary"."library"."is_public" IS '/library/is_public';

CREATE TABLE "lib""rary"."book" (
  "book_key" BIGINT NOT NULL,
  "library_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "isbn" VARCHAR(68) NOT NULL,
  "title" VARCHAR(65535) NOT NULL,
  "price" DECIMAL(10,2),
  "weight" DECIMAL(38,18),
  "pages" INTEGER,
  "volume" SMALLINT,
  "score" DOUBLE PRECISION,
  "rating" REAL,
  "closes" TIME,
  "printed" TIMESTAMP,
  "keywords_count" INTEGER,
  "years_count" INTEGER NOT NULL,
  "serial" VARCHAR(65535),
  PRIMARY KEY ("book_key"),
  CONSTRAINT "book_isbn" UNIQUE ("isbn"),
  CONSTRAINT "book_title" UNIQUE ("title", "pages"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key")
);
COMMENT ON TABLE "lib""rary"."book" IS '/library/book';
COMMENT ON COLUMN "lib""rary"."book"."book_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."book"."library_key" IS 'key of the parent row in library';
COMMENT ON COLUMN "lib""rary"."book"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."book"."isbn" IS '/library/book/@isbn';
COMMENT ON COLUMN "lib""rary"."book"."title" IS '/library/title';
COMMENT ON COLUMN "lib""rary"."book"."price" IS '/library/price';
COMMENT ON COLUMN "lib""rary"."book"."weight" IS '/library/weight';
COMMENT ON COLUMN "lib""rary"."book"."pages" IS '/library/pages';
COMMENT ON COLUMN "lib""rary"."book"."volume" IS '/library/volume';
COMMENT ON COLUMN "lib""rary"."book"."score" IS '/library/score';
COMMENT ON COLUMN "lib""rary"."book"."rating" IS '/library/rating';
COMMENT ON COLUMN "lib""rary"."book"."closes" IS '/library/closes';
COMMENT ON COLUMN "lib""rary"."book"."printed" IS '/library/printed';
COMMENT ON COLUMN "lib""rary"."book"."keywords_count" IS '/library/keywords: number of items, NULL if the list is absent';
COMMENT ON COLUMN "lib""rary"."book"."years_count" IS '/library/years: number of items';
COMMENT ON COLUMN "lib""rary"."book"."serial" IS '/library/serial';

CREATE TABLE "lib""rary"."person" (
  "person_key" BIGINT NOT NULL,
  "library_key" BIGINT,
  "book_key" BIGINT,
  "position" INTEGER NOT NULL,
  "name" VARCHAR(65535),
  "born" DATE,
  PRIMARY KEY ("person_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
);
COMMENT ON TABLE "lib""rary"."person" IS '/library/person';
COMMENT ON COLUMN "lib""rary"."person"."person_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."person"."library_key" IS 'key of the parent row in library';
COMMENT ON COLUMN "lib""rary"."person"."book_key" IS 'key of the parent row in book';
COMMENT ON COLUMN "lib""rary"."person"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."person"."name" IS '/library/name';
COMMENT ON COLUMN "lib""rary"."person"."born" IS '/library/born';

CREATE TABLE "lib""rary"."section" (
  "section_key" BIGINT NOT NULL,
  "book_key" BIGINT,
  "parent_section_key" BIGINT,
  "position" INTEGER NOT NULL,
  "heading" VARCHAR(65535),
  PRIMARY KEY ("section_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key"),
  FOREIGN KEY ("parent_section_key") REFERENCES "lib""rary"."section" ("section_key")
);
COMMENT ON TABLE "lib""rary"."section" IS '/library/section';
COMMENT ON COLUMN "lib""rary"."section"."section_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."section"."book_key" IS 'key of the parent row in book';
COMMENT ON COLUMN "lib""rary"."section"."parent_section_key" IS 'key of the parent row in section';
COMMENT ON COLUMN "lib""rary"."section"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."section"."heading" IS '/library/heading';

CREATE TABLE "lib""rary"."section_text" (
  "section_text_key" BIGINT NOT NULL,
  "section_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "content" VARCHAR(65535),
  PRIMARY KEY ("section_text_key"),
  FOREIGN KEY ("section_key") REFERENCES "lib""rary"."section" ("section_key")
);
COMMENT ON TABLE "lib""rary"."section_text" IS '/library/section_text (text runs)';
COMMENT ON COLUMN "lib""rary"."section_text"."section_text_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."section_text"."section_key" IS 'key of the parent row in section';
COMMENT ON COLUMN "lib""rary"."section_text"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."section_text"."content" IS '/library/book/section';

CREATE TABLE "lib""rary"."group" (
  "group_key" BIGINT NOT NULL,
  "library_key" BIGINT,
  "note_key" BIGINT,
  "position" INTEGER NOT NULL,
  "label" VARCHAR(65535),
  PRIMARY KEY ("group_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key")
);
COMMENT ON TABLE "lib""rary"."group" IS '/library/group';
COMMENT ON COLUMN "lib""rary"."group"."group_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."group"."library_key" IS 'key of the parent row in library';
COMMENT ON COLUMN "lib""rary"."group"."note_key" IS 'key of the parent row in note';
COMMENT ON COLUMN "lib""rary"."group"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."group"."label" IS '/library/label';

CREATE TABLE "lib""rary"."note" (
  "note_key" BIGINT NOT NULL,
  "group_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "label" VARCHAR(65535),
  PRIMARY KEY ("note_key"),
  FOREIGN KEY ("group_key") REFERENCES "lib""rary"."group" ("group_key")
);
COMMENT ON TABLE "lib""rary"."note" IS '/library/note';
COMMENT ON COLUMN "lib""rary"."note"."note_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."note"."group_key" IS 'key of the parent row in group';
COMMENT ON COLUMN "lib""rary"."note"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."note"."label" IS '/library/label';

CREATE TABLE "lib""rary"."odd ""name"" 😀" (
  "odd_key" BIGINT NOT NULL,
  "library_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "it's" VARCHAR(65535),
  "a]b" VARCHAR(65535),
  "back`tick" VARCHAR(65535),
  "back\slash" VARCHAR(65535),
  "per%cent" VARCHAR(65535),
  "select" VARCHAR(65535),
  PRIMARY KEY ("odd_key"),
  FOREIGN KEY ("library_key") REFERENCES "lib""rary"."library" ("library_key")
);
COMMENT ON TABLE "lib""rary"."odd ""name"" 😀" IS '/library/odd "name" 😀';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."odd_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."library_key" IS 'key of the parent row in library';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."it's" IS '/library/it''s';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."a]b" IS '/library/a]b';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."back`tick" IS '/library/back`tick';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."back\slash" IS '/library/back\\slash';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."per%cent" IS '/library/per%cent';
COMMENT ON COLUMN "lib""rary"."odd ""name"" 😀"."select" IS '/library/select';

CREATE TABLE "lib""rary"."book_keywords" (
  "book_keywords_key" BIGINT NOT NULL,
  "book_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "keywords" VARCHAR(65535) NOT NULL,
  PRIMARY KEY ("book_keywords_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
);
COMMENT ON TABLE "lib""rary"."book_keywords" IS '/library/keywords: items of the list book.keywords';
COMMENT ON COLUMN "lib""rary"."book_keywords"."book_keywords_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."book_keywords"."book_key" IS 'key of the parent row in book';
COMMENT ON COLUMN "lib""rary"."book_keywords"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."book_keywords"."keywords" IS '/library/keywords';

CREATE TABLE "lib""rary"."book_years" (
  "book_years_key" BIGINT NOT NULL,
  "book_key" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "years" INTEGER NOT NULL,
  PRIMARY KEY ("book_years_key"),
  FOREIGN KEY ("book_key") REFERENCES "lib""rary"."book" ("book_key")
);
COMMENT ON TABLE "lib""rary"."book_years" IS '/library/years: items of the list book.years';
COMMENT ON COLUMN "lib""rary"."book_years"."book_years_key" IS 'row key';
COMMENT ON COLUMN "lib""rary"."book_years"."book_key" IS 'key of the parent row in book';
COMMENT ON COLUMN "lib""rary"."book_years"."position" IS 'position among the children of its parent, from 1';
COMMENT ON COLUMN "lib""rary"."book_years"."years" IS '/library/years';

CREATE TABLE IF NOT EXISTS "lib""rary"."_loads" (
  "job_uuid" VARCHAR(36) NOT NULL,
  "job" BIGINT NOT NULL,
  "installation" VARCHAR(255) NOT NULL,
  "id_sch" BIGINT,
  "id_lschma" BIGINT,
  "model_sha256" VARCHAR(64),
  "published_at" TIMESTAMPTZ NOT NULL,
  "documents" BIGINT NOT NULL,
  "rows" BIGINT NOT NULL,
  PRIMARY KEY ("job_uuid")
);
COMMENT ON TABLE "lib""rary"."_loads" IS 'jobs that were published in this target';
COMMENT ON COLUMN "lib""rary"."_loads"."job_uuid" IS 'identifies the job';
COMMENT ON COLUMN "lib""rary"."_loads"."job" IS 'its number in the metadata database';
COMMENT ON COLUMN "lib""rary"."_loads"."installation" IS 'UUID of the metadata database';
COMMENT ON COLUMN "lib""rary"."_loads"."id_sch" IS 'number of the origin there';
COMMENT ON COLUMN "lib""rary"."_loads"."id_lschma" IS 'number of the logical schema there';
COMMENT ON COLUMN "lib""rary"."_loads"."model_sha256" IS 'SHA-256 of its model, which identifies the logical schema';
COMMENT ON COLUMN "lib""rary"."_loads"."published_at" IS 'time at which its rows became visible';
COMMENT ON COLUMN "lib""rary"."_loads"."documents" IS 'documents that it added, minus those that it removed';
COMMENT ON COLUMN "lib""rary"."_loads"."rows" IS 'rows that it added, minus those that it removed';

CREATE TABLE IF NOT EXISTS "lib""rary"."_unmapped" (
  "document_key" BIGINT NOT NULL,
  "parent_table" VARCHAR(255),
  "parent_key" BIGINT,
  "position" BIGINT,
  "xpath" VARCHAR(65535),
  "kind" VARCHAR(16),
  "content" VARCHAR(65535)
);
COMMENT ON TABLE "lib""rary"."_unmapped" IS 'content that the schema does not declare';
COMMENT ON COLUMN "lib""rary"."_unmapped"."document_key" IS 'document';
COMMENT ON COLUMN "lib""rary"."_unmapped"."parent_table" IS 'table of the row that it belongs to';
COMMENT ON COLUMN "lib""rary"."_unmapped"."parent_key" IS 'key of that row';
COMMENT ON COLUMN "lib""rary"."_unmapped"."position" IS 'position among the children of its parent';
COMMENT ON COLUMN "lib""rary"."_unmapped"."xpath" IS 'its path in the document';
COMMENT ON COLUMN "lib""rary"."_unmapped"."kind" IS 'kind: element, attribute, text and others';
COMMENT ON COLUMN "lib""rary"."_unmapped"."content" IS 'the content; markup has its own namespace declarations';

CREATE TABLE IF NOT EXISTS "lib""rary"."_lexical" (
  "document_key" BIGINT NOT NULL,
  "table_name" VARCHAR(255) NOT NULL,
  "row_key" BIGINT NOT NULL,
  "column_name" VARCHAR(255) NOT NULL,
  "content" VARCHAR(65535)
);
COMMENT ON TABLE "lib""rary"."_lexical" IS 'original texts of values that their column cannot return exactly';
COMMENT ON COLUMN "lib""rary"."_lexical"."document_key" IS 'document';
COMMENT ON COLUMN "lib""rary"."_lexical"."table_name" IS 'table of the value';
COMMENT ON COLUMN "lib""rary"."_lexical"."row_key" IS 'key of its row';
COMMENT ON COLUMN "lib""rary"."_lexical"."column_name" IS 'column of the value';
COMMENT ON COLUMN "lib""rary"."_lexical"."content" IS 'the value as written';

CREATE TABLE IF NOT EXISTS "lib""rary"."_keys" (
  "table_name" VARCHAR(255) NOT NULL,
  "last_value" BIGINT NOT NULL,
  PRIMARY KEY ("table_name")
);
COMMENT ON TABLE "lib""rary"."_keys" IS 'highest row key of each table';
COMMENT ON COLUMN "lib""rary"."_keys"."table_name" IS 'table';
COMMENT ON COLUMN "lib""rary"."_keys"."last_value" IS 'highest key that was given out';

ALTER TABLE "lib""rary"."group" ADD FOREIGN KEY ("note_key") REFERENCES "lib""rary"."note" ("note_key");
