-- The bodies of a JSON file that is one document, or its lines: null where a line is no
-- JSON. A mark of byte order is no part of either.
create or replace temp table documents as
with
contents as (
    select replace(content, chr(65279), '') as content
    from read_text(${files})
),

whole_files as (
    select
        content,
        try_cast(content as json) as document
    from contents
),

pieces as (
    select
        unnest(
            case
                when document is null
                    then
                        [
                            try_cast(line as json)
                            for line in string_split(content, chr(10))
                            if trim(line, e' \r\t') <> ''
                        ]
                when json_type(document) = 'ARRAY' then document::json[]
                else [document]
            end
        ) as json
    from whole_files
)

select
    row_number() over () as row,
    json
from pieces;

create or replace temp view bodies as
select
    row,
    json
from documents;
