CREATE DATABASE IF NOT EXISTS `lib"rary`;

CREATE TABLE IF NOT EXISTS `lib"rary`.`_documents` (
  `document_key` Int64 COMMENT 'document',
  `name` String NULL COMMENT 'name of the file, or of the member of an archive',
  `sha256` String NULL COMMENT 'SHA-256 of its bytes, hexadecimal',
  `bytes` Int64 NULL COMMENT 'size',
  `loaded_at` DateTime64(6, 'UTC') NULL COMMENT 'time at which it was read',
  `job` Int64 NULL COMMENT 'number of the job that loaded it',
  `job_uuid` String NULL COMMENT 'UUID of that job',
  PRIMARY KEY (`document_key`)
) ENGINE = MergeTree ORDER BY (`document_key`) COMMENT 'documents that were loaded';

-- document_key refers to _documents (document_key)
CREATE TABLE `lib"rary`.`library` (
  `library_key` Int64 COMMENT 'row key',
  `document_key` Int64 NULL COMMENT 'document, as in _documents',
  `name` String COMMENT '/library/name',
  `founded` Date32 NULL COMMENT '/library/founded',
  `opened_at` DateTime64(6, 'UTC') NULL COMMENT '/library/opened_at',
  `is_public` Bool NULL COMMENT '/library/is_public',
  PRIMARY KEY (`library_key`)
) ENGINE = MergeTree ORDER BY (`library_key`) COMMENT '/library: The library''s own row; -- DROP TABLE "x"; */ {braces} \\ ''quoted''';

-- library_key refers to library (library_key)
CREATE TABLE `lib"rary`.`book` (
  `book_key` Int64 COMMENT 'row key',
  `library_key` Int64 COMMENT 'key of the parent row in library',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `isbn` String COMMENT '/library/book/@isbn',
  `title` String COMMENT '/library/title',
  `price` Decimal(10,2) NULL COMMENT '/library/price',
  `weight` Decimal(38, 18) NULL COMMENT '/library/weight',
  `pages` Int32 NULL COMMENT '/library/pages',
  `volume` Int16 NULL COMMENT '/library/volume',
  `score` Float64 NULL COMMENT '/library/score',
  `rating` Float32 NULL COMMENT '/library/rating',
  `closes` String NULL COMMENT '/library/closes',
  `printed` DateTime64(6) NULL COMMENT '/library/printed',
  `keywords` Array(String) COMMENT '/library/keywords',
  `years` Array(Int32) COMMENT '/library/years',
  `serial` Decimal(60,0) NULL COMMENT '/library/serial',
  `keywords_count` Int32 NULL COMMENT '/library/keywords: number of items, NULL if the list is absent',
  PRIMARY KEY (`book_key`)
) ENGINE = MergeTree ORDER BY (`book_key`) COMMENT '/library/book';

-- library_key refers to library (library_key)
-- book_key refers to book (book_key)
CREATE TABLE `lib"rary`.`person` (
  `person_key` Int64 COMMENT 'row key',
  `library_key` Int64 NULL COMMENT 'key of the parent row in library',
  `book_key` Int64 NULL COMMENT 'key of the parent row in book',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `name` String NULL COMMENT '/library/name',
  `born` Date32 NULL COMMENT '/library/born',
  PRIMARY KEY (`person_key`)
) ENGINE = MergeTree ORDER BY (`person_key`) COMMENT '/library/person';

-- book_key refers to book (book_key)
-- parent_section_key refers to section (section_key)
CREATE TABLE `lib"rary`.`section` (
  `section_key` Int64 COMMENT 'row key',
  `book_key` Int64 NULL COMMENT 'key of the parent row in book',
  `parent_section_key` Int64 NULL COMMENT 'key of the parent row in section',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `heading` String NULL COMMENT '/library/heading',
  PRIMARY KEY (`section_key`)
) ENGINE = MergeTree ORDER BY (`section_key`) COMMENT '/library/section';

