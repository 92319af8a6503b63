-- A look-up table of a candidate, laid out along the one list of actions.
select
    ${keys},
    list_transform(
        $actions::varchar[], lambda a: coalesce(pairs[a], 0.0)
    ) as listed,
    coalesce(list_sum(list_transform(
        list_filter(
            map_entries(pairs),
            lambda e: not list_contains($actions::varchar[], e.key)
        ),
        lambda e: e.value
    )), 0.0) as unlisted
from ${table}
