-- What became of the known events, duplicates once, and how long rewards took.
select
    count(*) filter (where fate = 'dangling') as dangling,
    count(*) filter (where fate = 'elsewhere') as elsewhere,
    count(*) filter (where fate = 'no_such_slot') as no_such_slot,
    count(*) filter (where fate = 'waiting') as waiting,
    count(*) filter (where fate = 'too_early') as too_early,
    count(*) filter (where fate = 'timely') as timely,
    count(*) filter (where fate = 'late') as late,
    count(*) filter (where fate = 'timely' and delay_us < 0) as before_the_decision,
    count(*) filter (where delay_us = ${wait_us} and fate = 'late') as at_the_boundary,
    count(*) filter (where fate = 'timely' and is_wrong_item) as wrong_item,
    quantile_disc(greatest(delay_us, 0), [0.5, 0.99, 1]) filter (
        where fate in ('timely', 'late')
    ) as delays_us
from distinct_rewards
