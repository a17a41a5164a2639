/** Converts values for MySQL and MariaDB: from COPY text to the column's form, and from there to the form of XML Schema. */
import type { Column, ColumnType } from '../model/relational-model.ts';

/** FLOAT refuses numbers that round to its largest value. */
export function doubleForReal(column: Column): Column {
  return column.type.kind === 'real' ? { ...column, type: { ...column.type, kind: 'double' } } : column;
}

/** A value of COPY text as one of the column's type. */
export function convertedText({ kind }: ColumnType, value: string): string {
  switch (kind) {
    case 'boolean':
      return `CASE ${value} WHEN 't' THEN 1 WHEN 'f' THEN 0 END`;
    case 'time':
      return `ADDTIME(LEFT(${value}, 15), IF(SUBSTRING(${value}, 16, 1) >= '5', '00:00:00.000001', '00:00:00'))`;
    case 'timestamp':
      return moment(value, value);
    case 'timestamptz': {
      const zone = `RIGHT(${value}, 6)`;
      const minutes = `IF(LEFT(${zone}, 1) = '-', -1, 1) * (SUBSTRING(${zone}, 2, 2) * 60 + RIGHT(${zone}, 2))`;
      const local = moment(value, `LEFT(${value}, CHAR_LENGTH(${value}) - 6)`);
      const utc = moment(value, `LEFT(${value}, CHAR_LENGTH(${value}) - 1)`);
      return `IF(RIGHT(${value}, 1) = 'Z', ${utc}, ${local} - INTERVAL ${minutes} MINUTE)`;
    }
    default:
      return value;
  }
}

/** Hour 24 is the end of the day. A seventh digit of the fraction rounds the sixth, as in other databases. */
function moment(value: string, text: string): string {
  const whole = `CAST(REPLACE(LEFT(${text}, 26), 'T24:', 'T00:') AS DATETIME(6))`;
  return `${whole} + INTERVAL (SUBSTRING(${text}, 27, 1) >= '5') MICROSECOND + INTERVAL (${value} LIKE '%T24:%') DAY`;
}

/** The value of `expression`, of the type that the model gives it, as XML Schema writes it. */
export function lexicalText({ kind, precision }: ColumnType, expression: string): string {
  switch (kind) {
    case 'boolean':
      return `CASE ${expression} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END`;
    case 'timestamp':
      return trimmed(`DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%f')`);
    case 'timestamptz':
      return `CONCAT(${trimmed(`DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%f')`)}, 'Z')`;
    case 'time':
      return trimmed(`TIME_FORMAT(${expression}, '%H:%i:%s.%f')`);
    case 'numeric':
      return precision === undefined ? trimmed(`CAST(${expression} AS CHAR)`) : `CAST(${expression} AS CHAR)`;
    case 'text':
      return expression;
    default:
      return `CAST(${expression} AS CHAR)`;
  }
}

/** The instant `expression` at `offset`, minutes ahead of UTC, as XML Schema writes it; NULL of these is `Z`. */
export function textAtOffset(expression: string, offset: string): string {
  const local = lexicalText({ kind: 'timestamp' }, `${expression} + INTERVAL ${offset} MINUTE`);
  const zone = `IF(${offset} < 0, '-', '+'), LPAD(ABS(${offset}) DIV 60, 2, '0'), ':', LPAD(MOD(ABS(${offset}), 60), 2, '0')`;
  return `IF(${offset} IS NULL, ${lexicalText({ kind: 'timestamptz' }, expression)}, CONCAT(${local}, ${zone}))`;
}

/** Removes zeros at the end of a fraction. */
function trimmed(text: string): string {
  return `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${text}))`;
}
