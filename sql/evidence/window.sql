-- The evidence of a candidate (or compared pair) in some segments and a window, counts
-- added over everything that an interval does not tell apart. Of each day the version
-- that was known at an instant.
with in_window as (
    select
        ${place} as unit,
        kind,
        sample_probability,
        weight_cell,
        reward_cell,
        decisions,
        weight_part,
        reward_part,
        product_part,
        weight_square_part,
        unsupported_part,
        other_unsupported_part,
        largest_weight_part
    from warehouse.evidence
    where
        candidate = $candidate
        and other = $other
        and segment_by = $segment_by
        and list_contains($segments::varchar[], segment)
        and day between $first::date and $last::date
        and ($as_of::timestamptz is null or judged_as_of <= $as_of::timestamptz)
        and (superseded_at is null or superseded_at > $as_of::timestamptz)
)

select
    unit,
    kind,
    sample_probability,
    weight_cell,
    reward_cell,
    sum(decisions)::bigint as decisions,
    sum(weight_part)::bigint as weight_part,
    sum(reward_part)::bigint as reward_part,
    sum(product_part)::bigint as product_part,
    sum(weight_square_part)::bigint as weight_square_part,
    sum(unsupported_part)::bigint as unsupported_part,
    sum(other_unsupported_part)::bigint as other_unsupported_part,
    max(largest_weight_part) as largest_weight_part
from in_window
group by
    unit,
    kind,
    sample_probability,
    weight_cell,
    reward_cell
