/** Copies the files of a package between a folder and a location in cloud storage. */
export interface PackageTransfer {
  /** The manifest last. AppError `service_unavailable` where the copy breaks off. */
  upload(folder: string): Promise<void>;
  /** Into an empty folder. AppError `unprocessable_input` where there is nothing. */
  download(folder: string): Promise<void>;
}
