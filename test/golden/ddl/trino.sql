CREATE SCHEMA IF NOT EXISTS "lib""rary";

CREATE TABLE IF NOT EXISTS "lib""rary"."_documents" (
  "document_key" BIGINT NOT NULL COMMENT 'document',
  "name" VARCHAR COMMENT 'name of the file, or of the member of an archive',
  "sha256" VARCHAR(64) COMMENT 'SHA-256 of its bytes, hexadecimal',
  "bytes" BIGINT COMMENT 'size',
  "loaded_at" TIMESTAMP(6) WITH TIME ZONE COMMENT 'time at which it was read',
  "job" BIGINT COMMENT 'number of the job that loaded it',
  "job_uuid" VARCHAR(36) COMMENT 'UUID of that job'
) COMMENT 'documents that were loaded';

-- primary key of library: library_key
-- document_key refers to _documents (document_key)
CREATE TABLE "lib""rary"."library" (
  "library_key" BIGINT NOT NULL COMMENT 'row key',
  "document_key" BIGINT COMMENT 'document, as in _documents',
  "name" VARCHAR(80) NOT NULL COMMENT '/library/name',
  "founded" DATE COMMENT '/library/founded',
  "opened_at" TIMESTAMP(6) WITH TIME ZONE COMMENT '/library/opened_at',
  "is_public" BOOLEAN COMMENT '/library/is_public'
) COMMENT '/library: The library''s own row; -- DROP TABLE "x"; */ {braces} \ ''quoted''';

-- primary key of book: book_key
-- library_key refers to library (library_key)
CREATE TABLE "lib""rary"."book" (
  "book_key" BIGINT NOT NULL COMMENT 'row key',
  "library_key" BIGINT NOT NULL COMMENT 'key of the parent row in library',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "isbn" VARCHAR(17) NOT NULL COMMENT '/library/book/@isbn',
  "title" VARCHAR NOT NULL COMMENT '/library/title',
  "price" DECIMAL(10,2) COMMENT '/library/price',
  "weight" DECIMAL(38,18) COMMENT '/library/weight',
  "pages" INTEGER COMMENT '/library/pages',
  "volume" INTEGER COMMENT '/library/volume',
  "score" DOUBLE COMMENT '/library/score',
  "rating" REAL COMMENT '/library/rating',
  "closes" TIME(6) COMMENT '/library/closes',
  "printed" TIMESTAMP(6) COMMENT '/library/printed',
  "keywords" ARRAY(VARCHAR) COMMENT '/library/keywords',
  "years" ARRAY(INTEGER) NOT NULL COMMENT '/library/years',
  "serial" VARCHAR COMMENT '/library/serial'
) COMMENT '/library/book';

-- primary key of person: person_key
-- library_key refers to library (library_key)
-- book_key refers to book (book_key)
CREATE TABLE "lib""rary"."person" (
  "person_key" BIGINT NOT NULL COMMENT 'row key',
  "library_key" BIGINT COMMENT 'key of the parent row in library',
  "book_key" BIGINT COMMENT 'key of the parent row in book',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "name" VARCHAR COMMENT '/library/name',
  "born" DATE COMMENT '/library/born'
) COMMENT '/library/person';

-- primary key of section: section_key
-- book_key refers to book (book_key)
-- parent_section_key refers to section (section_key)
CREATE TABLE "lib""rary"."section" (
  "section_key" BIGINT NOT NULL COMMENT 'row key',
  "book_key" BIGINT COMMENT 'key of the parent row in book',
  "parent_section_key" BIGINT COMMENT 'key of the parent row in section',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "heading" VARCHAR COMMENT '/library/heading'
) COMMENT '/library/section';

-- primary key of section_text: section_text_key
-- section_key refers to section (section_key)
CREATE TABLE "lib""rary"."section_text" (
  "section_text_key" BIGINT NOT NULL COMMENT 'row key',
  "section_key" BIGINT NOT NULL COMMENT 'key of the parent row in section',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "content" VARCHAR COMMENT '/library/book/section'
) COMMENT '/library/section_text (text runs)';

