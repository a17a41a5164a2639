/** Address of the service below any prefix; ends in `/`. The bundle of the page is in the folder `ui/` below it, like this module. */
export const serviceUrl = new URL('../', import.meta.url).href;
