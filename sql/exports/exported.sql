-- What a target holds of a job once it is written, by table and night.
create or replace temp table exported as
select
    unnest($tables::varchar[]) as table_name,
    unnest($nights::date[]) as night,
    unnest($counts::bigint[]) as row_count,
    unnest($digests::varchar[]) as digest,
    unnest($versions::varchar[]) as untaken_version,
    unnest($instants::timestamptz[]) as exported_at
