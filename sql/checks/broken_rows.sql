-- Every row that breaks a rule, with the first rule it breaks in each chain.
create or replace temp table broken_rows as
${queries}
