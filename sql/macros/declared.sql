-- One row: what was declared of a candidate, or of one minus another. An error, with
-- what there is, where nobody declared it, or its segments.
create or replace macro declared_of(candidate, segment_by, other) as table
    with
    known as (
        select
            count(*) filter (
                where known_segments.candidate = candidate
                and known_segments.other = other
                and known_segments.segment_by = segment_by
            ) > 0 as is_known,
            array_to_string(
                list_sort(
                    list_distinct(
                        list(
                            known_segments.candidate
                            || if(known_segments.other = '', '', ' minus ')
                            || known_segments.other
                            || if(known_segments.segment_by = '', '', ' by ')
                            || known_segments.segment_by
                        )
                    )
                ),
                '; '
            ) as subjects
        from known_segments
    ),

    looks as (
        select coalesce(bool_or(estimates.state = 'withheld'), false) as is_withheld
        from estimates
        where
            estimates.candidate in (candidate, other)
            and estimates.other = ''
            and estimates.segment_by = ''
            and estimates.night = (select max(every.night) from estimates as every)
    )

    select
        settings.largest_weight as grid_bound,
        settings.least_sample_probability as least_kept,
        first.is_logging and other = '' as is_logging,
        {
            'lowest': settings.reward_lowest,
            'span': settings.reward_highest - settings.reward_lowest,
            'bound': greatest(first.largest_weight, second.largest_weight),
            'least_kept': settings.least_sample_probability,
            'rounding': settings.rounding,
            'is_support_known': settings.is_support_known,
            'is_pair': other <> '',
            'is_withheld': looks.is_withheld,
            'assumes': settings.assumes,
            'confidence': settings.confidence
        } as design
    from settings
    cross join known
    cross join looks
    left join candidates as first on first.candidate = candidate
    left join candidates as second on second.candidate = other
    where
        if(
            known.is_known,
            true,
            error('no such evidence; there is: ' || known.subjects)
        );
