-- How evidence is read back. A decision's weight and reward lie somewhere in its cell,
-- and its mass is split between the corners of the cell so that weight, reward and their
-- product keep their means: sums of scores are as exact as the counts are.

-- The weight at an end of a cell, -256 to 256: ends grow as squares do.
create or replace macro weight_at(cell, largest_weight) as
largest_weight * cell * abs(cell) / 65536;

-- The sum of f(weight) g(reward) over the decisions of a cell, from f and g at its ends.
-- Exact for lines; not below the true sum for convex ones, nor above it for concave.
create or replace macro split_sum(e, f0, f1, g0, g1) as
e.decisions * f0 * g0
+ e.weight_part * (f1 - f0) * g0 / (1 << 20)
+ e.reward_part * f0 * (g1 - g0) / (1 << 20)
+ e.product_part * (f1 - f0) * (g1 - g0) / (1 << 20);

create or replace macro scores_between(e, low0, low1, high0, high1, g0, g1) as {
    'low': split_sum(e, low0, low1, g0, g1) - e.other_unsupported,
    'low_squares': split_sum(e, low0 ** 2, low1 ** 2, g0 ** 2, g1 ** 2)
    + (1 - 2 * least(low0, low1, 0)) * e.other_unsupported,
    'high': split_sum(e, high0, high1, g0, g1) + e.own_unsupported,
    'high_squares': split_sum(e, high0 ** 2, high1 ** 2, g0 ** 2, g1 ** 2)
    + (1 + 2 * greatest(high0, high1, 0)) * e.own_unsupported
};

-- Scores of a cell, added up, and their squares. A score is stake times reward (scaled
-- to [0, 1]); a missing reward is the worst one in `low` and the best in `high`, and so
-- is the reward of what the candidate does without support, `own_unsupported`, and the
-- `other_unsupported` of the one it is compared with. Only the sum of such mass is
-- known: squares are as large as it can make them.
create or replace macro cell_scores(e, stake0, stake1) as
scores_between(
    e,
    if(e.is_reward_missing, least(stake0, 0), stake0),
    if(e.is_reward_missing, least(stake1, 0), stake1),
    if(e.is_reward_missing, greatest(stake0, 0), stake0),
    if(e.is_reward_missing, greatest(stake1, 0), stake1),
    if(e.is_reward_missing, 1, e.reward0),
    if(e.is_reward_missing, 1, e.reward1)
);

-- The squared weights of a cell, added up.
create or replace macro weight_squares(e, weight0, weight1) as
e.decisions * weight0 ** 2
+ 2 * weight0 * (weight1 - weight0) * e.weight_part / (1 << 20)
+ (weight1 - weight0) ** 2 * e.weight_square_part / (1 << 20);
