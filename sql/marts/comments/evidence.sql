-- What the columns of evidence mean, and in which unit.
comment on table evidence is
'One row a day, candidate or pair, segment, block, kind and cell: counts add.';
comment on column evidence.day is 'The day of the decisions, in the job''s time zone.';
comment on column evidence.judged_as_of is
'The instant up to which rewards were known, UTC.';
comment on column evidence.superseded_at is
'The instant of the next version of the day, UTC; null for the newest.';
comment on column evidence.revision is
'How often the day changed after it was first read.';
comment on column evidence.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column evidence.other is
'Of a compared pair the second candidate, else empty.';
comment on column evidence.segment_by is
'Context columns that cut the segment; empty for all decisions.';
comment on column evidence.segment is
'Their values in that order; empty for all decisions.';
comment on column evidence.block is
'Part of the day by a hash of the decision id, from 0.';
comment on column evidence.kind is
'0 measured, 1 no reward, 2 no support, 3 neither; plus 4: default reward.';
comment on column evidence.sample_probability is
'Probability with which the decisions were kept in the log.';
comment on column evidence.weight_cell is
'Cell of the weight, which starts at (cell / 256)^2 of the largest one.';
comment on column evidence.reward_cell is
'Cell of the reward, which starts at cell / 128 of its range.';
comment on column evidence.decisions is 'Number of decisions.';
comment on column evidence.weight_part is
'Sum of positions inside the weight cell, in 2^-20 of it.';
comment on column evidence.reward_part is
'Sum of positions inside the reward cell, in 2^-20 of it.';
comment on column evidence.product_part is
'Sum of products of both positions, in 2^-20.';
comment on column evidence.weight_square_part is
'Sum of squared positions inside the weight cell, in 2^-20.';
comment on column evidence.unsupported_part is
'Sum of candidate mass without support, in 2^-20.';
comment on column evidence.other_unsupported_part is
'The same of the second candidate of a pair, in 2^-20.';
comment on column evidence.largest_weight_part is
'Largest position inside the weight cell, in 2^-20 of it.';
