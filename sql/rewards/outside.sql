-- Decisions whose reward lies outside its range.
with
outside as (
    select
        number,
        reward
    from judgements
    where
        is_outside
        and status_of(is_immature, is_unactivated, is_rewarded) = 'observed'
)

select
    decision.file,
    decision.row,
    decision.decision_id,
    outside.reward::varchar as value
from rewarded_decisions as decision
inner join outside using (number)
order by number
