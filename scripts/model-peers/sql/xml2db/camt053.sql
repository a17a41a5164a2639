-- Bank statements in the tables of xml2db.

select d."MsgId", s."Id", s."Acct_Id_IBAN", n."BookgDt_Dt", n."ValDt_Dt", n."Amt_value", n."Amt_Ccy", n."CdtDbtInd"
  from "Stmt_Ntry" sn
  join "Ntry" n on n."pk_Ntry" = sn."fk_Ntry"
  join "Stmt" s on s."pk_Stmt" = sn."fk_Stmt"
  join "Document_Stmt" ds on ds."fk_Stmt" = s."pk_Stmt"
  join "Document" d on d."pk_Document" = ds."fk_Document";

select n."Amt_value", p."Dbtr_Nm", da."Id_IBAN", p."Cdtr_Nm", ca."Id_IBAN" as creditor_iban, t."RmtInf_Ustrd", s."CdtrRefInf_Ref"
  from "NtryDtls_TxDtls" nt
  join "TxDtls" t on t."pk_TxDtls" = nt."fk_TxDtls"
  join "Ntry_NtryDtls" nn on nn."fk_NtryDtls" = nt."fk_NtryDtls"
  join "Ntry" n on n."pk_Ntry" = nn."fk_Ntry"
  join "Stmt_Ntry" sn on sn."fk_Ntry" = n."pk_Ntry"
  left join "RltdPties" p on p."pk_RltdPties" = t."fk_RltdPties"
  left join "RltdAcct" da on da."pk_RltdAcct" = p."DbtrAcct_fk_RltdAcct"
  left join "RltdAcct" ca on ca."pk_RltdAcct" = p."CdtrAcct_fk_RltdAcct"
  left join "TxDtls_RmtInf_Strd" ts on ts."fk_TxDtls" = t."pk_TxDtls"
  left join "Strd" s on s."pk_Strd" = ts."fk_Strd";

select s."Id", opening."Amt_value" as opening, closing."Amt_value" as closing, count(n."pk_Ntry") as entries,
       coalesce(sum(n."Amt_value") filter (where n."CdtDbtInd" = 'CRDT'), 0) as credits
  from "Document_Stmt" ds
  join "Stmt" s on s."pk_Stmt" = ds."fk_Stmt"
  left join (select b.*, sb."fk_Stmt" from "Stmt_Bal" sb join "Bal" b on b."pk_Bal" = sb."fk_Bal") opening
    on opening."fk_Stmt" = s."pk_Stmt" and opening."Tp_CdOrPrtry_Cd" = 'OPBD'
  left join (select b.*, sb."fk_Stmt" from "Stmt_Bal" sb join "Bal" b on b."pk_Bal" = sb."fk_Bal") closing
    on closing."fk_Stmt" = s."pk_Stmt" and closing."Tp_CdOrPrtry_Cd" = 'CLBD'
  left join "Stmt_Ntry" sn on sn."fk_Stmt" = s."pk_Stmt"
  left join "Ntry" n on n."pk_Ntry" = sn."fk_Ntry"
 group by ds."fk_Document", s."pk_Stmt", s."Id", opening."Amt_value", closing."Amt_value";
