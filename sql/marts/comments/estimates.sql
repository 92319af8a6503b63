-- What the columns of estimates mean, and in which unit.
comment on table estimates is
'One row a night, window, candidate or pair, segment, estimand and estimator.';
comment on column estimates.night is
'The night the estimate was made for: a date in the job''s time zone.';
comment on column estimates."window" is
'Which days it is about: night, last_7, last_28 or since_start.';
comment on column estimates.window_start is 'The first day of the window.';
comment on column estimates.window_end is 'The last day of the window.';
comment on column estimates.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column estimates.other is
'Of a compared pair the second candidate, else empty.';
comment on column estimates.segment_by is
'Context columns that cut the segment; empty for all decisions.';
comment on column estimates.segment is
'Their values in that order; empty for all decisions.';
comment on column estimates.estimand is
'value, improvement (over the logging policy) or difference (to other).';
comment on column estimates.estimator is
'What the estimate was made by; rows of several are never to be mixed.';
comment on column estimates.estimate is
'The estimate, in the unit of the reward; null when withheld.';
comment on column estimates.lower is
'Lower end of the interval, in the unit of the reward.';
comment on column estimates.upper is
'Upper end of the interval, in the unit of the reward.';
comment on column estimates.identified_lower is
'The least that missing decisions leave open, in the unit of the reward.';
comment on column estimates.identified_upper is
'The most that missing decisions leave open, in the unit of the reward.';
comment on column estimates.method is
'How the interval was made: fixed, anytime, mixture or compat.';
comment on column estimates.confidence is 'Of the interval: probability in (0, 1).';
comment on column estimates.look is
'Under which looks the interval holds: single look or every look.';
comment on column estimates.assumes is
'Of the mean reward: constant_mean or running_average.';
comment on column estimates.state is
'estimated, withheld, all_rewards_missing or nothing_measured.';
comment on column estimates.decisions is 'Number of decisions in the window.';
comment on column estimates.missing_reward is
'Number of decisions without a reward alone.';
comment on column estimates.missing_support is
'Number of decisions with candidate mass without support alone.';
comment on column estimates.missing_both is 'Number of decisions that lack both.';
comment on column estimates.unsupported_probability is
'Mean candidate mass without support: probability in [0, 1].';
comment on column estimates.mean_weight is
'Mean importance weight, on supported actions.';
comment on column estimates.expected_mean_weight is
'What true logged probabilities give; null where support is not known.';
comment on column estimates.effective_sample_size is
'Squared sum of weights over sum of squares, in decisions.';
comment on column estimates.largest_weight is 'Largest importance weight.';
comment on column estimates.top_share is
'Share of the value carried by the top 1 % of decisions; null where it is 0.';
comment on column estimates.assumptions is
'What the estimate assumes: assumption, status and finding of each.';
comment on column estimates.run_id is 'The run that made the estimate.';
