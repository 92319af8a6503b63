-- An interval that SQL can express: the empirical Bernstein bound of Maurer and Pontil
-- (2009), "Empirical Bernstein bounds and sample variance penalization", Theorem 4. Of n
-- independent scores with one law, in a range of width R, with sample variance V, the
-- true mean lies above the seen one by more than
--     sqrt(2 V ln(2 / error) / n) + 7 R ln(2 / error) / (3 (n - 1))
-- with probability `error` at most; and below it likewise. It holds at any n, for a
-- single look at a question that was asked before. A larger V only widens it.

-- A sum that is the same in any order: of whole multiples of 2^-40.
create or replace macro added(given) as
sum(round(given * (1::bigint << 40))::hugeint)::double / (1::bigint << 40);

-- How far the true mean may lie from that of so many scores; endless below two.
create or replace macro bernstein_radius(decisions, total, squares, reach, error) as
case
    when decisions < 2 then 'infinity'::double
    else
        sqrt(
            2 * ln(2 / error) / decisions / (decisions - 1)
            * greatest(squares - total * total / decisions, 0)
        )
        + 7 * reach * ln(2 / error) / (3 * (decisions - 1))
end;

-- Where the mean of `kept` lies: 1 where every decision was kept in the log.
create or replace macro kept_ends(sums, least_kept, error) as {
    'lower': greatest(
        sums.kept / sums.decisions - bernstein_radius(
            sums.decisions, sums.kept, sums.kept_squares, 1 - least_kept, error
        ),
        least_kept
    ),
    'upper': least(
        sums.kept / sums.decisions + bernstein_radius(
            sums.decisions, sums.kept, sums.kept_squares, 1 - least_kept, error
        ),
        1
    )
};

-- The least ratio of a number to one between two others.
create or replace macro least_ratio(number, ends) as
case when number < 0 then number / ends.lower else number / ends.upper end;

-- Two-sided interval of the mean score, the least and the greatest a missing decision
-- can have at either end. `error` is for each of two bounds, or of four in a sampled
-- log, where the mean is a ratio.
create or replace macro bernstein_ends(sums, reaches, least_kept, error) as {
    'lower': least_ratio(
        sums.low / sums.decisions - bernstein_radius(
            sums.decisions, sums.low, sums.low_squares, reaches.low, error
        ),
        kept_ends(sums, least_kept, error)
    ),
    'upper': -least_ratio(
        -sums.high / sums.decisions - bernstein_radius(
            sums.decisions, sums.high, sums.high_squares, reaches.high, error
        ),
        kept_ends(sums, least_kept, error)
    )
};
