-- The newest evidence of a candidate (or of one minus another, where that is declared),
-- of all decisions or by a declared segment: one row a day, hash block and cell. `value`
-- and `improvement` are scores added up, `design` what an interval is made with; of a
-- compared pair the value is the difference.
create or replace macro evidence_of(candidate, segment_by := '', other := '') as table
    with
    read as (
        select
            evidence.*,
            evidence.kind % 2 = 1 as is_reward_missing,
            evidence.unsupported_part / (1 << 20) as own_unsupported,
            evidence.other_unsupported_part / (1 << 20) as other_unsupported,
            evidence.reward_cell / 128 as reward0,
            (evidence.reward_cell + 1) / 128 as reward1,
            if(
                subject.is_logging,
                1,
                weight_at(evidence.weight_cell, subject.grid_bound)
            ) as weight0,
            if(
                subject.is_logging,
                1,
                weight_at(evidence.weight_cell + 1, subject.grid_bound)
            ) as weight1,
            least(subject.least_kept / evidence.sample_probability, 1) as kept,
            subject.design
        from declared_of(candidate, segment_by, other) as subject
        inner join evidence on
            evidence.candidate = candidate
            and evidence.segment_by = segment_by
            and evidence.other = other
            and evidence.superseded_at is null
    )

    select
        day,
        segment,
        block,
        kind,
        sample_probability,
        weight_cell,
        reward_cell,
        decisions,
        is_reward_missing,
        kept,
        split_sum(read, weight0, weight1, 1, 1) as weight,
        weight_squares(read, weight0, weight1) as weight_squares,
        cell_scores(read, weight0, weight1) as value,
        cell_scores(read, weight0 - 1, weight1 - 1) as improvement,
        design
    from read;
