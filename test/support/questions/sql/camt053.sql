-- Bank statements: the three questions of standards/camt053.ts.

select d.grp_hdr_msg_id, s.id, s.acct_id_iban, n.bookg_dt, n.val_dt, n.amt, n.amt_ccy, n.cdt_dbt_ind
  from ntry n
  join stmt s using (stmt_key)
  join document d using (document_row_key);

select n.amt, debtor.nm, t.rltd_pties_dbtr_acct_id_iban, creditor.nm as creditor, t.rltd_pties_cdtr_acct_id_iban,
       u.value as text, s.cdtr_ref_inf_ref
  from tx_dtls t
  join ntry_dtls using (ntry_dtls_key)
  join ntry n using (ntry_key)
  left join party_identification debtor on debtor.party_identification_key = t.rltd_pties_dbtr_key
  left join party_identification creditor on creditor.party_identification_key = t.rltd_pties_cdtr_key
  left join ustrd u using (tx_dtls_key)
  left join strd s using (tx_dtls_key);

select s.id, opening.amt as opening, closing.amt as closing, count(n.ntry_key) as entries,
       coalesce(sum(n.amt) filter (where n.cdt_dbt_ind = 'CRDT'), 0) as credits
  from stmt s
  left join bal opening on opening.stmt_key = s.stmt_key and opening.tp_cd_or_prtry_cd = 'OPBD'
  left join bal closing on closing.stmt_key = s.stmt_key and closing.tp_cd_or_prtry_cd = 'CLBD'
  left join ntry n on n.stmt_key = s.stmt_key
 group by s.stmt_key, opening.amt, closing.amt;
