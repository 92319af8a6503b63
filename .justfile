# Short names for the usual commands. `just` alone lists them.

_list:
    @just --list

# an editable install with everything that the tests need
setup:
    pip install -e '.[test]'

# all that a change must pass, apart from the install and the wheel
check:
    ruff check
    ruff format --check
    mypy flows
    sqlfluff lint sql
    lint-imports
    pytest

# the tests, or some: just test tests/unit/intervals
test *paths:
    pytest {{ paths }}

# one of the benchmarks, on a quiet machine: just bench evaluate
bench name *options:
    python tests/bench/{{ name }}* {{ options }}

# the large coverage bed (an hour on two cores), its table and picture
coverage *options:
    python tests/coverage/large.py {{ options }}

# sort imports, mend what can be mended, format
format:
    ruff check --fix
    ruff format
    sqlfluff fix sql

# the sample's newest night
sample:
    untaken nightly data/sample/untaken.toml

# write requirements.lock anew after a change of pyproject.toml (needs uv)
lock:
    uv pip compile pyproject.toml --extra build --extra models --extra test --universal --python-version 3.11 \
        --generate-hashes --no-annotate --no-header --no-emit-index-url \
        --output-file requirements.lock

# what CI runs, as root on Debian
ci:
    .ci/run
