-- Over a log, with nothing else of untaken's: the weight of a decision, and an estimate
-- for any grouping of rows. What they claim: `bernstein_answer.sql`. Nothing tells a log
-- whose policy reacted to rewards: no interval holds for it.

-- What the candidate gives the logged action over what the logging policy gave it; 0
-- below the floor. Both lists of probabilities are parallel to `actions`.
create or replace macro log_weight(
    action, actions, logging_probabilities, candidate_probabilities, floor
) as
if(
    logging_probabilities[list_position(actions, action)] >= floor * (1 - 1e-9),
    candidate_probabilities[list_position(actions, action)]
    / logging_probabilities[list_position(actions, action)],
    0
);

-- How much the candidate gives to actions below the floor, where it has no support.
create or replace macro log_unsupported(
    logging_probabilities, candidate_probabilities, floor
) as
coalesce(
    list_sum(
        [
            pair[2]
            for pair in list_zip(logging_probabilities, candidate_probabilities)
            if pair[1] < floor * (1 - 1e-9)
        ]
    ),
    0
);

-- (sum w)^2 / sum w^2, in decisions.
create or replace macro effective_sample_size(weight) as
added(weight) ** 2 / nullif(added(weight ** 2), 0);

-- Scores of rows, added up: as `cell_scores`, of decisions one by one.
create or replace macro log_sums(stake, scaled, unsupported, kept) as {
    'decisions': count(*)::double,
    'kept': added(kept),
    'kept_squares': added(kept ** 2),
    'low': added(kept * coalesce(stake * scaled, least(stake, 0))),
    'low_squares': added((kept * coalesce(stake * scaled, least(stake, 0))) ** 2),
    'high': added(
        kept * (coalesce(stake * scaled, greatest(stake, 0)) + unsupported)
    ),
    'high_squares': added(
        (kept * (coalesce(stake * scaled, greatest(stake, 0)) + unsupported)) ** 2
    )
};

-- What rows may not be: outside the range, of unknown weight, heavier than the floor
-- allows. Null where they are fine.
create or replace macro log_fault(weight, scaled, unsupported, kept, floor) as
case
    when count(weight) < count(*) then 'a weight is null'
    when not (min(weight) >= 0 and max(weight) <= (1 + 1e-6) / floor)
        then 'a weight lies outside [0, 1 / floor]: ' || max(weight)::varchar
    when not (min(scaled) >= 0 and max(scaled) <= 1)
        then 'a reward lies outside the range'
    when
        not (
            count(unsupported) = count(*)
            and min(unsupported) >= 0
            and max(unsupported) <= 1 + 1e-6
        )
        then 'an unsupported mass lies outside [0, 1]'
    when not (count(kept) = count(*) and min(kept) > 0 and max(kept) <= 1)
        then 'a sample probability lies outside [the least one, 1]'
end;
