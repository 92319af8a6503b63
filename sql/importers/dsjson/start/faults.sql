-- What is wrong with the actions that a decision names, null where nothing is.
create or replace macro actions_fault(tags, a) as case
    when tags is null then 'c._multi is missing'
    when a is null then 'a is missing'
    when list_count(a) < len(a) then 'a holds something other than whole numbers'
    when list_min(a) < 1 or list_max(a) > len(tags) or list_unique(a) < len(a)
        then 'a names an action twice or one that is not in c._multi'
end;

-- What is wrong with their probabilities, and with the one that was chosen. NaN is asked
-- for before it is compared: it is neither above nor below anything.
create or replace macro distribution_fault(a, p, tolerance) as case
    when p is null then 'p is missing'
    when len(a) <> len(p) then 'a and p differ in length'
    when list_count(p) < len(p) then 'p holds something other than numbers'
    when isnan(list_sum(p)) then 'p holds NaN'
    when list_min(p) < 0 then 'p holds a negative number'
    when abs(list_sum(p) - 1) > tolerance then 'p does not sum to 1'
end;

create or replace macro choice_fault(a, p, chosen, is_chosen_first, is_contradicted) as
case
    when is_contradicted then '_label_Action is not _labelIndex + 1'
    when is_chosen_first and chosen <> a[1]
        then 'a does not start with the labelled action'
    when (p[list_position(a, chosen)] > 0) is not true
        then 'the chosen action has probability 0'
end;
