-- One row a day and version of its rewards, where they come in a table of their own: what
-- became of decisions and events, and delays in seconds. A version holds from the night
-- known_from on, until the next one supersedes it. On days still open a decision without
-- a reward is missing, never the default.
create table rewards as
select
    day,
    known_from,
    judged_as_of,
    superseded_at,
    is_open,
    decisions,
    observed,
    "default" as defaulted,
    missing,
    immature,
    unactivated,
    rewarded_unactivated,
    clipped,
    ties,
    events,
    duplicates,
    contradicting,
    dangling,
    no_such_slot,
    waiting,
    too_early,
    timely,
    late,
    late_after_closing,
    before_the_decision,
    at_the_boundary,
    wrong_item,
    outside,
    zeros,
    ones,
    activations,
    dangling_activations,
    late_activations,
    median_seconds,
    percentile_99_seconds,
    largest_seconds
from read_parquet(${files})
order by
    day,
    judged_as_of
