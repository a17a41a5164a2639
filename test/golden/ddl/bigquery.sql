CREATE SCHEMA IF NOT EXISTS `lib"rary`;

CREATE TABLE IF NOT EXISTS `lib"rary`.`_documents` (
  `document_key` INT64 NOT NULL OPTIONS (description = 'document'),
  `name` STRING OPTIONS (description = 'name of the file, or of the member of an archive'),
  `sha256` STRING(64) OPTIONS (description = 'SHA-256 of its bytes, hexadecimal'),
  `bytes` INT64 OPTIONS (description = 'size'),
  `loaded_at` TIMESTAMP OPTIONS (description = 'time at which it was read'),
  `job` INT64 OPTIONS (description = 'number of the job that loaded it'),
  `job_uuid` STRING(36) OPTIONS (description = 'UUID of that job'),
  PRIMARY KEY (`document_key`) NOT ENFORCED
) OPTIONS (description = 'documents that were loaded');

CREATE TABLE `lib"rary`.`library` (
  `library_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `document_key` INT64 OPTIONS (description = 'document, as in _documents'),
  `name` STRING(80) NOT NULL OPTIONS (description = '/library/name'),
  `founded` DATE OPTIONS (description = '/library/founded'),
  `opened_at` TIMESTAMP OPTIONS (description = '/library/opened_at'),
  `is_public` BOOL OPTIONS (description = '/library/is_public'),
  PRIMARY KEY (`library_key`) NOT ENFORCED,
  FOREIGN KEY (`document_key`) REFERENCES `lib"rary`.`_documents` (`document_key`) NOT ENFORCED
) OPTIONS (description = '/library: The library\'s own row; -- DROP TABLE "x"; */ {braces} \\ \'quoted\'');

CREATE TABLE `lib"rary`.`book` (
  `book_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `library_key` INT64 NOT NULL OPTIONS (description = 'key of the parent row in library'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `isbn` STRING(17) NOT NULL OPTIONS (description = '/library/book/@isbn'),
  `title` STRING NOT NULL OPTIONS (description = '/library/title'),
  `price` NUMERIC(10,2) OPTIONS (description = '/library/price'),
  `weight` BIGNUMERIC OPTIONS (description = '/library/weight'),
  `pages` INT64 OPTIONS (description = '/library/pages'),
  `volume` INT64 OPTIONS (description = '/library/volume'),
  `score` FLOAT64 OPTIONS (description = '/library/score'),
  `rating` FLOAT64 OPTIONS (description = '/library/rating'),
  `closes` TIME OPTIONS (description = '/library/closes'),
  `printed` DATETIME OPTIONS (description = '/library/printed'),
  `keywords` ARRAY<STRING> OPTIONS (description = '/library/keywords'),
  `years` ARRAY<INT64> OPTIONS (description = '/library/years'),
  `serial` STRING OPTIONS (description = '/library/serial'),
  `keywords_count` INT64 OPTIONS (description = '/library/keywords: number of items, NULL if the list is absent'),
  PRIMARY KEY (`book_key`) NOT ENFORCED,
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`) NOT ENFORCED
) OPTIONS (description = '/library/book');

CREATE TABLE `lib"rary`.`person` (
  `person_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `library_key` INT64 OPTIONS (description = 'key of the parent row in library'),
  `book_key` INT64 OPTIONS (description = 'key of the parent row in book'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `name` STRING OPTIONS (description = '/library/name'),
  `born` DATE OPTIONS (description = '/library/born'),
  PRIMARY KEY (`person_key`) NOT ENFORCED,
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`) NOT ENFORCED,
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`) NOT ENFORCED
) OPTIONS (description = '/library/person');

CREATE TABLE `lib"rary`.`section` (
  `section_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `book_key` INT64 OPTIONS (description = 'key of the parent row in book'),
  `parent_section_key` INT64 OPTIONS (description = 'key of the parent row in section'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `heading` STRING OPTIONS (description = '/library/heading'),
  PRIMARY KEY (`section_key`) NOT ENFORCED,
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`) NOT ENFORCED,
  FOREIGN KEY (`parent_section_key`) REFERENCES `lib"rary`.`section` (`section_key`) NOT ENFORCED
) OPTIONS (description = '/library/section');

CREATE TABLE `lib"rary`.`section_text` (
  `section_text_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `section_key` INT64 NOT NULL OPTIONS (description = 'key of the parent row in section'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `content` STRING OPTIONS (description = '/library/book/section'),
  PRIMARY KEY (`section_text_key`) NOT ENFORCED,
  FOREIGN KEY (`section_key`) REFERENCES `lib"rary`.`section` (`section_key`) NOT ENFORCED
) OPTIONS (description = '/library/section_text (text runs)');

