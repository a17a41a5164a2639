/** Copies the files of a package between a folder and a location in cloud storage. */
export interface PackageTransfer {
  /** Uploads the manifest last. AppError `service_unavailable` if the copy breaks off. */
  upload(folder: string): Promise<void>;
  /** Downloads into an empty folder. AppError `unprocessable_input` if there is nothing. */
  download(folder: string): Promise<void>;
}
