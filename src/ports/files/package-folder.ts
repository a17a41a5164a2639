/** A folder that holds one package: `manifest.json`, and parts with one JSON value per line. */

export interface PartDigest {
  readonly records: number;
  readonly bytes: number;
  /** hexadecimal, of the whole file */
  readonly sha256: string;
}

/** One reading of a part, from its start; may be begun again as a new one. */
export interface PartReading {
  /** Lines without their line ends. AppError `unprocessable_input` if the bytes are not lines of UTF-8 text. */
  readonly lines: AsyncIterable<string>;
  /** The digest of all that was read; complete once the lines have ended. */
  digest(): PartDigest;
}

export interface PackageFolder {
  /** Lists the files in the folder by name. AppError `unprocessable_input` for anything but a plain file. */
  listFiles(): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  /** Writes a new file, each line with its end. */
  write(name: string, lines: AsyncIterable<string> | Iterable<string>): Promise<PartDigest>;
  read(name: string): PartReading;
}
