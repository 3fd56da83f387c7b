/* docs.h - docstrings; doctest runs their examples. */
#ifndef PETAL_PYTHON_DOCS_H
#define PETAL_PYTHON_DOCS_H

#define OPTIONS_SIGNATURE \
    "(capacity=None, rate=None, *, scheme=None, seed=0,\n" \
    "       secret=None, grow=False, window=None, window_time=None, format=None,\n" \
    "       memory=None, bits=None, hashes=None, lines_per_key=None,\n" \
    "       generations=None, growth_step=None, growth_ratio=None, key_type=None,\n" \
    "       metadata=None, refuse_overfull=False, foldable=False)\n--\n\n"

#define DOC_FILTER \
    "Filter" OPTIONS_SIGNATURE \
    "A Bloom filter: is this key in the set? Certainly not, or probably.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> seen = Filter(1_000_000, 0.01)      # keys it is planned for, false-positive rate\n" \
    ">>> seen.add('https://example.com/')    # True: it was new\n" \
    "True\n" \
    ">>> seen.add('https://example.com/')\n" \
    "False\n" \
    ">>> 'https://example.com/' in seen, 'https://example.org/' in seen\n" \
    "(True, False)\n" \
    ">>> seen\n" \
    "<petal.Filter blocked, capacity 1000000, rate 0.01, 2 items, 1241472 bytes>\n\n" \
    "Keys are str (as UTF-8), bytes-like, int (64 bits, signed) and float; bool, None and\n" \
    "others are a TypeError.\n\n" \
    "capacity, rate   distinct keys, and the share of others that pass (0.01 if not given)\n" \
    "memory           in place of rate: the best one in so many bytes\n" \
    "bits, hashes     exactly these\n" \
    "scheme           'blocked' (default), 'classic', or 'counting', which can remove keys\n" \
    "seed             filters with the same one, and sizes, can be merged\n" \
    "secret           16 bytes: a keyed filter, for keys that strangers choose\n" \
    "grow             further layers as keys come; the rate holds for any number\n" \
    "window           remembers at least the last so many keys, and forgets older ones\n" \
    "window_time      in place of that a timedelta or seconds (see advance()); window is then\n" \
    "                 the highest number of keys in that time\n" \
    "format           'guava', 'redisbloom', ...: the filter that this library would make\n" \
    "key_type         recorded in the file: 'text', 'i64', ...; other keys are refused then"

#define DOC_ADD \
    "add($self, key, /)\n--\n\n" \
    "Adds a key. True: it was certainly new. False: it was probably there already.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.add('a'), f.add('a'), f.add(7), f.add(b'\\x00'), f.add(0.5)\n" \
    "(True, False, True, True, True)"

#define DOC_DISCARD \
    "discard($self, key, /)\n--\n\n" \
    "Takes a key out of a counting filter. False: it was certainly not in.\n\n" \
    "Each add() needs its own. Only discard keys that were added: others may take counts away\n" \
    "from keys that are in.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000, scheme='counting')\n" \
    ">>> f.add('a'), f.discard('a'), 'a' in f, f.discard('a')\n" \
    "(True, True, False, False)"

#define DOC_REMOVE \
    "remove($self, key, /)\n--\n\n" \
    "Like discard(), but a key that is certainly not in is a ValueError."

#define DOC_UPDATE \
    "update($self, keys, /, offsets=None)\n--\n\n" \
    "Adds all keys and returns how many were new.\n\n" \
    "keys: an iterable; a numpy array of int, uint, float, S or U; an Arrow column of strings,\n" \
    "binary or numbers (pyarrow, polars, pandas, duckdb); or bytes, with the offsets of the keys\n" \
    "in them, one more than there are keys. Nulls of Arrow columns are not added.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.update(['a', 'b', 'a'])\n" \
    "2\n" \
    ">>> from array import array\n" \
    ">>> f.update(b'onetwo', offsets=array('I', [0, 3, 6]))\n" \
    "2\n" \
    ">>> 'two' in f\n" \
    "True"

#define DOC_ADD_BATCH \
    "add_batch($self, keys, /, offsets=None)\n--\n\n" \
    "Like update(), but returns an answer per key: True, it was new, or False.\n\n" \
    "A list; a numpy array of bool for one of numpy or pandas; petal.Answers for other Arrow\n" \
    "columns. If a key is wrong, those before it are in, none after it, and the exception has\n" \
    "its index as `offset`.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> Filter(1000).add_batch(['a', 'b', 'a'])\n" \
    "[True, True, False]"

#define DOC_CONTAINS_BATCH \
    "contains_batch($self, keys, /, offsets=None)\n--\n\n" \
    "Asks for all keys, as update() takes them. Answers like those of add_batch(): True,\n" \
    "probably in, or False, certainly not. Nulls of Arrow columns are answered None; of pandas,\n" \
    "which would take an array of bool, they are a ValueError.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> from itertools import compress\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.update(range(10))\n" \
    "10\n" \
    ">>> keys = [5, 50, 7]\n" \
    ">>> list(compress(keys, f.contains_batch(keys)))\n" \
    "[5, 7]"

