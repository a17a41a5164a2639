IF SCHEMA_ID(N'lib"rary') IS NULL EXEC(N'CREATE SCHEMA [lib"rary]');

CREATE TABLE [lib"rary].[_documents] (
  [document_key] BIGINT NOT NULL,
  [name] NVARCHAR(2000),
  [sha256] NVARCHAR(64),
  [bytes] BIGINT,
  [loaded_at] DATETIMEOFFSET(7),
  [job] BIGINT,
  [job_uuid] NVARCHAR(36),
  PRIMARY KEY ([document_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'documents that were loaded', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents';
EXEC sys.sp_addextendedproperty N'MS_Description', N'document', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'document_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'name of the file, or of the member of an archive', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'SHA-256 of its bytes, hexadecimal', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'sha256';
EXEC sys.sp_addextendedproperty N'MS_Description', N'size', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'bytes';
EXEC sys.sp_addextendedproperty N'MS_Description', N'time at which it was read', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'loaded_at';
EXEC sys.sp_addextendedproperty N'MS_Description', N'number of the job that loaded it', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'job';
EXEC sys.sp_addextendedproperty N'MS_Description', N'UUID of that job', N'SCHEMA', N'lib"rary', N'TABLE', N'_documents', N'COLUMN', N'job_uuid';

CREATE TABLE [lib"rary].[library] (
  [library_key] BIGINT NOT NULL,
  [document_key] BIGINT,
  [name] NVARCHAR(160) NOT NULL,
  [founded] DATE,
  [opened_at] DATETIMEOFFSET(7),
  [is_public] BIT,
  PRIMARY KEY ([library_key]),
  FOREIGN KEY ([document_key]) REFERENCES [lib"rary].[_documents] ([document_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library: The library''s own row; -- DROP TABLE "x"; */ {braces} \ ''quoted''', N'SCHEMA', N'lib"rary', N'TABLE', N'library';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'library_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'document, as in _documents', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'document_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/name', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/founded', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'founded';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/opened_at', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'opened_at';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/is_public', N'SCHEMA', N'lib"rary', N'TABLE', N'library', N'COLUMN', N'is_public';

-- unique key book_title is omitted: its columns are too long for a key
CREATE TABLE [lib"rary].[book] (
  [book_key] BIGINT NOT NULL,
  [library_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [isbn] NVARCHAR(34) NOT NULL,
  [title] NVARCHAR(MAX) NOT NULL,
  [price] DECIMAL(10,2),
  [weight] DECIMAL(38,18),
  [pages] INT,
  [volume] SMALLINT,
  [score] FLOAT(53),
  [rating] REAL,
  [closes] TIME(7),
  [printed] DATETIME2(7),
  [keywords_count] INT,
  [years_count] INT NOT NULL,
  [serial] NVARCHAR(MAX),
  PRIMARY KEY ([book_key]),
  CONSTRAINT [book_isbn] UNIQUE ([isbn]),
  FOREIGN KEY ([library_key]) REFERENCES [lib"rary].[library] ([library_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/book', N'SCHEMA', N'lib"rary', N'TABLE', N'book';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'book_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in library', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'library_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/book/@isbn', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'isbn';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/title', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'title';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/price', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'price';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/weight', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'weight';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/pages', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'pages';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/volume', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'volume';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/score', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'score';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/rating', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'rating';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/closes', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'closes';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/printed', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'printed';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/keywords: number of items, NULL if the list is absent', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'keywords_count';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/years: number of items', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'years_count';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/serial', N'SCHEMA', N'lib"rary', N'TABLE', N'book', N'COLUMN', N'serial';

CREATE TABLE [lib"rary].[person] (
  [person_key] BIGINT NOT NULL,
  [library_key] BIGINT,
  [book_key] BIGINT,
  [position] INT NOT NULL,
  [name] NVARCHAR(MAX),
  [born] DATE,
  PRIMARY KEY ([person_key]),
  FOREIGN KEY ([library_key]) REFERENCES [lib"rary].[library] ([library_key]),
  FOREIGN KEY ([book_key]) REFERENCES [lib"rary].[book] ([book_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/person', N'SCHEMA', N'lib"rary', N'TABLE', N'person';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'person_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in library', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'library_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in book', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'book_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/name', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/born', N'SCHEMA', N'lib"rary', N'TABLE', N'person', N'COLUMN', N'born';

CREATE TABLE [lib"rary].[section] (
  [section_key] BIGINT NOT NULL,
  [book_key] BIGINT,
  [parent_section_key] BIGINT,
  [position] INT NOT NULL,
  [heading] NVARCHAR(MAX),
  PRIMARY KEY ([section_key]),
  FOREIGN KEY ([book_key]) REFERENCES [lib"rary].[book] ([book_key]),
  FOREIGN KEY ([parent_section_key]) REFERENCES [lib"rary].[section] ([section_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/section', N'SCHEMA', N'lib"rary', N'TABLE', N'section';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'section', N'COLUMN', N'section_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in book', N'SCHEMA', N'lib"rary', N'TABLE', N'section', N'COLUMN', N'book_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in section', N'SCHEMA', N'lib"rary', N'TABLE', N'section', N'COLUMN', N'parent_section_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'section', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/heading', N'SCHEMA', N'lib"rary', N'TABLE', N'section', N'COLUMN', N'heading';

CREATE TABLE [lib"rary].[section_text] (
  [section_text_key] BIGINT NOT NULL,
  [section_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [content] NVARCHAR(MAX),
  PRIMARY KEY ([section_text_key]),
  FOREIGN KEY ([section_key]) REFERENCES [lib"rary].[section] ([section_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/section_text (text runs)', N'SCHEMA', N'lib"rary', N'TABLE', N'section_text';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'section_text', N'COLUMN', N'section_text_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in section', N'SCHEMA', N'lib"rary', N'TABLE', N'section_text', N'COLUMN', N'section_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'section_text', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/book/section', N'SCHEMA', N'lib"rary', N'TABLE', N'section_text', N'COLUMN', N'content';

CREATE TABLE [lib"rary].[group] (
  [group_key] BIGINT NOT NULL,
  [library_key] BIGINT,
  [note_key] BIGINT,
  [position] INT NOT NULL,
  [label] NVARCHAR(MAX),
  PRIMARY KEY ([group_key]),
  FOREIGN KEY ([library_key]) REFERENCES [lib"rary].[library] ([library_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/group', N'SCHEMA', N'lib"rary', N'TABLE', N'group';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'group', N'COLUMN', N'group_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in library', N'SCHEMA', N'lib"rary', N'TABLE', N'group', N'COLUMN', N'library_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in note', N'SCHEMA', N'lib"rary', N'TABLE', N'group', N'COLUMN', N'note_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'group', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/label', N'SCHEMA', N'lib"rary', N'TABLE', N'group', N'COLUMN', N'label';

CREATE TABLE [lib"rary].[note] (
  [note_key] BIGINT NOT NULL,
  [group_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [label] NVARCHAR(MAX),
  PRIMARY KEY ([note_key]),
  FOREIGN KEY ([group_key]) REFERENCES [lib"rary].[group] ([group_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/note', N'SCHEMA', N'lib"rary', N'TABLE', N'note';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'note', N'COLUMN', N'note_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in group', N'SCHEMA', N'lib"rary', N'TABLE', N'note', N'COLUMN', N'group_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'note', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/label', N'SCHEMA', N'lib"rary', N'TABLE', N'note', N'COLUMN', N'label';

CREATE TABLE [lib"rary].[odd "name" 😀] (
  [odd_key] BIGINT NOT NULL,
  [library_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [it's] NVARCHAR(MAX),
  [a]]b] NVARCHAR(MAX),
  [back`tick] NVARCHAR(MAX),
  [back\slash] NVARCHAR(MAX),
  [per%cent] NVARCHAR(MAX),
  [select] NVARCHAR(MAX),
  PRIMARY KEY ([odd_key]),
  FOREIGN KEY ([library_key]) REFERENCES [lib"rary].[library] ([library_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/odd "name" 😀', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'odd_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in library', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'library_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/it''s', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'it''s';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/a]b', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'a]b';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/back`tick', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'back`tick';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/back\slash', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'back\slash';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/per%cent', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'per%cent';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/select', N'SCHEMA', N'lib"rary', N'TABLE', N'odd "name" 😀', N'COLUMN', N'select';

CREATE TABLE [lib"rary].[book_keywords] (
  [book_keywords_key] BIGINT NOT NULL,
  [book_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [keywords] NVARCHAR(MAX) NOT NULL,
  PRIMARY KEY ([book_keywords_key]),
  FOREIGN KEY ([book_key]) REFERENCES [lib"rary].[book] ([book_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/keywords: items of the list book.keywords', N'SCHEMA', N'lib"rary', N'TABLE', N'book_keywords';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'book_keywords', N'COLUMN', N'book_keywords_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in book', N'SCHEMA', N'lib"rary', N'TABLE', N'book_keywords', N'COLUMN', N'book_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'book_keywords', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/keywords', N'SCHEMA', N'lib"rary', N'TABLE', N'book_keywords', N'COLUMN', N'keywords';

CREATE TABLE [lib"rary].[book_years] (
  [book_years_key] BIGINT NOT NULL,
  [book_key] BIGINT NOT NULL,
  [position] INT NOT NULL,
  [years] INT NOT NULL,
  PRIMARY KEY ([book_years_key]),
  FOREIGN KEY ([book_key]) REFERENCES [lib"rary].[book] ([book_key])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/years: items of the list book.years', N'SCHEMA', N'lib"rary', N'TABLE', N'book_years';
EXEC sys.sp_addextendedproperty N'MS_Description', N'row key', N'SCHEMA', N'lib"rary', N'TABLE', N'book_years', N'COLUMN', N'book_years_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of the parent row in book', N'SCHEMA', N'lib"rary', N'TABLE', N'book_years', N'COLUMN', N'book_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent, from 1', N'SCHEMA', N'lib"rary', N'TABLE', N'book_years', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'/library/years', N'SCHEMA', N'lib"rary', N'TABLE', N'book_years', N'COLUMN', N'years';

CREATE TABLE [lib"rary].[_loads] (
  [job_uuid] NVARCHAR(36) NOT NULL,
  [job] BIGINT NOT NULL,
  [installation] NVARCHAR(255) NOT NULL,
  [id_sch] BIGINT,
  [id_lschma] BIGINT,
  [model_sha256] NVARCHAR(64),
  [published_at] DATETIMEOFFSET(7) NOT NULL,
  [documents] BIGINT NOT NULL,
  [rows] BIGINT NOT NULL,
  PRIMARY KEY ([job_uuid])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'jobs that were published in this target', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads';
EXEC sys.sp_addextendedproperty N'MS_Description', N'identifies the job', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'job_uuid';
EXEC sys.sp_addextendedproperty N'MS_Description', N'its number in the metadata database', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'job';
EXEC sys.sp_addextendedproperty N'MS_Description', N'UUID of the metadata database', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'installation';
EXEC sys.sp_addextendedproperty N'MS_Description', N'number of the origin there', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'id_sch';
EXEC sys.sp_addextendedproperty N'MS_Description', N'number of the logical schema there', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'id_lschma';
EXEC sys.sp_addextendedproperty N'MS_Description', N'SHA-256 of its model, which identifies the logical schema', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'model_sha256';
EXEC sys.sp_addextendedproperty N'MS_Description', N'time at which its rows became visible', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'published_at';
EXEC sys.sp_addextendedproperty N'MS_Description', N'documents that it added, minus those that it removed', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'documents';
EXEC sys.sp_addextendedproperty N'MS_Description', N'rows that it added, minus those that it removed', N'SCHEMA', N'lib"rary', N'TABLE', N'_loads', N'COLUMN', N'rows';

CREATE TABLE [lib"rary].[_unmapped] (
  [document_key] BIGINT NOT NULL,
  [parent_table] NVARCHAR(255),
  [parent_key] BIGINT,
  [position] BIGINT,
  [xpath] NVARCHAR(MAX),
  [kind] NVARCHAR(16),
  [content] NVARCHAR(MAX)
);
CREATE INDEX [_unmapped_document_key_idx] ON [lib"rary].[_unmapped] ([document_key]);
EXEC sys.sp_addextendedproperty N'MS_Description', N'content that the schema does not declare', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped';
EXEC sys.sp_addextendedproperty N'MS_Description', N'document', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'document_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'table of the row that it belongs to', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'parent_table';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of that row', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'parent_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'position among the children of its parent', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'position';
EXEC sys.sp_addextendedproperty N'MS_Description', N'its path in the document', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'xpath';
EXEC sys.sp_addextendedproperty N'MS_Description', N'kind: element, attribute, text and others', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'kind';
EXEC sys.sp_addextendedproperty N'MS_Description', N'the content; markup has its own namespace declarations', N'SCHEMA', N'lib"rary', N'TABLE', N'_unmapped', N'COLUMN', N'content';

CREATE TABLE [lib"rary].[_lexical] (
  [document_key] BIGINT NOT NULL,
  [table_name] NVARCHAR(255) NOT NULL,
  [row_key] BIGINT NOT NULL,
  [column_name] NVARCHAR(255) NOT NULL,
  [content] NVARCHAR(MAX)
);
CREATE INDEX [_lexical_document_key_idx] ON [lib"rary].[_lexical] ([document_key]);
EXEC sys.sp_addextendedproperty N'MS_Description', N'original texts of values that their column cannot return exactly', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical';
EXEC sys.sp_addextendedproperty N'MS_Description', N'document', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical', N'COLUMN', N'document_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'table of the value', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical', N'COLUMN', N'table_name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'key of its row', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical', N'COLUMN', N'row_key';
EXEC sys.sp_addextendedproperty N'MS_Description', N'column of the value', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical', N'COLUMN', N'column_name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'the value as written', N'SCHEMA', N'lib"rary', N'TABLE', N'_lexical', N'COLUMN', N'content';

CREATE TABLE [lib"rary].[_keys] (
  [table_name] NVARCHAR(255) NOT NULL,
  [last_value] BIGINT NOT NULL,
  PRIMARY KEY ([table_name])
);
EXEC sys.sp_addextendedproperty N'MS_Description', N'highest row key of each table', N'SCHEMA', N'lib"rary', N'TABLE', N'_keys';
EXEC sys.sp_addextendedproperty N'MS_Description', N'table', N'SCHEMA', N'lib"rary', N'TABLE', N'_keys', N'COLUMN', N'table_name';
EXEC sys.sp_addextendedproperty N'MS_Description', N'highest key that was given out', N'SCHEMA', N'lib"rary', N'TABLE', N'_keys', N'COLUMN', N'last_value';

ALTER TABLE [lib"rary].[group] ADD FOREIGN KEY ([note_key]) REFERENCES [lib"rary].[note] ([note_key]);

CREATE INDEX [library_document_key_idx] ON [lib"rary].[library] ([document_key]) WHERE [document_key] IS NOT NULL;

CREATE INDEX [book_library_key_idx] ON [lib"rary].[book] ([library_key]);

CREATE INDEX [person_library_key_idx] ON [lib"rary].[person] ([library_key]) WHERE [library_key] IS NOT NULL;
CREATE INDEX [person_book_key_idx] ON [lib"rary].[person] ([book_key]) WHERE [book_key] IS NOT NULL;

CREATE INDEX [section_book_key_idx] ON [lib"rary].[section] ([book_key]) WHERE [book_key] IS NOT NULL;
CREATE INDEX [section_parent_section_key_idx] ON [lib"rary].[section] ([parent_section_key]) WHERE [parent_section_key] IS NOT NULL;

CREATE INDEX [section_text_section_key_idx] ON [lib"rary].[section_text] ([section_key]);

CREATE INDEX [group_library_key_idx] ON [lib"rary].[group] ([library_key]) WHERE [library_key] IS NOT NULL;
CREATE INDEX [group_note_key_idx] ON [lib"rary].[group] ([note_key]) WHERE [note_key] IS NOT NULL;

CREATE INDEX [note_group_key_idx] ON [lib"rary].[note] ([group_key]);

CREATE INDEX [odd "name" 😀_library_key_idx] ON [lib"rary].[odd "name" 😀] ([library_key]);

CREATE INDEX [book_keywords_book_key_idx] ON [lib"rary].[book_keywords] ([book_key]);

CREATE INDEX [book_years_book_key_idx] ON [lib"rary].[book_years] ([book_key]);
