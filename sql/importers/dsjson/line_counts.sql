-- How many lines stand in the table of each file from number `$first` on.
select
    file,
    count(*) as line_count
from slots
where file >= $first and place = 0
group by file
