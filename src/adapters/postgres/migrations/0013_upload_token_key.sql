-- Who asked for a token: where that is a key, the token ends with it.
alter table svc.upload_token add column id_key text;
