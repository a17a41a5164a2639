-- Award notices in the tables of GMLAS.

select notice.id, lot.id as lot, name.value as name, p.procurementtypecode, goods.itemclassificationcode,
       p.requestedtendertotal_estimatedoverallcontractamount, p.requestetendertotal_estimateoverallcontractamount_currencyid
  from contractawardnotice_procuremeprojectlot_procuremenprojectlot l
  join contractawardnotice notice on notice.ogr_pkid = l.parent_pkid
  join procurementprojectlot lot on lot.ogr_pkid = l.child_pkid
  left join procurementproject p on p.ogr_pkid = lot.procurementproject_pkid
  left join procurementproject_name name on name.parent_ogr_pkid = p.ogr_pkid
  left join procurementproject_maincommodityclassification goods on goods.parent_ogr_pkid = p.ogr_pkid;

select notice.id, t.id as tender, t.rankcode, total.payableamount, total.payableamount_currencyid, lot.id as lot,
       party.id as party
  from uble_uble_exteconte_eformexten_noticresul_lottende_lottender l
  join lottender t on t.ogr_pkid = l.child_pkid
  join ublextensions_ublextension e on e.ogr_pkid = l.parent_pkid
  join contractawardnotice notice on notice.ublextensions_pkid = e.parent_ogr_pkid
  left join legalmonetarytotal total on total.ogr_pkid = t.legalmonetarytotal_pkid
  left join lottender_tenderlot lot on lot.parent_ogr_pkid = t.ogr_pkid
  left join lottender_tenderingparty_tenderingparty tp on tp.parent_pkid = t.ogr_pkid
  left join tenderingparty party on party.ogr_pkid = tp.child_pkid;

select party.id, member.id as organisation, name.name, address.cityname, country.identificationcode
  from uble_uble_extecont_eforexte_noticresul_tendeparty_tendeparty l
  join tenderingparty party on party.ogr_pkid = l.child_pkid
  join tenderingparty_tenderer member on member.parent_ogr_pkid = party.ogr_pkid
  join ublext_ublext_extensconten_eformsextens_organiz_organization o on o.parent_ogr_pkid = l.parent_pkid
  join partyidentification known on known.ogr_pkid = o.company_partyidentification_pkid and known.id = member.id
  left join uble_uble_extecont_eforexte_orga_orga_comp_partname_partname ln on ln.parent_pkid = o.ogr_pkid
  left join partyname name on name.ogr_pkid = ln.child_pkid
  left join postaladdress address on address.ogr_pkid = o.company_postaladdress_pkid
  left join country on country.ogr_pkid = address.country_pkid;
