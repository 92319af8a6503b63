-- Files in which `a` counts from 0 in some lines and from 1 in others.
select
    path,
    from_zero_count,
    from_one_count
from file_facts
inner join files using (file)
where from_zero_count > 0 and from_one_count > 0
order by path
