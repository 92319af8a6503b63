-- The action taken is one of the declared actions.
-- Do: declare every action that could be taken, named exactly as in the log.
select
    actions is null or list_contains(actions, action) as holds,
    action || ' is not in ' || actions::varchar || coalesce(
        '; did you mean ' || list_filter(
            actions, lambda a: lower(trim(a)) = lower(trim(action))
        )[1] || '?',
        ''
    ) as value
from measured_decisions
