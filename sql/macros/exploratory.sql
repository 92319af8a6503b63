-- Over evidence: `exploratory_value(e)` and `exploratory_improvement(e)`, for any
-- grouping of `evidence_of(...) as e`. What they claim: `bernstein_answer.sql`.

create or replace macro evidence_sums(e, scores) as {
    'decisions': sum(e.decisions)::double,
    'kept': added(e.kept * e.decisions),
    'kept_squares': added(e.kept ** 2 * e.decisions),
    'low': added(e.kept * scores.low),
    'low_squares': added(e.kept ** 2 * scores.low_squares),
    'high': added(e.kept * scores.high),
    'high_squares': added(e.kept ** 2 * scores.high_squares)
};

-- Where the log does not tell mass without support, it is what weights fall short of
-- one, and the ends that it bears on reach as far as is possible.
create or replace macro evidence_facts(e, design, origin, bottom, reach) as {
    'origin': origin,
    'span': design.span,
    'bottom': bottom,
    'top': 1,
    'reaches': {
        'low': if(
            design.is_support_known or not design.is_pair, reach, 'infinity'::double
        ),
        'high': if(design.is_support_known, reach + 1, 'infinity'::double)
    },
    'unseen': if(
        design.is_support_known or design.is_pair,
        0,
        greatest(added(e.kept * e.decisions) - added(e.kept * e.weight), 0)
    ),
    'least_kept': design.least_kept,
    'rounding': design.rounding * if(design.is_pair, 2, 1),
    'effective_sample_size': added(e.kept * e.weight) ** 2
    / nullif(added(e.kept ** 2 * e.weight_squares), 0),
    'state': case
        when count(*) = 0 then 'no_decision'
        when design.is_withheld then 'withheld'
        when bool_and(e.is_reward_missing) then 'all_rewards_missing'
        when design.assumes <> 'constant_mean' then 'no_interval'
        else 'estimated'
    end
};

-- The candidate's mean reward; of a compared pair the difference of two.
create or replace macro exploratory_value(e, confidence := null) as
exploratory_answer(
    evidence_sums(e, e.value),
    evidence_facts(
        e,
        any_value(e.design),
        if(any_value(e.design).is_pair, 0, any_value(e.design).lowest),
        if(any_value(e.design).is_pair, -1, 0),
        any_value(e.design).bound * if(any_value(e.design).is_pair, 2, 1)
        + if(any_value(e.design).is_pair, 1, 0)
    ),
    coalesce(confidence, any_value(e.design).confidence)
);

-- The candidate's mean reward minus that of the policy that ran.
create or replace macro exploratory_improvement(e, confidence := null) as
exploratory_answer(
    evidence_sums(e, e.improvement),
    evidence_facts(
        e,
        any_value(e.design),
        if(
            any_value(e.design).is_pair,
            error('a compared pair has a difference, its value, and no improvement'),
            0
        ),
        -1,
        any_value(e.design).bound
    ),
    coalesce(confidence, any_value(e.design).confidence)
);
