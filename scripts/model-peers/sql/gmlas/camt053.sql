-- Bank statements in the tables of GMLAS.

select d.bktocstmrstmt_grphdr_msgid, s.id, s.acct_id_iban, n.bookgdt_dt, n.valdt_dt, n.amt, n.amt_ccy, n.cdtdbtind
  from document_bktocstmrstmt_stmt_ntry n
  join document_bktocstmrstmt_stmt s on s.ogr_pkid = n.parent_ogr_pkid
  join document d on d.ogr_pkid = s.parent_ogr_pkid;

select n.amt, t.rltdpties_dbtr_nm, t.rltdpties_dbtracct_id_iban, t.rltdpties_cdtr_nm, t.rltdpties_cdtracct_id_iban,
       t.rmtinf_ustrd[1] as text, r.cdtrrefinf_ref
  from document_bktocstmrstmt_stmt_ntry_ntrydtls_txdtls t
  join document_bktocstmrstmt_stmt_ntry_ntrydtls nd on nd.ogr_pkid = t.parent_ogr_pkid
  join document_bktocstmrstmt_stmt_ntry n on n.ogr_pkid = nd.parent_ogr_pkid
  left join document_bktocstmrstmt_stmt_ntry_ntrydtls_txdtls_rmtinf_strd r on r.parent_ogr_pkid = t.ogr_pkid;

select s.id, opening.amt as opening, closing.amt as closing, count(n.ogr_pkid) as entries,
       coalesce(sum(n.amt) filter (where n.cdtdbtind = 'CRDT'), 0) as credits
  from document_bktocstmrstmt_stmt s
  left join document_bktocstmrstmt_stmt_bal opening
    on opening.parent_ogr_pkid = s.ogr_pkid and opening.tp_cdorprtry_cd = 'OPBD'
  left join document_bktocstmrstmt_stmt_bal closing
    on closing.parent_ogr_pkid = s.ogr_pkid and closing.tp_cdorprtry_cd = 'CLBD'
  left join document_bktocstmrstmt_stmt_ntry n on n.parent_ogr_pkid = s.ogr_pkid
 group by s.ogr_pkid, s.id, opening.amt, closing.amt;
