-- One row a finished run; the only table that holds times of runs.
create table runs as
select
    run_id,
    night,
    started_at,
    finished_at,
    untaken_version,
    job_digest,
    days_read,
    nights_estimated,
    decision_count,
    exit_code,
    message
from
    read_json(
        ${files},
        columns = {
            run_id: 'varchar',
            night: 'date',
            started_at: 'timestamptz',
            finished_at: 'timestamptz',
            untaken_version: 'varchar',
            job_digest: 'varchar',
            days_read: 'bigint',
            nights_estimated: 'bigint',
            decision_count: 'bigint',
            exit_code: 'bigint',
            message: 'varchar'
        }
    )
order by
    started_at,
    run_id