-- primary key of group: group_key
-- library_key refers to library (library_key)
-- note_key refers to note (note_key)
CREATE TABLE "lib""rary"."group" (
  "group_key" BIGINT NOT NULL COMMENT 'row key',
  "library_key" BIGINT COMMENT 'key of the parent row in library',
  "note_key" BIGINT COMMENT 'key of the parent row in note',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "label" VARCHAR COMMENT '/library/label'
) COMMENT '/library/group';

-- primary key of note: note_key
-- group_key refers to group (group_key)
CREATE TABLE "lib""rary"."note" (
  "note_key" BIGINT NOT NULL COMMENT 'row key',
  "group_key" BIGINT NOT NULL COMMENT 'key of the parent row in group',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "label" VARCHAR COMMENT '/library/label'
) COMMENT '/library/note';

-- primary key of odd "name" 😀: odd_key
-- library_key refers to library (library_key)
CREATE TABLE "lib""rary"."odd ""name"" 😀" (
  "odd_key" BIGINT NOT NULL COMMENT 'row key',
  "library_key" BIGINT NOT NULL COMMENT 'key of the parent row in library',
  "position" INTEGER NOT NULL COMMENT 'position among the children of its parent, from 1',
  "it's" VARCHAR COMMENT '/library/it''s',
  "a]b" VARCHAR COMMENT '/library/a]b',
  "back`tick" VARCHAR COMMENT '/library/back`tick',
  "back\slash" VARCHAR COMMENT '/library/back\slash',
  "per%cent" VARCHAR COMMENT '/library/per%cent',
  "select" VARCHAR COMMENT '/library/select'
) COMMENT '/library/odd "name" 😀';

CREATE TABLE IF NOT EXISTS "lib""rary"."_loads" (
  "job_uuid" VARCHAR(36) NOT NULL COMMENT 'identifies the job',
  "job" BIGINT NOT NULL COMMENT 'its number in the metadata database',
  "installation" VARCHAR(255) NOT NULL COMMENT 'UUID of the metadata database',
  "id_sch" BIGINT COMMENT 'number of the origin there',
  "id_lschma" BIGINT COMMENT 'number of the logical schema there',
  "model_sha256" VARCHAR(64) COMMENT 'SHA-256 of its model, which identifies the logical schema',
  "published_at" TIMESTAMP(6) WITH TIME ZONE NOT NULL COMMENT 'time at which its rows became visible',
  "documents" BIGINT NOT NULL COMMENT 'documents that it added, minus those that it removed',
  "rows" BIGINT NOT NULL COMMENT 'rows that it added, minus those that it removed'
) COMMENT 'jobs that were published in this target';

CREATE TABLE IF NOT EXISTS "lib""rary"."_unmapped" (
  "document_key" BIGINT NOT NULL COMMENT 'document',
  "parent_table" VARCHAR(255) COMMENT 'table of the row that it belongs to',
  "parent_key" BIGINT COMMENT 'key of that row',
  "position" BIGINT COMMENT 'position among the children of its parent',
  "xpath" VARCHAR COMMENT 'its path in the document',
  "kind" VARCHAR(16) COMMENT 'kind: element, attribute, text and others',
  "content" VARCHAR COMMENT 'the content; markup has its own namespace declarations'
) COMMENT 'content that the schema does not declare';

CREATE TABLE IF NOT EXISTS "lib""rary"."_lexical" (
  "document_key" BIGINT NOT NULL COMMENT 'document',
  "table_name" VARCHAR(255) NOT NULL COMMENT 'table of the value',
  "row_key" BIGINT NOT NULL COMMENT 'key of its row',
  "column_name" VARCHAR(255) NOT NULL COMMENT 'column of the value',
  "content" VARCHAR COMMENT 'the value as written'
) COMMENT 'original texts of values that their column cannot return exactly';

CREATE TABLE IF NOT EXISTS "lib""rary"."_keys" (
  "table_name" VARCHAR(255) NOT NULL COMMENT 'table',
  "last_value" BIGINT NOT NULL COMMENT 'highest key that was given out'
) COMMENT 'highest row key of each table';
