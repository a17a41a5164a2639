/** Address of the service below any prefix; ends in `/`. The bundle of the page lies in the folder `ui/` below it, as this module does. */
export const serviceUrl = new URL('../', import.meta.url).href;
