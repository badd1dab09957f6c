-- The reference of a voucher to its revision implies that to its definition, whose row each insert locked.
ALTER TABLE vouchers DROP CONSTRAINT IF EXISTS vouchers_definition_id_fkey;
