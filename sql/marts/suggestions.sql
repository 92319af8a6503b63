-- One row a suggestion that waits for review: its pair, its most asked text, and how
-- many queries it stands for. Texts are masked; no user is named.
create table suggestions as
select
    suggestion,
    qna_id,
    pair,
    head,
    size,
    auto_count,
    user_count,
    users,
    is_one_user,
    is_own_assignment,
    margin,
    state,
    first_shown
from read_parquet(${files})
order by suggestion
