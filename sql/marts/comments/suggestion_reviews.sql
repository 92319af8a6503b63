-- What the columns of suggestion_reviews mean, and in which unit.
comment on table suggestion_reviews is
'One row a night (UTC) with reviews of suggestions.';
comment on column suggestion_reviews.night is 'The date of the reviews, UTC.';
comment on column suggestion_reviews.accepted is 'Number of texts that were accepted.';
comment on column suggestion_reviews.rejected is 'Number of texts that were rejected.';
comment on column suggestion_reviews.accepted_share is
'Share of them that was accepted, in [0, 1].';
