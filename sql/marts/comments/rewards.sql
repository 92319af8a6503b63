-- What the columns of rewards mean, and in which unit.
comment on table rewards is
'One row a day and version of its rewards, where they come apart.';
comment on column rewards.day is 'The day of the decisions.';
comment on column rewards.known_from is 'The night from which on the version holds.';
comment on column rewards.judged_as_of is
'The instant up to which rewards were known, UTC.';
comment on column rewards.superseded_at is
'The instant of the next version, UTC; null for the newest.';
comment on column rewards.is_open is 'Whether rewards of the day may still arrive.';
comment on column rewards.decisions is 'Number of decisions.';
comment on column rewards.observed is 'Number of decisions with a reward.';
comment on column rewards.defaulted is 'Number of decisions with the default reward.';
comment on column rewards.missing is 'Number of decisions whose reward is missing.';
comment on column rewards.immature is
'Number of decisions younger than the wait, which enter nothing.';
comment on column rewards.unactivated is
'Number of deferred decisions not activated inside their window.';
comment on column rewards.rewarded_unactivated is 'Number of those that have a reward.';
comment on column rewards.clipped is 'Number of rewards set to an end of the range.';
comment on column rewards.ties is
'Number of decisions with several first rewards of one instant.';
comment on column rewards.events is 'Number of reward events.';
comment on column rewards.duplicates is
'Number of events that repeat a reward_id of their decision.';
comment on column rewards.contradicting is
'Number of those that say something else than the first.';
comment on column rewards.dangling is
'Number of events received on the day without a decision.';
comment on column rewards.no_such_slot is
'Number of events whose decision lacks their slot.';
comment on column rewards.waiting is 'Number of events of immature decisions.';
comment on column rewards.too_early is 'Number of events received before the window.';
comment on column rewards.timely is 'Number of events received inside the window.';
comment on column rewards.late is
'Number of events received at or after the end of the window.';
comment on column rewards.late_after_closing is
'Number of events received for decisions of a day that had closed.';
comment on column rewards.before_the_decision is
'Number of timely events received before their decision.';
comment on column rewards.at_the_boundary is
'Number of late events received exactly when the wait ended.';
comment on column rewards.wrong_item is 'Number of timely events about another action.';
comment on column rewards.outside is
'Number of events whose own reward lies outside the range.';
comment on column rewards.zeros is 'Number of observed rewards that are 0.';
comment on column rewards.ones is 'Number of observed rewards that are 1.';
comment on column rewards.activations is 'Number of activation events.';
comment on column rewards.dangling_activations is
'Number of activation events without a decision.';
comment on column rewards.late_activations is
'Number of activation events after their window.';
comment on column rewards.median_seconds is
'Median delay from decisions to rewards, in seconds.';
comment on column rewards.percentile_99_seconds is
'Delay that 99 % of rewards do not exceed, in seconds.';
comment on column rewards.largest_seconds is 'Largest delay, in seconds.';
