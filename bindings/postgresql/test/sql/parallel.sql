-- parallel.sql - several processes give the same bytes and the same answers as one.
create table keys as select i, 'key ' || i as t, i / 7.0::float8 as r from generate_series(1, 100000) i;
create table parts as select i % 50 as part, petal_build(i, 0.01, 100000) as f from keys group by part;
analyze keys;
analyze parts;
alter table keys set (parallel_workers = 3);
alter table parts set (parallel_workers = 3);

set max_parallel_workers_per_gather = 0;
create table one as
select petal_build(i)::bytea as i, petal_build(t, 0.001)::bytea as t, petal_build(r)::bytea as r,
       petal_build(t, 0.01, 100000)::bytea as capacity, (select petal_merge(f)::bytea from parts) as merged
from keys;
set max_parallel_workers_per_gather = 3;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
create table several as select petal_build(i)::bytea as i, petal_build(t, 0.001)::bytea as t, petal_build(r)::bytea as r,
    petal_build(t, 0.01, 100000)::bytea as capacity from keys;
create table merged as select petal_merge(f)::bytea as merged from parts;
select one.i = s.i as i, one.t = s.t as t, one.r = s.r as r, one.capacity = s.capacity as capacity, one.merged = m.merged as merged
from one, several s, merged m;

-- the plans are parallel
explain (costs off) select petal_build(i), petal_build(t, 0.01, 100000) from keys;
explain (costs off) select petal_merge(f) from parts;
explain (costs off) select count(*) from keys where petal_contains((select petal_build(i) from keys where i % 2 = 0), i);
select count(*) from keys where petal_contains((select petal_build(i) from keys where i % 2 = 0), i) and i % 2 = 0;

-- groups; workers without rows; NULL
select g, petal_info(f) ->> 'items' as items from (select i % 3 as g, petal_build(i) as f from keys group by g) t order by g;
select petal_info(petal_build(i)) ->> 'items' as items from keys where i = 77777;
select petal_build(i) is null as none, petal_build(i, 0.01, 10) is null as none from keys where i < 0;
select petal_info(petal_build(nullif(i % 2, 0))) ->> 'items' as items from keys;

-- failures in a worker and in the leader
\set VERBOSITY terse
select petal_build(i, 0.01, 60000) from keys;
select petal_build(i, 2) from keys;
select petal_merge(f) from (select f from parts union all select petal_build(t, 0.01, 100000) from keys) t;
\set VERBOSITY default

-- the leader alone must not be needed
set parallel_leader_participation = off;
select petal_build(i)::bytea = (select i from one) as same, petal_build(t, 0.01, 100000)::bytea = (select capacity from one) as same from keys;
reset parallel_leader_participation;
drop table keys, parts, one, several, merged;
