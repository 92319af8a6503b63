-- Over a log: estimates with an interval for any grouping of rows, from the weight and
-- the reward (null: not arrived) of each decision. floor, lowest and highest come from
-- the design of the logging policy and of the reward, never from the log.

create or replace macro log_facts(
    weight, scaled, unsupported, kept, floor, origin, span, bottom, least_kept
) as {
    'origin': origin,
    'span': span,
    'bottom': bottom,
    'top': 1,
    'reaches': { 'low': 1 / floor, 'high': 1 / floor + 1 },
    'unseen': 0,
    'least_kept': least_kept,
    'rounding': 0,
    'effective_sample_size': effective_sample_size(kept * weight),
    'state': case
        when log_fault(weight, scaled, unsupported, kept, floor) is not null
            then error(log_fault(weight, scaled, unsupported, kept, floor))
        when count(*) = 0 then 'no_decision'
        when count(scaled) = 0 then 'all_rewards_missing'
        else 'estimated'
    end
};

-- weight: on supported actions; score: what a reward is multiplied with. origin, bottom:
-- the estimand where the scaled score is 0, and its least scaled value.
create or replace macro log_answer(
    weight, score, reward, floor, lowest, highest, unsupported,
    sample_probability, least_sample_probability, confidence, origin, bottom
) as
exploratory_answer(
    log_sums(
        score,
        (reward - lowest) / (highest - lowest),
        unsupported,
        least_sample_probability / sample_probability
    ),
    log_facts(
        weight,
        (reward - lowest) / (highest - lowest),
        unsupported,
        least_sample_probability / sample_probability,
        floor,
        origin,
        highest - lowest,
        bottom,
        least_sample_probability
    ),
    confidence
);

-- The candidate's mean reward. unsupported: `log_unsupported`, where some action lies
-- below the floor. sample_probability: with which the decision was kept in the log, and
-- the least one by design.
create or replace macro exploratory_log_value(
    weight, reward, floor, lowest, highest, unsupported := 0,
    sample_probability := 1, least_sample_probability := 1, confidence := 0.95
) as
log_answer(
    weight, weight, reward, floor, lowest, highest, unsupported,
    sample_probability, least_sample_probability, confidence, lowest, 0
);

-- The candidate's mean reward minus that of the policy that ran.
create or replace macro exploratory_log_improvement(
    weight, reward, floor, lowest, highest, unsupported := 0,
    sample_probability := 1, least_sample_probability := 1, confidence := 0.95
) as
log_answer(
    weight, weight - 1, reward, floor, lowest, highest, unsupported,
    sample_probability, least_sample_probability, confidence, 0, -1
);
