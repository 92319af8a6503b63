-- What the columns of known_segments mean, and in which unit.
comment on table known_segments is
'One row a candidate or pair and segment: on which days it has decisions.';
comment on column known_segments.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column known_segments.other is
'Of a compared pair the second candidate, else empty.';
comment on column known_segments.segment_by is
'Context columns that cut the segment; empty for all decisions.';
comment on column known_segments.segment is
'Their values in that order; empty for all decisions.';
comment on column known_segments.first_day is
'The first day with decisions of the segment.';
comment on column known_segments.last_day is
'The last day with decisions of the segment.';
comment on column known_segments.decision_count is
'Number of decisions of the segment on all days.';
