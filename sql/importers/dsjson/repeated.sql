-- Sets aside events whose id stands on several lines: of a configuration's folder all
-- but the newest folder's, of equal lines all but the first, and differing lines all.
insert into set_aside
with
events as (
    select
        lines.rowid as line_id,
        id,
        line_hash,
        file
    from lines
    where
        kind in ('single', 'slots')
        and lines.rowid not in (select line_id from set_aside)
),

repeated as (
    select id
    from events
    where id is not null
    group by id
    having count(*) > 1
),

placed as (
    select
        *,
        configured_at < max(configured_at) over (partition by id) as is_replayed
    from events
    semi join repeated using (id)
    inner join files using (file)
),

compared as (
    select
        *,
        min(line_hash) over same <> max(line_hash) over same as is_conflicting,
        row_number() over (same order by line_id) > 1 as is_repeated
    from placed
    window same as (partition by id, is_replayed)
)

select
    line_id,
    case
        when is_conflicting and not is_replayed then 'rejected' else 'skipped'
    end as outcome,
    case
        when is_replayed then 'replayed in a newer configuration folder'
        when is_conflicting then 'the id stands on lines that differ'
        else 'the same line again'
    end as reason,
    null as value
from compared
where is_replayed or is_conflicting or is_repeated
