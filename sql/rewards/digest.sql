-- What tells one outcome from another, in any order of the rows.
select
    sum(
        hash(number, reward, is_rewarded, is_immature, is_unactivated)::hugeint
    )::varchar as digest
from judgements
