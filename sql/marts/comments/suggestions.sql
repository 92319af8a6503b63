-- What the columns of suggestions mean, and in which unit.
comment on table suggestions is
'One row a suggestion that waits for review; texts are masked.';
comment on column suggestions.suggestion is 'Names the suggestion.';
comment on column suggestions.qna_id is 'The pair of the knowledge base it is for.';
comment on column suggestions.pair is 'The question of that pair.';
comment on column suggestions.head is 'The most asked text of the suggestion.';
comment on column suggestions.size is 'Number of queries it stands for.';
comment on column suggestions.auto_count is
'Number of queries whose answers the bot''s scores alone told.';
comment on column suggestions.user_count is
'Number of queries whose answer a user picked.';
comment on column suggestions.users is
'Number of users who asked, as far as they are known.';
comment on column suggestions.is_one_user is 'Whether one user asked all of it.';
comment on column suggestions.is_own_assignment is
'Whether the pair was found by likeness, not by scores.';
comment on column suggestions.margin is
'Least margin of that likeness over the next pair; null where not.';
comment on column suggestions.state is 'new, grown or shown.';
comment on column suggestions.first_shown is 'The date on which it was first shown.';
