-- The action taken is one of the actions listed.
-- Do: name actions exactly alike in both columns.
select
    action_position > 0 as holds,
    action || ' is not in ' || actions::varchar || coalesce(
        '; did you mean ' || list_filter(
            actions, lambda a: lower(trim(a)) = lower(trim(action))
        )[1] || '?',
        ''
    ) as value
from measured_decisions
