"""What a job keeps between nights: checked days, evidence, estimates, the warehouse.

`folder` says what stands where and how it is written; `days` finds what is new;
`checked` validates it; `evidence` counts it; `estimates` turns counts into intervals,
night by night; `publish` makes the DuckDB file analysts read.
"""
