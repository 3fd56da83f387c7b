-- contains.sql - petal_contains(): types of keys, NULL, literals, filters that change from row to
-- row, and damage.
create table guard as
select petal_build(i) as ids, petal_build(i / 8.0::float8) as reals, petal_build('é' || i) as texts,
       petal_build(int8send(i)) as bytes
from generate_series(-100, 99) i;
select jsonb_path_query_array(to_jsonb(array[petal_info(ids), petal_info(reals), petal_info(texts), petal_info(bytes)]), '$[*].key_type') from guard;

-- every type
select petal_contains(ids, 99::int2), petal_contains(ids, 99), petal_contains(ids, 99::int8), petal_contains(ids, 1000) from guard;
select petal_contains(reals, 0.5::float4), petal_contains(reals, 0.5::float8), petal_contains(reals, '-0'::float8), petal_contains(reals, 0.3::float8) from guard;
select petal_contains(texts, 'é1'), petal_contains(texts, 'é1'::text), petal_contains(texts, 'é1'::varchar), petal_contains(texts, 'é1'::char(9)), petal_contains(texts, 'é1'::name), petal_contains(texts, 'é') from guard;
select petal_contains(bytes, int8send(5)), petal_contains(bytes, '\x00'::bytea) from guard;
create domain id as int4 check (value > 0);
create domain word as text;
select petal_contains(ids, 5::id), petal_contains(texts, 'é5'::word) from guard;
select petal_contains(petal_build(x), 'NaN'::float4), petal_contains(petal_build(x), 'Infinity'::float8) from (values ('NaN'::float8), ('Infinity')) t(x);
select petal_contains(petal_build(x), ''), petal_contains(petal_build(x), ''::bytea), petal_contains(petal_build(x), ' ') from (values ('')) t(x);

-- bytes are accepted by all filters
select petal_contains(ids, '\x0500000000000000'::bytea), petal_contains(texts, 'é5'::bytea) from guard;

-- other types
select petal_contains(ids, 'é1') from guard;
select petal_contains(ids, 5.0::float8) from guard;
select petal_contains(texts, 5) from guard;
select petal_contains(reals, 5) from guard;
select petal_contains(bytes, 'a'::text) from guard;
select petal_contains(ids, 5.0) from guard;
select petal_contains(ids, now()) from guard;
select petal_contains(ids, array[5]) from guard;
select petal_contains(ids, gen_random_uuid()) from guard;
select petal_contains(ids, row(5)) from guard;
\set VERBOSITY sqlstate
select petal_contains(ids, 'é1') from guard;
select petal_contains(ids, 5.0) from guard;
\set VERBOSITY default

-- NULL
select petal_contains(null, 5) is null, petal_contains(ids, null::int) is null, petal_contains(ids, null) is null from guard;

-- each row has its own filter: in the row, in a TOAST table, and computed
create table small as select i as k, petal_build(i, 0.01, 10) as f from generate_series(1, 100) i group by i;
create table large as select i as k, petal_build(i * 10000 + j, 0.01, 5000) as f from generate_series(1, 5) i, generate_series(1, 5000) j group by i;
select count(*) from small where petal_contains(f, k);
select count(*) < 100 + 400 from small a, small b where petal_contains(a.f, b.k);
select min(pg_column_size(f)) > 4000 from large;
select count(*) from large, generate_series(1, 5000) j where petal_contains(f, k * 10000 + j);
select count(*) < 25000 + 2000 from large, (select k, j from large, generate_series(1, 5000) j) o where petal_contains(f, o.k * 10000 + j);
select count(*) from large where petal_contains(f || f, k * 10000 + 1);
select k, (select count(*) from generate_series(1, 5000) j where petal_contains((select f || f from large l where l.k = large.k), large.k * 10000 + j)) from large order by k;

-- one filter for all rows: a constant, a parameter, a subquery
prepare by_value(petal) as select count(*) from generate_series(1, 200) i where petal_contains($1, i);
set plan_cache_mode = force_generic_plan;
select ids from guard \gset
execute by_value(:'ids');
select petal_build(i) as others from generate_series(1, 150) i \gset
execute by_value(:'others');
reset plan_cache_mode;
select count(*) from generate_series(1, 200) i where petal_contains((select ids from guard), i);

-- PL/pgSQL calls the same expression for several filters
create function found_in_own() returns int language plpgsql as $$
declare r record; n int := 0; g petal;
begin
    for r in select k, f from small loop
        if petal_contains(r.f, r.k) then n := n + 1; end if;
        g := r.f || r.f;
        if petal_contains(g, r.k) then n := n + 1; end if;
    end loop;
    for r in select k, f || f as f from large loop
        if petal_contains(r.f, r.k * 10000 + 7) then n := n + 1; end if;
    end loop;
    return n;
end $$;
select found_in_own();

-- an index may use it
create index on small (k) where petal_contains('\x', k); -- but this is no filter
create index on small ((petal_contains(:'ids', k)));

-- a value whose check was skipped; this takes a superuser
create function unchecked(bytea) returns petal language internal immutable strict as 'byteasend';
create table damaged as
select unchecked(set_byte(b, length(b) - 100, 255 - get_byte(b, length(b) - 100))) as f
from (select petal_build(i, 0.01, 200000)::bytea as b from generate_series(1, 200000) i) t;
select sum(petal_contains(f, i)::int) from damaged, generate_series(1, 200000) i;
select petal_info(f) from damaged;
select petal_merge(f) from damaged;
select f || f from damaged;
select petal_contains(unchecked(''), 5);
select petal_contains(unchecked(substr(f::bytea, 1, 1000)), 5) from damaged;
select petal_info(unchecked('\x0102030405'));
\set VERBOSITY sqlstate
select sum(petal_contains(f, i)::int) from damaged, generate_series(1, 200000) i;
\set VERBOSITY default
drop table guard, small, large, damaged;
drop function unchecked;
drop function found_in_own;
drop domain id, word;
