"""Folders and names with marks that engines take for patterns."""

from __future__ import annotations

import pytest

from flows.errors import JobError, UsageError
from flows.job import load


@pytest.mark.parametrize("name", ["a[x]b", "sh*p", "x%23#", 'it\'s "here"', "é ü"])
def test_a_job_runs_in_a_folder_of_any_name(places, name):
    place, other = places(name), places("shop")
    for one in (place, other):
        one.days([1])
        one.night()
    assert place.estimates("2024-05-01").equals(other.estimates("2024-05-01"))


def test_another_jobs_log_is_not_read_through_a_pattern(places):
    place, other = places("shop*"), places("shopA")
    place.days([1])
    other.days([2])
    assert place.night().days_read == 1


@pytest.mark.parametrize("mark", ["?", "\\"])
def test_a_path_that_cannot_be_opened_is_refused(places, mark):
    place = places(f"a{mark}b")
    place.days([1])
    with pytest.raises(UsageError, match="which DuckDB cannot open"):
        place.night()


@pytest.mark.parametrize("name", ["a[x]", "a?b", "a/b", ".a", "-a", "", "a%b", 'a"b'])
def test_a_job_name_that_three_engines_cannot_open_is_refused(place, name):
    quoted = name.replace('"', '\\"')
    text = place.file.read_text().replace('name = "shop"', f'name = "{quoted}"')
    place.file.write_text(text)
    with pytest.raises(JobError, match="a name of letters"):
        load(place.file)
