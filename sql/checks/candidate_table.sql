-- Entries of a candidate table that are not a distribution, and keys that repeat.
with
entries as (
    select
        ${keys_text} as entry,
        map_values(pairs) as probabilities,
        count(*) over (partition by ${keys}) as entry_count
    from ${table}
)

select
    entry,
    case
        when entry is null then 'a key is null'
        when entry_count > 1
            then 'the key stands more than once'
        when (list_count(probabilities) = len(probabilities)) is not true
            then 'a probability is null'
        when (
            list_min(probabilities) >= 0 and list_max(probabilities) <= 1
        ) is not true
            then 'probabilities lie outside 0 to 1: ' || probabilities::varchar
        when (abs(list_sum(probabilities) - 1) <= $sum_tolerance) is not true
            then 'probabilities sum to ' || list_sum(probabilities)::varchar
    end as problem
from entries
where problem is not null
order by
    entry,
    problem
