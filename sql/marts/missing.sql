-- One row a day, candidate, segment and kind of missing decision.
create table missing as
select
    day,
    candidate,
    segment_by,
    segment,
    case kind % 4
        when 1 then 'reward'
        when 2 then 'support'
        else 'both'
    end as kind,
    sum(decisions)::bigint as decision_count,
    sum(unsupported_part)::double / (1 << 20) / sum(decisions)::double
        as unsupported_probability
from evidence
where
    kind % 4 > 0
    and other = ''
    and superseded_at is null
group by
    day,
    candidate,
    segment_by,
    segment,
    kind % 4
order by
    day,
    candidate,
    segment_by,
    segment,
    kind
