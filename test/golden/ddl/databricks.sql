CREATE SCHEMA IF NOT EXISTS `lib"rary`;

CREATE TABLE IF NOT EXISTS `lib"rary`.`_documents` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `name` STRING COMMENT 'name of the file, or of the member of an archive',
  `sha256` STRING COMMENT 'SHA-256 of its bytes, hexadecimal',
  `bytes` BIGINT COMMENT 'size',
  `loaded_at` TIMESTAMP COMMENT 'time at which it was read',
  `job` BIGINT COMMENT 'number of the job that loaded it',
  `job_uuid` STRING COMMENT 'UUID of that job',
  PRIMARY KEY (`document_key`)
) COMMENT 'documents that were loaded';

CREATE TABLE `lib"rary`.`library` (
  `library_key` BIGINT NOT NULL COMMENT 'row key',
  `document_key` BIGINT COMMENT 'document, as in _documents',
  `name` STRING NOT NULL COMMENT '/library/name',
  `founded` DATE COMMENT '/library/founded',
  `opened_at` TIMESTAMP COMMENT '/library/opened_at',
  `is_public` BOOLEAN COMMENT '/library/is_public',
  PRIMARY KEY (`library_key`),
  FOREIGN KEY (`document_key`) REFERENCES `lib"rary`.`_documents` (`document_key`)
) COMMENT '/library: The library\'s own row; -- DROP TABLE "x"; */ {braces} \\ \'quoted\'';

CREATE TABLE `lib"rary`.`book` (
  `book_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT NOT NULL COMMENT 'key of the parent row in library',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `isbn` STRING NOT NULL COMMENT '/library/book/@isbn',
  `title` STRING NOT NULL COMMENT '/library/title',
  `price` DECIMAL(10,2) COMMENT '/library/price',
  `weight` DECIMAL(38,18) COMMENT '/library/weight',
  `pages` INT COMMENT '/library/pages',
  `volume` SMALLINT COMMENT '/library/volume',
  `score` DOUBLE COMMENT '/library/score',
  `rating` FLOAT COMMENT '/library/rating',
  `closes` STRING COMMENT '/library/closes',
  `printed` TIMESTAMP_NTZ COMMENT '/library/printed',
  `keywords` ARRAY<STRING> COMMENT '/library/keywords',
  `years` ARRAY<INT> NOT NULL COMMENT '/library/years',
  `serial` STRING COMMENT '/library/serial',
  PRIMARY KEY (`book_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) COMMENT '/library/book';

CREATE TABLE `lib"rary`.`person` (
  `person_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT COMMENT 'key of the parent row in library',
  `book_key` BIGINT COMMENT 'key of the parent row in book',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `name` STRING COMMENT '/library/name',
  `born` DATE COMMENT '/library/born',
  PRIMARY KEY (`person_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`)
) COMMENT '/library/person';

CREATE TABLE `lib"rary`.`section` (
  `section_key` BIGINT NOT NULL COMMENT 'row key',
  `book_key` BIGINT COMMENT 'key of the parent row in book',
  `parent_section_key` BIGINT COMMENT 'key of the parent row in section',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `heading` STRING COMMENT '/library/heading',
  PRIMARY KEY (`section_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`),
  FOREIGN KEY (`parent_section_key`) REFERENCES `lib"rary`.`section` (`section_key`)
) COMMENT '/library/section';

CREATE TABLE `lib"rary`.`section_text` (
  `section_text_key` BIGINT NOT NULL COMMENT 'row key',
  `section_key` BIGINT NOT NULL COMMENT 'key of the parent row in section',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `content` STRING COMMENT '/library/book/section',
  PRIMARY KEY (`section_text_key`),
  FOREIGN KEY (`section_key`) REFERENCES `lib"rary`.`section` (`section_key`)
) COMMENT '/library/section_text (text runs)';

CREATE TABLE `lib"rary`.`group` (
  `group_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT COMMENT 'key of the parent row in library',
  `note_key` BIGINT COMMENT 'key of the parent row in note',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `label` STRING COMMENT '/library/label',
  PRIMARY KEY (`group_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) COMMENT '/library/group';

CREATE TABLE `lib"rary`.`note` (
  `note_key` BIGINT NOT NULL COMMENT 'row key',
  `group_key` BIGINT NOT NULL COMMENT 'key of the parent row in group',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `label` STRING COMMENT '/library/label',
  PRIMARY KEY (`note_key`),
  FOREIGN KEY (`group_key`) REFERENCES `lib"rary`.`group` (`group_key`)
) COMMENT '/library/note';

CREATE TABLE `lib"rary`.`odd_"name"_😀_54ffe19c` (
  `odd_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT NOT NULL COMMENT 'key of the parent row in library',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `it's` STRING COMMENT '/library/it\'s',
  `a]b` STRING COMMENT '/library/a]b',
  `back``tick` STRING COMMENT '/library/back`tick',
  `back\slash` STRING COMMENT '/library/back\\slash',
  `per%cent` STRING COMMENT '/library/per%cent',
  `select` STRING COMMENT '/library/select',
  PRIMARY KEY (`odd_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) COMMENT '/library/odd "name" 😀';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_loads` (
  `job_uuid` STRING NOT NULL COMMENT 'identifies the job',
  `job` BIGINT NOT NULL COMMENT 'its number in the metadata database',
  `installation` STRING NOT NULL COMMENT 'UUID of the metadata database',
  `id_sch` BIGINT COMMENT 'number of the origin there',
  `id_lschma` BIGINT COMMENT 'number of the logical schema there',
  `model_sha256` STRING COMMENT 'SHA-256 of its model, which identifies the logical schema',
  `published_at` TIMESTAMP NOT NULL COMMENT 'time at which its rows became visible',
  `documents` BIGINT NOT NULL COMMENT 'documents that it added, minus those that it removed',
  `rows` BIGINT NOT NULL COMMENT 'rows that it added, minus those that it removed',
  PRIMARY KEY (`job_uuid`)
) COMMENT 'jobs that were published in this target';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_unmapped` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `parent_table` STRING COMMENT 'table of the row that it belongs to',
  `parent_key` BIGINT COMMENT 'key of that row',
  `position` BIGINT COMMENT 'position among the children of its parent',
  `xpath` STRING COMMENT 'its path in the document',
  `kind` STRING COMMENT 'kind: element, attribute, text and others',
  `content` STRING COMMENT 'the content; markup has its own namespace declarations'
) COMMENT 'content that the schema does not declare';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_lexical` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `table_name` STRING NOT NULL COMMENT 'table of the value',
  `row_key` BIGINT NOT NULL COMMENT 'key of its row',
  `column_name` STRING NOT NULL COMMENT 'column of the value',
  `content` STRING COMMENT 'the value as written'
) COMMENT 'original texts of values that their column cannot return exactly';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_keys` (
  `table_name` STRING NOT NULL COMMENT 'table',
  `last_value` BIGINT NOT NULL COMMENT 'highest key that was given out',
  PRIMARY KEY (`table_name`)
) COMMENT 'highest row key of each table';

ALTER TABLE `lib"rary`.`group` ADD FOREIGN KEY (`note_key`) REFERENCES `lib"rary`.`note` (`note_key`);
