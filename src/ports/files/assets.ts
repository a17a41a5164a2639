/** Static files that the service serves itself: the browsable reference's script and style sheet. */
export interface AssetStore {
  /** `name` is one of the fixed names the docs page links to, such as `swagger-ui.css`; null when it is not there. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** The names in swagger-ui-dist that the reference page needs. */
export const docAssetNames = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;
