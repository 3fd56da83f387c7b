-- petal--0.1.0.sql - the type, functions, casts and aggregates of the extension (docs/postgresql.md).

\echo Use "CREATE EXTENSION petal" to load this file. \quit

-- ---- the type ------------------------------------------------------------------------------------

create type petal;

create function petal_in(cstring) returns petal
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'pg_petal_in';

create function petal_out(petal) returns cstring
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'pg_petal_out';

create function petal_recv(internal) returns petal
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'pg_petal_recv';

create function petal_send(petal) returns bytea
language internal immutable strict parallel safe as 'byteasend';

-- Compression would find nothing in the bits of a filter.
create type petal (
    input = petal_in,
    output = petal_out,
    receive = petal_recv,
    send = petal_send,
    internallength = variable,
    storage = external
);
comment on type petal is 'a Bloom filter';

-- ---- bytea and files -----------------------------------------------------------------------------

create function petal_from_bytea(bytes bytea) returns petal
language c immutable strict parallel safe cost 100 as 'MODULE_PATHNAME', 'pg_petal_from_bytea';
comment on function petal_from_bytea(bytea) is 'the filter in a file of any format that is recognized';

create function petal_from_bytea(bytes bytea, format text) returns petal
language c immutable strict parallel safe cost 100 as 'MODULE_PATHNAME', 'pg_petal_from_bytea';
comment on function petal_from_bytea(bytea, text) is 'the filter in a file of this format';

create function petal_to_bytea(filter petal, format text) returns bytea
language c immutable strict parallel safe cost 100 as 'MODULE_PATHNAME', 'pg_petal_to_bytea';
comment on function petal_to_bytea(petal, text) is 'the filter as a file of this format';

create cast (petal as bytea) without function as assignment;
create cast (bytea as petal) with function petal_from_bytea(bytea) as assignment;

create function petal_from_file(path text) returns petal
language c volatile strict parallel safe cost 1000 as 'MODULE_PATHNAME', 'pg_petal_from_file';
comment on function petal_from_file(text) is 'the filter in a file of the server';

create function petal_from_file(path text, format text) returns petal
language c volatile strict parallel safe cost 1000 as 'MODULE_PATHNAME', 'pg_petal_from_file';
comment on function petal_from_file(text, text) is 'the filter in a file of the server, in this format';

-- The functions also check for privileges of pg_read_server_files.
revoke execute on function petal_from_file(text), petal_from_file(text, text) from public;
grant execute on function petal_from_file(text), petal_from_file(text, text)
to pg_read_server_files;

-- ---- queries -------------------------------------------------------------------------------------

-- A cost of 10 puts it behind comparisons (1) and in front of functions in SQL or PL/pgSQL (100).
create function petal_contains(filter petal, key anyelement) returns boolean
language c immutable strict parallel safe cost 10 as 'MODULE_PATHNAME', 'pg_petal_contains';
comment on function petal_contains(petal, anyelement) is 'false: the key is certainly not in the filter';

-- For literals, whose type is unknown.
create function petal_contains(filter petal, key text) returns boolean
language c immutable strict parallel safe cost 10 as 'MODULE_PATHNAME', 'pg_petal_contains';
comment on function petal_contains(petal, text) is 'false: the key is certainly not in the filter';

create function petal_info(filter petal) returns jsonb
language c immutable strict parallel safe cost 1000 as 'MODULE_PATHNAME', 'pg_petal_info';
comment on function petal_info(petal) is 'size, scheme, number of keys and rates of a filter';

-- ---- union ---------------------------------------------------------------------------------------

create function petal_union(petal, petal) returns petal
language c immutable strict parallel safe cost 100 as 'MODULE_PATHNAME', 'pg_petal_union';

create operator || (leftarg = petal, rightarg = petal, function = petal_union);
comment on operator || (petal, petal) is 'union';

-- ---- aggregates ----------------------------------------------------------------------------------

create function petal_build_add(internal, anyelement) returns internal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_build_add';

create function petal_build_add(internal, anyelement, float8) returns internal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_build_add';

create function petal_build_add(internal, anyelement, float8, int8) returns internal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_build_add';

create function petal_merge_add(internal, petal) returns internal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_merge_add';

create function petal_group_combine(internal, internal) returns internal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_group_combine';

create function petal_group_serialize(internal) returns bytea
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'pg_petal_group_serialize';

create function petal_group_deserialize(bytea, internal) returns internal
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'pg_petal_group_deserialize';

create function petal_build_result(internal) returns petal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_build_result';

create function petal_merge_result(internal) returns petal
language c immutable parallel safe as 'MODULE_PATHNAME', 'pg_petal_merge_result';

-- The result uses up the group.
create aggregate petal_build(key anyelement) (
    sfunc = petal_build_add, stype = internal, sspace = 4096,
    finalfunc = petal_build_result, finalfunc_modify = read_write,
    combinefunc = petal_group_combine,
    serialfunc = petal_group_serialize, deserialfunc = petal_group_deserialize,
    parallel = safe
);
comment on aggregate petal_build(anyelement) is 'the smallest filter of these keys';

create aggregate petal_build(key anyelement, rate float8) (
    sfunc = petal_build_add, stype = internal, sspace = 4096,
    finalfunc = petal_build_result, finalfunc_modify = read_write,
    combinefunc = petal_group_combine,
    serialfunc = petal_group_serialize, deserialfunc = petal_group_deserialize,
    parallel = safe
);
comment on aggregate petal_build(anyelement, float8) is 'the smallest filter of these keys and this false-positive rate';

create aggregate petal_build(key anyelement, rate float8, capacity int8) (
    sfunc = petal_build_add, stype = internal, sspace = 4096,
    finalfunc = petal_build_result, finalfunc_modify = read_write,
    combinefunc = petal_group_combine,
    serialfunc = petal_group_serialize, deserialfunc = petal_group_deserialize,
    parallel = safe
);
comment on aggregate petal_build(anyelement, float8, int8) is 'a filter for up to this many keys, which can be merged';

create aggregate petal_merge(petal) (
    sfunc = petal_merge_add, stype = internal, sspace = 4096,
    finalfunc = petal_merge_result, finalfunc_modify = read_write,
    combinefunc = petal_group_combine,
    serialfunc = petal_group_serialize, deserialfunc = petal_group_deserialize,
    parallel = safe
);
comment on aggregate petal_merge(petal) is 'the union of filters';
