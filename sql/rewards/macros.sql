-- Whether an event of a mature decision lies inside its window.
create or replace temp macro is_timely(delay_us, is_waiting) as
not is_waiting and delay_us >= -${backward_us} and delay_us < ${wait_us};

-- What became of an event.
create or replace temp macro fate_of(
    number, delay_us, is_waiting, is_elsewhere, has_no_slot
) as
case
    when number is not null and delay_us is null then 'none'
    when has_no_slot then 'no_such_slot'
    when number is null and is_elsewhere then 'elsewhere'
    when number is null then 'dangling'
    when is_waiting then 'waiting'
    when delay_us < -${backward_us} then 'too_early'
    when is_timely(delay_us, is_waiting) then 'timely'
    else 'late'
end;

-- What is judged of a decision.
create or replace temp macro status_of(is_immature, is_unactivated, is_rewarded) as
case
    when is_immature then 'immature'
    when is_unactivated then 'unactivated'
    when is_rewarded then 'observed'
    else ${otherwise}
end;

-- Numbers as whole multiples of ${unit}: their sum is the same in any order and, read
-- back, the one closest to the true sum.
create or replace temp macro exactly(given) as
round(given / ${unit})::hugeint;

create or replace temp macro plainly(given) as
given::double * ${unit};

-- Which of two events was received first; the one that arrived first, at one instant.
create or replace temp macro order_of(delay_us, arrival) as
delay_us::hugeint * (2::hugeint ** 63)::hugeint + arrival;
