-- type.sql - the type petal: text, casts, copies of a value, and bytes that are no filter.
create table filters (name text, f petal);
insert into filters select 'ids', petal_build(i) from generate_series(1, 1000) i;
insert into filters select 'names', petal_build('name ' || i, 0.001, 1000) from generate_series(1, 1000) i;

-- text and back
select name, f::text::petal::bytea = f::bytea as same, left(f::text, 10) as begins from filters order by name;
set bytea_output = 'escape';
select left(f::text, 10) as begins from filters where name = 'ids';
reset bytea_output;

-- bytea and back: to bytea in an assignment, from bytea with a check
create table copies (name text, b bytea, f petal);
insert into copies select name, f from filters;
update copies set f = b;
select count(*) from copies c join filters using (name) where c.f::bytea = filters.f::bytea;
select petal_from_bytea(b, 'petal')::bytea = b as same from copies;
select f = b from copies; -- a comparison needs a cast

-- bytes that are no filter
select ''::petal;
select 'no filter'::petal;
select '\x0g'::petal;
select petal_from_bytea('\x00', 'no format');
select substr(f::bytea, 1, 100)::petal from filters where name = 'ids';
select substr(f::bytea, 1, length(f::bytea) - 1)::petal from filters where name = 'ids';
select set_byte(f::bytea, length(f::bytea) - 70, 255 - get_byte(f::bytea, length(f::bytea) - 70))::petal from filters where name = 'ids';
select (f::bytea || '\x00')::petal from filters where name = 'ids';
insert into filters values ('wrong', '\x01020304');

-- NULL
select null::petal is null, null::bytea::petal is null, petal_from_bytea(null) is null, petal_to_bytea(null, 'petal') is null, petal_info(null) is null;

-- files of other libraries become petal files, and are written in their own format again
create table guava as select decode('0103000000012000000800000200', 'hex') as b;
select b::petal::bytea = b as same, petal_to_bytea(b::petal, 'guava') = b as back from guava;
select petal_info(b::petal) ->> 'origin' as origin, petal_contains(b::petal, 'a'), petal_contains(b::petal, 'b') from guava;
select petal_to_bytea(b::petal, 'rocksdb') from guava;
select petal_to_bytea(b::petal, 'no format') from guava;

-- what it says of itself
select name, i ->> 'scheme' as scheme, i ->> 'key_type' as type, i ->> 'items' as items, i ->> 'capacity' as capacity, i ->> 'target_rate' as rate
from filters, petal_info(f) i order by name;
select jsonb_typeof(petal_info(f) -> 'estimated_rate') from filters;

select attstorage from pg_attribute where attrelid = 'filters'::regclass and attname = 'f';
drop table filters, copies, guava;