CREATE TABLE `lib"rary`.`group` (
  `group_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `library_key` INT64 OPTIONS (description = 'key of the parent row in library'),
  `note_key` INT64 OPTIONS (description = 'key of the parent row in note'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `label` STRING OPTIONS (description = '/library/label'),
  PRIMARY KEY (`group_key`) NOT ENFORCED,
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`) NOT ENFORCED
) OPTIONS (description = '/library/group');

CREATE TABLE `lib"rary`.`note` (
  `note_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `group_key` INT64 NOT NULL OPTIONS (description = 'key of the parent row in group'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `label` STRING OPTIONS (description = '/library/label'),
  PRIMARY KEY (`note_key`) NOT ENFORCED,
  FOREIGN KEY (`group_key`) REFERENCES `lib"rary`.`group` (`group_key`) NOT ENFORCED
) OPTIONS (description = '/library/note');

CREATE TABLE `lib"rary`.`odd _name_ __54ffe19c` (
  `odd_key` INT64 NOT NULL OPTIONS (description = 'row key'),
  `library_key` INT64 NOT NULL OPTIONS (description = 'key of the parent row in library'),
  `position` INT64 NOT NULL OPTIONS (description = 'position among the children of its parent, from 1'),
  `it_s_a89ef012` STRING OPTIONS (description = '/library/it\'s'),
  `a_b_0b9e3f13` STRING OPTIONS (description = '/library/a]b'),
  `back_tick_a9333e73` STRING OPTIONS (description = '/library/back`tick'),
  `back_slash_e3451f5f` STRING OPTIONS (description = '/library/back\\slash'),
  `per_cent_c0a07ba5` STRING OPTIONS (description = '/library/per%cent'),
  `select` STRING OPTIONS (description = '/library/select'),
  PRIMARY KEY (`odd_key`) NOT ENFORCED,
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`) NOT ENFORCED
) OPTIONS (description = '/library/odd "name" 😀');

CREATE TABLE IF NOT EXISTS `lib"rary`.`_loads` (
  `job_uuid` STRING(36) NOT NULL OPTIONS (description = 'identifies the job'),
  `job` INT64 NOT NULL OPTIONS (description = 'its number in the metadata database'),
  `installation` STRING(255) NOT NULL OPTIONS (description = 'UUID of the metadata database'),
  `id_sch` INT64 OPTIONS (description = 'number of the origin there'),
  `id_lschma` INT64 OPTIONS (description = 'number of the logical schema there'),
  `model_sha256` STRING(64) OPTIONS (description = 'SHA-256 of its model, which identifies the logical schema'),
  `published_at` TIMESTAMP NOT NULL OPTIONS (description = 'time at which its rows became visible'),
  `documents` INT64 NOT NULL OPTIONS (description = 'documents that it added, minus those that it removed'),
  `rows` INT64 NOT NULL OPTIONS (description = 'rows that it added, minus those that it removed'),
  PRIMARY KEY (`job_uuid`) NOT ENFORCED
) OPTIONS (description = 'jobs that were published in this target');

CREATE TABLE IF NOT EXISTS `lib"rary`.`_unmapped` (
  `document_key` INT64 NOT NULL OPTIONS (description = 'document'),
  `parent_table` STRING(255) OPTIONS (description = 'table of the row that it belongs to'),
  `parent_key` INT64 OPTIONS (description = 'key of that row'),
  `position` INT64 OPTIONS (description = 'position among the children of its parent'),
  `xpath` STRING OPTIONS (description = 'its path in the document'),
  `kind` STRING(16) OPTIONS (description = 'kind: element, attribute, text and others'),
  `content` STRING OPTIONS (description = 'the content; markup has its own namespace declarations')
) OPTIONS (description = 'content that the schema does not declare');

CREATE TABLE IF NOT EXISTS `lib"rary`.`_lexical` (
  `document_key` INT64 NOT NULL OPTIONS (description = 'document'),
  `table_name` STRING(255) NOT NULL OPTIONS (description = 'table of the value'),
  `row_key` INT64 NOT NULL OPTIONS (description = 'key of its row'),
  `column_name` STRING(255) NOT NULL OPTIONS (description = 'column of the value'),
  `content` STRING OPTIONS (description = 'the value as written')
) OPTIONS (description = 'original texts of values that their column cannot return exactly');

CREATE TABLE IF NOT EXISTS `lib"rary`.`_keys` (
  `table_name` STRING(255) NOT NULL OPTIONS (description = 'table'),
  `last_value` INT64 NOT NULL OPTIONS (description = 'highest key that was given out'),
  PRIMARY KEY (`table_name`) NOT ENFORCED
) OPTIONS (description = 'highest row key of each table');

ALTER TABLE `lib"rary`.`group` ADD FOREIGN KEY (`note_key`) REFERENCES `lib"rary`.`note` (`note_key`) NOT ENFORCED;
