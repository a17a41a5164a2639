/** The service at the edge: `wrangler deploy`, with the wrangler.toml beside it. */
export { default } from 'conversion-job-service/edge';
