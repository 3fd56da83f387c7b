-- roles.sql - only roles with privileges of pg_read_server_files read files of the server.
\getenv vectors PETAL_VECTORS
create role petal_reader;
create role petal_other;
create role petal_granted;
grant pg_read_server_files to petal_reader;
grant execute on function petal_from_file(text) to petal_granted;
select petal_info(petal_from_file(:'vectors' || '/petal/blocked.petal')) ->> 'scheme' as scheme;
\set VERBOSITY terse
set role petal_reader;
select petal_info(petal_from_file(:'vectors' || '/petal/blocked.petal')) ->> 'scheme' as scheme;
select petal_from_file('/no/such/file');
select petal_from_file('/');
set role petal_other;
select petal_from_file('/no/such/file');
select petal_from_file('/no/such/file', 'petal');
set role petal_granted;
select petal_from_file('/no/such/file');
-- everything else is for everyone
select petal_contains(petal_build(i), 5) from generate_series(1, 10) i;
reset role;
drop owned by petal_granted, petal_reader, petal_other;
drop role petal_reader, petal_other, petal_granted;
