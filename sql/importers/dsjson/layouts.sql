-- The actions of decisions, once for each that differ: most events of a log share them.
create or replace table layouts as
select
    layout,
    any_value(tags) as tags,
    any_value(available) as available,
    any_value(baseline) as baseline,
    actions_fault(any_value(tags), any_value(available)) as fault
from slots
where kind in ('single', 'slots')
group by layout