#define DOC_DISCARD_BATCH \
    "discard_batch($self, keys, /, offsets=None)\n--\n\n" \
    "discard() for all keys, as update() takes them. Answers like those of add_batch()."

#define DOC_CONTAINS_ANY \
    "contains_any($self, keys, /, offsets=None)\n--\n\n" \
    "Whether any of the keys is probably in; ends as soon as it knows."

#define DOC_CONTAINS_ALL \
    "contains_all($self, keys, /, offsets=None)\n--\n\n" \
    "Whether each of the keys is probably in; ends as soon as it knows."

#define DOC_HASH_KEY \
    "hash_key($self, key, /)\n--\n\n" \
    "The 64-bit hash of a key under this filter's hash and seed or secret."

#define DOC_COPY \
    "copy($self, /)\n--\n\n" \
    "A copy in memory, writable even if this one is not."
#define DOC_DEEPCOPY "__deepcopy__($self, memo, /)\n--\n\nLike copy()."
#define DOC_SIZEOF \
    "__sizeof__($self, /)\n--\n\nBytes of memory, those outside Python's heap too; not of a map."
#define DOC_REDUCE \
    "__reduce_ex__($self, protocol, /)\n--\n\n" \
    "For pickle: the bytes of to_bytes(). A keyed filter is a TypeError."

#define DOC_EMPTY_LIKE \
    "empty_like($self, /)\n--\n\n" \
    "An empty filter with the same parameters, which can be merged with this one."

#define DOC_DROP_COUNTS \
    "drop_counts($self, /)\n--\n\n" \
    "A classic filter with the keys of this counting one, at a quarter of the size."

#define DOC_FOLD \
    "fold($self, /, rate=None, *, capacity=None, bits=None)\n--\n\n" \
    "A smaller filter with the keys of this one: the one that was made small.\n\n" \
    "It has the smallest size that keeps the rate (by default that of this filter) for the\n" \
    "keys that are in, or for `capacity` keys; or exactly `bits`, by which those of this\n" \
    "filter can be divided. Make the filter with foldable=True:\n\n" \
    ">>> from petal import Filter\n" \
    ">>> large = Filter(rate=0.01, memory=50_000_000, foldable=True)\n" \
    ">>> large.update(str(n) for n in range(10_000))  # any number of keys\n" \
    "10000\n" \
    ">>> large.fold().info().bytes < 15_000\n" \
    "True"

#define DOC_FROM_KEYS \
    "from_keys($type, keys, /, *, rate=0.01, memory=67108864, scheme=None, seed=None,\n" \
    "          secret=None, hashes=None, lines_per_key=None, key_type=None, metadata=None,\n" \
    "          refuse_overfull=False)\n--\n\n" \
    "A filter of keys whose number nobody knows: of an iterator, which is read once.\n\n" \
    "The keys go into a filter of `memory` bytes, which then is folded to the smallest size\n" \
    "that keeps the rate. Up to an eighth of `memory`, that is at most 1/8 more than\n" \
    "Filter(number, rate) takes. If there are more keys than `memory` has room for at that rate,\n" \
    "the filter stays as large as it is, and is_overfull; refuse_overfull=True makes that an\n" \
    "error. scheme: 'blocked' or 'classic'.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> squares = Filter.from_keys(n * n for n in range(10_000))\n" \
    ">>> 144 in squares, squares.info().bytes < 15_000\n" \
    "(True, True)"

#define DOC_CLEAR \
    "clear($self, /)\n--\n\n" \
    "Removes every key."

#define DOC_FREEZE \
    "freeze($self, /)\n--\n\n" \
    "No more changes, for good. A writable map is synced first."

#define DOC_ADVANCE \
    "advance($self, now=None, /)\n--\n\n" \
    "Sets the clock of a window of time: seconds since 1970 or a datetime; None: the time now.\n\n" \
    "Keys are forgotten here and nowhere else, so call it before adding and asking."

#define DOC_INFO \
    "info($self, /, layer=None)\n--\n\n" \
    "What is known without looking at the bits, as a petal.Info; O(1).\n\n" \
    ">>> from petal import Filter\n" \
    ">>> info = Filter(1000, 0.01).info()\n" \
    ">>> info.scheme, info.hashes, info.bytes, info.capacity\n" \
    "('blocked', 7, 1280, 1000)"

#define DOC_STATS \
    "stats($self, /, layer=None)\n--\n\n" \
    "What the bits say, as a petal.Stats. Reads all of them: a second for 5 GB.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.update(range(500))\n" \
    "500\n" \
    ">>> f.stats().estimated_items.low < 500 < f.stats().estimated_items.high\n" \
    "True"

#define DOC_COMPARE \
    "compare($self, other, /)\n--\n\n" \
    "How the keys of two filters overlap, estimated, as a petal.Comparison.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> a, b = Filter(1000, 0.001), Filter(1000, 0.001)\n" \
    ">>> a.update(range(600)) + b.update(range(300, 900)) > 1190\n" \
    "True\n" \
    ">>> 250 < a.compare(b).intersection.value < 350\n" \
    "True"

