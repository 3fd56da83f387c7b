-- guard.sql - 1,000,000 lookups in a table of 2,000,000 names, 99 % of them of absent names: by the
-- table's index alone, then with a filter in front. First, the filter is built, by one process and
-- by two. bench/postgresql/run reads the times that EXPLAIN prints.
\set ON_ERROR_STOP on
create extension petal;
set max_parallel_workers_per_gather = 0;
set jit = off;
create table accounts as
select 'user-' || to_hex(i * 2654435761 % 4294967296) as name, i as balance
from generate_series(1::bigint, 2000000) i order by name;
alter table accounts add primary key (name);
create table asked as
select 'user-' || to_hex((i * 7919 % 2000000 + 1) * 2654435761 % 4294967296)
       || case when i % 100 = 0 then '' else 'x' end as name
from generate_series(1::bigint, 1000000) i;
create table guard as select petal_build(name, 0.01) as filter from accounts;
vacuum analyze accounts, asked, guard;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
-- Without it, the planner reads the whole table once instead of looking names up.
set enable_hashjoin = off;
set enable_mergejoin = off;
\t on
\a

\echo counting the names, by one process
explain (analyze, timing off, summary) select count(name) from accounts;
\echo petal_build(name, 0.01)
explain (analyze, timing off, summary) select petal_build(name, 0.01) from accounts;
\echo petal_build(name, 0.01, 2000000)
explain (analyze, timing off, summary) select petal_build(name, 0.01, 2000000) from accounts;
set max_parallel_workers_per_gather = 1;
\echo petal_build(name, 0.01), two processes
explain (analyze, timing off, summary) select petal_build(name, 0.01) from accounts;
set max_parallel_workers_per_gather = 0;
\echo lookups by the index of the table
explain (analyze, timing off, summary)
select count(balance) from asked join accounts using (name);
\echo the same, with the filter in front
explain (analyze, timing off, summary)
select count(balance) from asked join accounts using (name)
where petal_contains((select filter from guard), asked.name);

\echo found
select count(balance) from asked join accounts using (name);
select count(balance) from asked join accounts using (name)
where petal_contains((select filter from guard), asked.name);
