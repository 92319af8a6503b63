-- How many lines stand in the table of each file from number `$first` on.
select
    file,
    count(*) as line_count
from lines
where file >= $first
group by file