#define DOC_CONTENT_ID \
    "content_id($self, /)\n--\n\n" \
    "A number that is equal for equal parameters and bits."

#define DOC_OPEN \
    "open($type, path, mode='r', *, format='auto', secret=None, key_type=None,\n" \
    "     verify=None, recover=False, live=False, locked=False, no_lock=False,\n" \
    "     memory_limit=None)\n--\n\n" \
    "A filter from a file, of Petal or of another library.\n\n" \
    "mode      'r': mapped, to be asked; takes milliseconds at any size\n" \
    "          'r+': mapped and changed in place; sync() or close() makes changes durable\n" \
    "          'load': a verified copy in memory, which can be changed; save() it\n" \
    "format    'petal', 'guava', ...; 'auto': the only one that fits\n" \
    "key_type  how str and int become keys, if the file does not record it\n" \
    "verify    None: of a map, each block before the first answer from it, so that damage is a\n" \
    "          petal.Error and never a wrong 'certainly not'; True: all of it now; False: trust it\n" \
    "recover   accept a file that a writer left halfway\n" \
    "live      read a file that another process is changing\n" \
    "locked    'load': keep others from changing the file until close()\n" \
    "no_lock   for file systems without locks"

#define DOC_SAVE \
    "save($self, path, *, format=None, replace=True, no_lock=False, new_owner=False)\n--\n\n" \
    "Writes a file: at every moment there is the old one or the whole new one.\n\n" \
    "format: 'petal', or another that can hold this filter. replace False: FileExistsError if\n" \
    "it exists."

#define DOC_SYNC \
    "sync($self, /)\n--\n\n" \
    "Makes the changes of a filter opened with 'r+' durable."

#define DOC_VERIFY \
    "verify($self, /)\n--\n\n" \
    "Compares a mapped file with its checksums; petal.Error if they differ. False: it has none."

#define DOC_TO_BYTES \
    "to_bytes($self, /, format=None)\n--\n\n" \
    "The bytes that save() would write.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.add('a')\n" \
    "True\n" \
    ">>> 'a' in Filter.from_bytes(f.to_bytes())\n" \
    "True"

#define DOC_FROM_BYTES \
    "from_bytes($type, data, *, format='auto', secret=None, key_type=None,\n" \
    "           recover=False, memory_limit=None)\n--\n\n" \
    "A filter from the bytes of a file: a copy, which can be changed, and is always verified."

#define DOC_VIEW \
    "view($type, data, *, format='auto', secret=None, key_type=None,\n" \
    "     recover=False, memory_limit=None, verify=None)\n--\n\n" \
    "Like from_bytes(), but read-only and without a copy: of an mmap, or shared memory. The\n" \
    "bytes must not change until close(). verify: as for open()."

#define DOC_WRITE_TO \
    "write_to($self, file, /, format=None)\n--\n\n" \
    "Writes the bytes of to_bytes() to a file object, in pieces."

#define DOC_READ_FROM \
    "read_from($type, file, *, format='auto', secret=None, key_type=None,\n" \
    "          size=None, memory_limit=None)\n--\n\n" \
    "A filter from a file object, read to its end. size: of the whole, if known.\n\n" \
    ">>> import io\n" \
    ">>> from petal import Filter\n" \
    ">>> file = io.BytesIO()\n" \
    ">>> Filter(1000).write_to(file)\n" \
    ">>> Filter.read_from(io.BytesIO(file.getvalue())).info().capacity\n" \
    "1000"

#define DOC_CLOSE \
    "close($self, /)\n--\n\n" \
    "Syncs and gives up the memory or the file; waits for the calls of other threads. What is\n" \
    "done with the filter after that is a ValueError."

#define DOC_PLAN \
    "plan" OPTIONS_SIGNATURE \
    "What Filter() would make of the same arguments, as a petal.Info, without making it.\n\n" \
    ">>> import petal\n" \
    ">>> plan = petal.plan(1_000_000_000, 0.01)\n" \
    ">>> plan.bytes, round(plan.bits_per_key, 2), plan.hashes\n" \
    "(1243870208, 9.95, 7)\n" \
    ">>> round(plan.rate_at(2_000_000_000), 3)    # with twice the keys\n" \
    "0.125"

#define DOC_FORMATS \
    "formats()\n--\n\n" \
    "The formats there are, as petal.Format objects."

#define DOC_PARQUET_FILTERS \
    "parquet_filters(data, /)\n--\n\n" \
    "The Bloom filters in the bytes of a Parquet file (or its mmap), as petal.ParquetFilter\n" \
    "objects. To query one:\n\n" \
    "    piece = memoryview(data)[one.offset : one.offset + one.bytes]\n" \
    "    Filter.view(piece, format='parquet', key_type=one.key_type)\n\n" \
    "A key is in a column if the filter of any of its row groups contains it."

#define DOC_RECOGNIZE \
    "recognize(data, /)\n--\n\n" \
    "The names of the formats that these bytes can be, by header and length alone."

#define DOC_SHARD_OF \
    "shard_of(key, shards, /)\n--\n\n" \
    "Which of so many shards a key belongs to, from 0: the same in every language."

#endif
