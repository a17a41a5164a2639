-- Award notices: the three questions of standards/eforms.ts.

select notice.id, lot.id as lot, name.value as name, p.procurement_type_code, goods.item_classification_code,
       p.requested_tender_total_estimated_overall_contract_amount, p.estimated_overall_contract_amount_currency_id
  from procurement_project_lot lot
  join contract_award_notice notice using (contract_award_notice_key)
  left join procurement_project p on p.procurement_project_key = lot.procurement_project_key
  left join name on name.procurement_project_key = p.procurement_project_key
  left join commodity_classification goods
    on goods.procurement_project_key = p.procurement_project_key and goods.role = 'cac:MainCommodityClassification';

select notice.id, t.id as tender, t.rank_code, t.legal_monetary_total_payable_amount,
       t.monetary_total_payable_amount_currency_id, lot.id as lot, party.id as party
  from lot_tender t
  join contract_award_notice notice using (document_key)
  left join tender_lot lot using (lot_tender_key)
  left join tendering_party party using (lot_tender_key)
 where t.ubl_extension_key is not null;

select party.id, member.id as organisation, name.name, o.postal_address_city_name,
       o.postal_address_country_identification_code
  from tendering_party party
  join tenderer member using (tendering_party_key)
  join organization o on o.document_key = member.document_key and o.company_party_identification_id = member.id
  left join party_name name using (organization_key)
 where party.ubl_extension_key is not null;
