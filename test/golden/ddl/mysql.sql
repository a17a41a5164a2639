CREATE SCHEMA IF NOT EXISTS `lib"rary`;

CREATE TABLE IF NOT EXISTS `lib"rary`.`_documents` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `name` TEXT COMMENT 'name of the file, or of the member of an archive',
  `sha256` VARCHAR(64) COMMENT 'SHA-256 of its bytes, hexadecimal',
  `bytes` BIGINT COMMENT 'size',
  `loaded_at` DATETIME(6) COMMENT 'time at which it was read',
  `job` BIGINT COMMENT 'number of the job that loaded it',
  `job_uuid` VARCHAR(36) COMMENT 'UUID of that job',
  PRIMARY KEY (`document_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = 'documents that were loaded';

CREATE TABLE `lib"rary`.`library` (
  `library_key` BIGINT NOT NULL COMMENT 'row key',
  `document_key` BIGINT COMMENT 'document, as in _documents',
  `name` VARCHAR(80) NOT NULL COMMENT '/library/name',
  `founded` DATE COMMENT '/library/founded',
  `opened_at` DATETIME(6) COMMENT '/library/opened_at',
  `is_public` BOOLEAN COMMENT '/library/is_public',
  PRIMARY KEY (`library_key`),
  FOREIGN KEY (`document_key`) REFERENCES `lib"rary`.`_documents` (`document_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library: The library''s own row; -- DROP TABLE "x"; */ {braces} \\ ''quoted''';

-- unique key book_title is omitted: its columns are too long for a key
CREATE TABLE `lib"rary`.`book` (
  `book_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT NOT NULL COMMENT 'key of the parent row in library',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `isbn` VARCHAR(17) NOT NULL COMMENT '/library/book/@isbn',
  `title` LONGTEXT NOT NULL COMMENT '/library/title',
  `price` DECIMAL(10,2) COMMENT '/library/price',
  `weight` DECIMAL(65,30) COMMENT '/library/weight',
  `pages` INT COMMENT '/library/pages',
  `volume` SMALLINT COMMENT '/library/volume',
  `score` DOUBLE COMMENT '/library/score',
  `rating` FLOAT COMMENT '/library/rating',
  `closes` TIME(6) COMMENT '/library/closes',
  `printed` DATETIME(6) COMMENT '/library/printed',
  `keywords_count` INT COMMENT '/library/keywords: number of items, NULL if the list is absent',
  `years_count` INT NOT NULL COMMENT '/library/years: number of items',
  `serial` DECIMAL(60,0) COMMENT '/library/serial',
  PRIMARY KEY (`book_key`),
  CONSTRAINT `book_isbn` UNIQUE (`isbn`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/book';

CREATE TABLE `lib"rary`.`person` (
  `person_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT COMMENT 'key of the parent row in library',
  `book_key` BIGINT COMMENT 'key of the parent row in book',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `name` LONGTEXT COMMENT '/library/name',
  `born` DATE COMMENT '/library/born',
  PRIMARY KEY (`person_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/person';

CREATE TABLE `lib"rary`.`section` (
  `section_key` BIGINT NOT NULL COMMENT 'row key',
  `book_key` BIGINT COMMENT 'key of the parent row in book',
  `parent_section_key` BIGINT COMMENT 'key of the parent row in section',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `heading` LONGTEXT COMMENT '/library/heading',
  PRIMARY KEY (`section_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`),
  FOREIGN KEY (`parent_section_key`) REFERENCES `lib"rary`.`section` (`section_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/section';

CREATE TABLE `lib"rary`.`section_text` (
  `section_text_key` BIGINT NOT NULL COMMENT 'row key',
  `section_key` BIGINT NOT NULL COMMENT 'key of the parent row in section',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `content` LONGTEXT COMMENT '/library/book/section',
  PRIMARY KEY (`section_text_key`),
  FOREIGN KEY (`section_key`) REFERENCES `lib"rary`.`section` (`section_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/section_text (text runs)';

CREATE TABLE `lib"rary`.`group` (
  `group_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT COMMENT 'key of the parent row in library',
  `note_key` BIGINT COMMENT 'key of the parent row in note',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `label` LONGTEXT COMMENT '/library/label',
  PRIMARY KEY (`group_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/group';

CREATE TABLE `lib"rary`.`note` (
  `note_key` BIGINT NOT NULL COMMENT 'row key',
  `group_key` BIGINT NOT NULL COMMENT 'key of the parent row in group',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `label` LONGTEXT COMMENT '/library/label',
  PRIMARY KEY (`note_key`),
  FOREIGN KEY (`group_key`) REFERENCES `lib"rary`.`group` (`group_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/note';

CREATE TABLE `lib"rary`.`odd "name" __54ffe19c` (
  `odd_key` BIGINT NOT NULL COMMENT 'row key',
  `library_key` BIGINT NOT NULL COMMENT 'key of the parent row in library',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `it's` LONGTEXT COMMENT '/library/it''s',
  `a]b` LONGTEXT COMMENT '/library/a]b',
  `back``tick` LONGTEXT COMMENT '/library/back`tick',
  `back\slash` LONGTEXT COMMENT '/library/back\\slash',
  `per%cent` LONGTEXT COMMENT '/library/per%cent',
  `select` LONGTEXT COMMENT '/library/select',
  PRIMARY KEY (`odd_key`),
  FOREIGN KEY (`library_key`) REFERENCES `lib"rary`.`library` (`library_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/odd "name" 😀';

CREATE TABLE `lib"rary`.`book_keywords` (
  `book_keywords_key` BIGINT NOT NULL COMMENT 'row key',
  `book_key` BIGINT NOT NULL COMMENT 'key of the parent row in book',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `keywords` LONGTEXT NOT NULL COMMENT '/library/keywords',
  PRIMARY KEY (`book_keywords_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/keywords: items of the list book.keywords';

CREATE TABLE `lib"rary`.`book_years` (
  `book_years_key` BIGINT NOT NULL COMMENT 'row key',
  `book_key` BIGINT NOT NULL COMMENT 'key of the parent row in book',
  `position` INT NOT NULL COMMENT 'position among the children of its parent, from 1',
  `years` INT NOT NULL COMMENT '/library/years',
  PRIMARY KEY (`book_years_key`),
  FOREIGN KEY (`book_key`) REFERENCES `lib"rary`.`book` (`book_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = '/library/years: items of the list book.years';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_loads` (
  `job_uuid` VARCHAR(36) NOT NULL COMMENT 'identifies the job',
  `job` BIGINT NOT NULL COMMENT 'its number in the metadata database',
  `installation` VARCHAR(255) NOT NULL COMMENT 'UUID of the metadata database',
  `id_sch` BIGINT COMMENT 'number of the origin there',
  `id_lschma` BIGINT COMMENT 'number of the logical schema there',
  `model_sha256` VARCHAR(64) COMMENT 'SHA-256 of its model, which identifies the logical schema',
  `published_at` DATETIME(6) NOT NULL COMMENT 'time at which its rows became visible',
  `documents` BIGINT NOT NULL COMMENT 'documents that it added, minus those that it removed',
  `rows` BIGINT NOT NULL COMMENT 'rows that it added, minus those that it removed',
  PRIMARY KEY (`job_uuid`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = 'jobs that were published in this target';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_unmapped` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `parent_table` VARCHAR(255) COMMENT 'table of the row that it belongs to',
  `parent_key` BIGINT COMMENT 'key of that row',
  `position` BIGINT COMMENT 'position among the children of its parent',
  `xpath` LONGTEXT COMMENT 'its path in the document',
  `kind` VARCHAR(16) COMMENT 'kind: element, attribute, text and others',
  `content` LONGTEXT COMMENT 'the content; markup has its own namespace declarations',
  INDEX `_unmapped_document_key_idx` (`document_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = 'content that the schema does not declare';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_lexical` (
  `document_key` BIGINT NOT NULL COMMENT 'document',
  `table_name` VARCHAR(255) NOT NULL COMMENT 'table of the value',
  `row_key` BIGINT NOT NULL COMMENT 'key of its row',
  `column_name` VARCHAR(255) NOT NULL COMMENT 'column of the value',
  `content` LONGTEXT COMMENT 'the value as written',
  INDEX `_lexical_document_key_idx` (`document_key`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = 'original texts of values that their column cannot return exactly';

CREATE TABLE IF NOT EXISTS `lib"rary`.`_keys` (
  `table_name` VARCHAR(255) NOT NULL COMMENT 'table',
  `last_value` BIGINT NOT NULL COMMENT 'highest key that was given out',
  PRIMARY KEY (`table_name`)
) DEFAULT CHARACTER SET utf8mb4 COMMENT = 'highest row key of each table';

ALTER TABLE `lib"rary`.`group` ADD FOREIGN KEY (`note_key`) REFERENCES `lib"rary`.`note` (`note_key`);
