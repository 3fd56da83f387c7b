-- planner.sql - petal_contains() runs after cheap comparisons and before expensive predicates.
create table accounts as select i as id, 'user ' || i as name from generate_series(1, 1000) i;
create table guard as select petal_build(name) as filter from accounts where id <= 10;
create function expensive(text) returns boolean language plpgsql as $$
begin
    perform pg_advisory_lock_shared(length($1));
    raise notice 'expensive: %', $1;
    return true;
end $$;
analyze accounts;

explain (costs off) select count(*) from accounts
where expensive(name) and petal_contains((select filter from guard), name) and id < 500;
explain (costs off) select count(*) from accounts
where exists (select from pg_class where relname = accounts.name) and petal_contains((select filter from guard), name);
select count(*) < 30 from accounts
where expensive(name) and petal_contains((select filter from guard), name) and id < 20;
select proname, pronargs, provolatile, proparallel, proisstrict, procost from pg_proc
where proname ~ '^petal_(contains|info|union|from_file)' order by 1, 2, proargtypes::text;
select distinct aggfinalmodify, aggcombinefn::text <> '-' as combines from pg_aggregate where aggfnoid::regproc::text ~ '^petal_';
drop table accounts, guard;
drop function expensive;
