-- build.sql - petal_build(), petal_merge() and ||.
create table keys as select i, 'key ' || i as t from generate_series(1, 10000) i;

-- options
select octet_length(petal_build(i)::bytea) < octet_length(petal_build(i, 0.001)::bytea) from keys;
select petal_build(i)::bytea = petal_build(i, 0.01)::bytea as same, petal_build(i)::bytea = petal_build(i, null, null)::bytea as nulls from keys;
select petal_build(i order by i desc)::bytea = petal_build(i)::bytea as order_is_nothing, petal_build(i % 100)::bytea = petal_build(distinct i % 100)::bytea as repeats_are_nothing from keys;
select petal_info(petal_build(t, 0.01, 20000)) ->> 'scheme' as scheme, petal_info(petal_build(t)) ->> 'scheme' as scheme from keys;
select count(*) from keys where petal_contains((select petal_build(t) from keys), t);
select count(*) from keys where petal_contains((select petal_build(t, 0.01, 10000) from keys), t);
select count(*) < 200 from keys where petal_contains((select petal_build(t, 0.01, 10000) from keys), t || 'x');

-- groups, and what is left out
select i % 3 as g, petal_info(petal_build(i)) ->> 'items' as items from keys group by g order by g;
select count(*), bool_and(petal_contains(f, k)) from (select i / 2 as k, petal_build(i / 2) as f from keys group by i / 2) t;
select petal_info(petal_build(i) filter (where i <= 10)) ->> 'items' as items from keys;
select petal_build(i) is null as none, petal_build(i, 0.1, 10) is null as none from keys where i < 0;
select petal_build(null::int) is null as none from keys;
select petal_info(petal_build(nullif(i, 5))) ->> 'items' as items from keys;
select petal_merge(null::petal) is null as none;

-- wrong options
select petal_build(i, 0) from keys;
select petal_build(i, 1) from keys;
select petal_build(i, 'NaN') from keys;
select petal_build(i, 1e-300) from keys;
select petal_build(i, 0.01, 0) from keys;
select petal_build(i, 0.01, -5) from keys;
select petal_build(i, 0.01, 100) from keys;
select petal_build(i, 0.01, 2000000000) from keys;
select petal_build(i, 0.01, 9223372036854775807) from keys;
select petal_build(i::numeric) from keys;
select petal_build(row(i)) from keys;
select petal_build(i) over () from keys;

-- union
create table nights as select i / 1000 as night, petal_build(i, 0.01, 20000) as f from keys group by night;
select petal_merge(f)::bytea = (select petal_build(i, 0.01, 20000)::bytea from keys) as same from nights;
select count(*) from keys where petal_contains((select petal_merge(f) from nights), i);
select (a.f || b.f)::bytea = (select petal_build(i, 0.01, 20000)::bytea from keys where i < 2000) as same from nights a, nights b where a.night = 0 and b.night = 1;
select (null || f) is null as none from nights where night = 0;
select petal_merge(f)::bytea = (array_agg(f::bytea))[1] as same from nights where night = 0;
select petal_merge(f)::bytea = (array_agg(f::bytea))[1] as same from (select petal_build(i) as f from keys) t;

-- filters that can't be merged
select f || (select petal_build(i) from keys) from nights where night = 0;
select petal_merge(f) from (select petal_build(i) as f from keys group by i % 2) t;
select petal_merge(f) from (select petal_build(i, 0.01, i) as f from keys where i in (100, 200) group by i) t;
select f || (select petal_build(t, 0.01, 20000) from keys) from nights where night = 0;
select petal_merge(f) from (select f from nights union all select petal_build(t, 0.01, 20000) from keys) t;

-- the codes of these errors
\set VERBOSITY sqlstate
select petal_build(i, 0) from keys;
select petal_build(i, 0.01, 100) from keys;
select petal_build(i, 0.01, 2000000000) from keys;
select f || (select petal_build(i) from keys) from nights where night = 0;
select f || (select petal_build(t, 0.01, 20000) from keys) from nights where night = 0;
drop table keys, nights;
