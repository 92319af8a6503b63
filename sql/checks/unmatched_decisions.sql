-- How many decisions have no entry in the candidate table, and the reverse.
select
    (
        select count(*)
        from measured_decisions
        anti join ${table} using (${keys})
    ) as decision_count,
    (
        select count(*)
        from ${table}
        anti join measured_decisions using (${keys})
    ) as entry_count,
    (select count(*) from ${table}) as all_entry_count
