-- What an analyst's own grouping says of a candidate: an estimate with an interval by
-- the empirical Bernstein bound (`bernstein.sql`). Nobody declared the grouping before
-- the data was seen, so all of it is exploratory: each interval holds alone and for one
-- look, and no gate and no decision may rest on it. For k groups together, 1 - 0.05 / k
-- as confidence. Ends are null where the bound does not hold: rewards drift, or the
-- logging policy reacts to them. The estimate is the middle of what missing decisions
-- leave open.

-- The interval, scaled: cut to what is possible.
create or replace macro bernstein_interval(sums, facts, confidence) as
list_transform(
    [
        bernstein_ends(
            sums,
            facts.reaches,
            facts.least_kept,
            (1 - confidence) / if(facts.least_kept < 1, 4, 2)
        )
    ],
    lambda ends: {
        'lower': greatest(facts.bottom, ends.lower - facts.rounding),
        'upper': least(facts.top, ends.upper + facts.rounding)
    }
)[1];

-- sums: of scores, scaled; facts: origin and span of the unit, what is possible, how far
-- scores reach, and how it stands with the estimate. Lambdas reckon each of them once.
create or replace macro exploratory_answer(sums, facts, confidence) as
list_transform(
    list_transform(
        [
            {
                'sums': sums,
                'facts': facts,
                'confidence': confidence::double
            }
        ],
        lambda x: {
            'sums': x.sums,
            'facts': x.facts,
            'confidence': x.confidence,
            'middle': (x.sums.low + x.sums.high + x.facts.unseen) / x.sums.kept / 2,
            'ends': bernstein_interval(x.sums, x.facts, x.confidence)
        }
    ),
    lambda x: {
        'estimate': case
            when x.facts.state in ('estimated', 'no_interval')
                then x.facts.origin + x.facts.span * x.middle
        end,
        'lower': case
            when x.facts.state = 'estimated'
                then x.facts.origin + x.facts.span * x.ends.lower
        end,
        'upper': case
            when x.facts.state = 'estimated'
                then x.facts.origin + x.facts.span * x.ends.upper
        end,
        'decisions': x.sums.decisions::bigint,
        'effective_sample_size': x.facts.effective_sample_size,
        'confidence': x.confidence,
        'method': 'empirical_bernstein',
        'look': 'exploratory',
        'assumes': 'constant_mean',
        'state': x.facts.state
    }
)[1];