-- section_key refers to section (section_key)
CREATE TABLE `lib"rary`.`section_text` (
  `section_text_key` Int64 COMMENT 'row key',
  `section_key` Int64 COMMENT 'key of the parent row in section',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `content` String NULL COMMENT '/library/book/section',
  PRIMARY KEY (`section_text_key`)
) ENGINE = MergeTree ORDER BY (`section_text_key`) COMMENT '/library/section_text (text runs)';

-- library_key refers to library (library_key)
-- note_key refers to note (note_key)
CREATE TABLE `lib"rary`.`group` (
  `group_key` Int64 COMMENT 'row key',
  `library_key` Int64 NULL COMMENT 'key of the parent row in library',
  `note_key` Int64 NULL COMMENT 'key of the parent row in note',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `label` String NULL COMMENT '/library/label',
  PRIMARY KEY (`group_key`)
) ENGINE = MergeTree ORDER BY (`group_key`) COMMENT '/library/group';

-- group_key refers to group (group_key)
CREATE TABLE `lib"rary`.`note` (
  `note_key` Int64 COMMENT 'row key',
  `group_key` Int64 COMMENT 'key of the parent row in group',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `label` String NULL COMMENT '/library/label',
  PRIMARY KEY (`note_key`)
) ENGINE = MergeTree ORDER BY (`note_key`) COMMENT '/library/note';

-- library_key refers to library (library_key)
CREATE TABLE `lib"rary`.`odd "name" 😀` (
  `odd_key` Int64 COMMENT 'row key',
  `library_key` Int64 COMMENT 'key of the parent row in library',
  `position` Int32 COMMENT 'position among the children of its parent, from 1',
  `it's` String NULL COMMENT '/library/it''s',
  `a]b` String NULL COMMENT '/library/a]b',
  `back``tick` String NULL COMMENT '/library/back`tick',
  `back\\slash` String NULL COMMENT '/library/back\\slash',
  `per%cent` String NULL COMMENT '/library/per%cent',
  `select` String NULL COMMENT '/library/select',
  PRIMARY KEY (`odd_key`)
) ENGINE = MergeTree ORDER BY (`odd_key`) COMMENT '/library/odd "name" 😀';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_loads` (
  `job_uuid` String COMMENT 'identifies the job',
  `job` Int64 COMMENT 'its number in the metadata database',
  `installation` String COMMENT 'UUID of the metadata database',
  `id_sch` Int64 NULL COMMENT 'number of the origin there',
  `id_lschma` Int64 NULL COMMENT 'number of the logical schema there',
  `model_sha256` String NULL COMMENT 'SHA-256 of its model, which identifies the logical schema',
  `published_at` DateTime64(6, 'UTC') COMMENT 'time at which its rows became visible',
  `documents` Int64 COMMENT 'documents that it added, minus those that it removed',
  `rows` Int64 COMMENT 'rows that it added, minus those that it removed',
  PRIMARY KEY (`job_uuid`)
) ENGINE = MergeTree ORDER BY (`job_uuid`) COMMENT 'jobs that were published in this target';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_unmapped` (
  `document_key` Int64 COMMENT 'document',
  `parent_table` String NULL COMMENT 'table of the row that it belongs to',
  `parent_key` Int64 NULL COMMENT 'key of that row',
  `position` Int64 NULL COMMENT 'position among the children of its parent',
  `xpath` String NULL COMMENT 'its path in the document',
  `kind` String NULL COMMENT 'kind: element, attribute, text and others',
  `content` String NULL COMMENT 'the content; markup has its own namespace declarations'
) ENGINE = MergeTree ORDER BY tuple() COMMENT 'content that the schema does not declare';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_lexical` (
  `document_key` Int64 COMMENT 'document',
  `table_name` String COMMENT 'table of the value',
  `row_key` Int64 COMMENT 'key of its row',
  `column_name` String COMMENT 'column of the value',
  `content` String NULL COMMENT 'the value as written'
) ENGINE = MergeTree ORDER BY tuple() COMMENT 'original texts of values that their column cannot return exactly';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_keys` (
  `table_name` String COMMENT 'table',
  `last_value` Int64 COMMENT 'highest key that was given out',
  PRIMARY KEY (`table_name`)
) ENGINE = MergeTree ORDER BY (`table_name`) COMMENT 'highest row key of each table';
