-- guard.sql - 1,000,000 lookups in a table of 2,000,000 names, 99 % of them of absent names: by the
-- table alone, then with a filter before it that is a file or a parameter. 10,000 of them with a
-- filter that is a row of the database.
-- bench/sqlite/run fills in EXTENSION and FILE.
.bail on
.load EXTENSION
create table accounts (name text primary key, balance integer) without rowid;
insert into accounts
select printf('user-%08x', value * 2654435761 % 4294967296) as name, value
from generate_series(1, 2000000) order by name;
create table guard (filter blob);
insert into guard select petal_build(name, 0.01) from accounts;
select length(filter), writefile('FILE', filter) from guard;
create temp table asked as
select printf('user-%08x%s', (value * 7919 % 2000000 + 1) * 2654435761 % 4294967296,
              iif(value % 100, 'x', '')) as name
from generate_series(1, 1000000);
.parameter init
insert into temp.sqlite_parameters values (':filter', (select filter from guard));
.timer on
select 'without', count(balance) from asked cross join accounts using (name);
select 'file', count(balance) from asked cross join accounts using (name)
where petal_contains('FILE', asked.name);
select 'parameter', count(balance) from asked cross join accounts using (name)
where petal_contains(:filter, asked.name);
select 'row', count(balance) from (select name from asked limit 10000) asked
cross join accounts using (name)
where petal_contains((select filter from guard), asked.name);
