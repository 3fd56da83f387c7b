/* docs.h - the docstrings. doctest runs their examples. */
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
    "other types raise TypeError.\n\n" \
    "capacity, rate   distinct keys, and the share of others that pass (0.01 if not given)\n" \
    "memory           in place of rate: uses the best rate that fits into this many bytes\n" \
    "bits, hashes     exactly this many\n" \
    "scheme           'blocked' (default), 'classic'; 'counting', which can remove keys; 'static',\n" \
    "                 with a rate and no capacity: the smallest, for sets that never change (see\n" \
    "                 freeze())\n" \
    "seed             only filters with equal seeds and sizes can be merged\n" \
    "secret           16 bytes: creates a keyed filter, for keys that strangers choose\n" \
    "grow             adds layers as keys are added; the rate holds for any number\n" \
    "window           remembers at least this many of the latest keys, and forgets older ones\n" \
    "window_time      remembers keys for a timedelta or seconds (see advance()); window is then\n" \
    "                 the maximum number of keys in that time\n" \
    "format           'guava', 'redisbloom', ...: creates the filter that this library would\n" \
    "key_type         recorded in the file: 'text', 'i64', ...; other keys are then refused"

#define DOC_ADD \
    "add($self, key, /)\n--\n\n" \
    "Adds a key. True: it was certainly new. False: it was probably present.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.add('a'), f.add('a'), f.add(7), f.add(b'\\x00'), f.add(0.5)\n" \
    "(True, False, True, True, True)"

#define DOC_DISCARD \
    "discard($self, key, /)\n--\n\n" \
    "Removes a key from a counting filter. False: it was certainly absent.\n\n" \
    "Each add() needs its own discard(). Discard only keys that were added: removing others\n" \
    "damages keys that are present.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000, scheme='counting')\n" \
    ">>> f.add('a'), f.discard('a'), 'a' in f, f.discard('a')\n" \
    "(True, True, False, False)"

#define DOC_REMOVE \
    "remove($self, key, /)\n--\n\n" \
    "Like discard(), but raises ValueError if the key is certainly absent."

#define DOC_UPDATE \
    "update($self, keys, /, offsets=None)\n--\n\n" \
    "Adds all keys and returns how many were new.\n\n" \
    "keys: an iterable; a numpy array of int, uint, float, S or U; an Arrow column of strings,\n" \
    "binary or numbers (pyarrow, polars, pandas, duckdb); or bytes, with the offsets of the keys\n" \
    "in them, one more than there are keys. Nulls in Arrow columns are skipped.\n\n" \
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
    "Like update(), but returns one answer per key: True if it was new.\n\n" \
    "Returns a list; for numpy or pandas a numpy array of bool; for other Arrow columns\n" \
    "petal.Answers. If a key is invalid, all keys before it are added, none after it, and the\n" \
    "exception has its index as `offset`.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> Filter(1000).add_batch(['a', 'b', 'a'])\n" \
    "[True, True, False]"

#define DOC_CONTAINS_BATCH \
    "contains_batch($self, keys, /, offsets=None)\n--\n\n" \
    "Queries all keys, in the forms of update(). Returns answers like add_batch(): True,\n" \
    "probably present, or False, certainly absent. For nulls in Arrow columns the answer is\n" \
    "None. pandas needs an array of bool, so its nulls raise ValueError.\n\n" \
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
    "discard() for all keys, in the forms of update(). Returns answers like add_batch()."

#define DOC_CONTAINS_ANY \
    "contains_any($self, keys, /, offsets=None)\n--\n\n" \
    "Whether any key is probably present; stops as soon as it knows."

#define DOC_CONTAINS_ALL \
    "contains_all($self, keys, /, offsets=None)\n--\n\n" \
    "Whether every key is probably present; stops as soon as it knows."

#define DOC_HASH_KEY \
    "hash_key($self, key, /)\n--\n\n" \
    "The 64-bit hash of a key under this filter's hash and seed or secret."

#define DOC_COPY \
    "copy($self, /)\n--\n\n" \
    "A copy in memory, writable even if this filter is not."
#define DOC_DEEPCOPY "__deepcopy__($self, memo, /)\n--\n\nLike copy()."
#define DOC_SIZEOF \
    "__sizeof__($self, /)\n--\n\n" \
    "The bytes of memory used, including those outside Python's heap; maps are not counted."
#define DOC_REDUCE \
    "__reduce_ex__($self, protocol, /)\n--\n\n" \
    "For pickle: the bytes of to_bytes(). A keyed filter raises TypeError."

#define DOC_EMPTY_LIKE \
    "empty_like($self, /)\n--\n\n" \
    "An empty filter with the same parameters, which can be merged with this one."

#define DOC_DROP_COUNTS \
    "drop_counts($self, /)\n--\n\n" \
    "A classic filter with the keys of this counting one, at a quarter of the size."

#define DOC_FOLD \
    "fold($self, /, rate=None, *, capacity=None, bits=None)\n--\n\n" \
    "A smaller filter with the same keys, equal to one created at that size.\n\n" \
    "It has the smallest size that keeps the rate (by default this filter's) for the keys\n" \
    "present, or for `capacity` keys; or exactly `bits`, which must divide this filter's.\n" \
    "Create the filter with foldable=True:\n\n" \
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
    "Creates a filter of keys whose number is unknown: an iterator, which is read once.\n\n" \
    "The keys go into a filter of `memory` bytes, which is then folded to the smallest size\n" \
    "that keeps the rate. If the result needs at most an eighth of `memory`, it is at most\n" \
    "1/8 larger than Filter(number, rate). If `memory` is too small for the keys at that\n" \
    "rate, the filter keeps its size and is_overfull is true; with refuse_overfull=True that\n" \
    "is an error. scheme: 'blocked' or 'classic'; or 'static', which needs no `memory`: it\n" \
    "takes 16 bytes per key while it is built.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> squares = Filter.from_keys(n * n for n in range(10_000))\n" \
    ">>> 144 in squares, squares.info().bytes < 15_000\n" \
    "(True, True)\n" \
    ">>> fixed = Filter.from_keys((n * n for n in range(10_000)), scheme='static')\n" \
    ">>> 144 in fixed, fixed.info().bytes < 9_000\n" \
    "(True, True)"

#define DOC_CLEAR \
    "clear($self, /)\n--\n\n" \
    "Removes every key."

#define DOC_FREEZE \
    "freeze($self, /)\n--\n\n" \
    "Makes the filter permanently read-only. A writable map is synced first.\n\n" \
    "This call builds a static filter. Until then, the filter keeps 8 bytes per key, `in` and\n" \
    "add() are always true, and the filter can't be saved.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(rate=0.001, scheme='static')\n" \
    ">>> f.update(str(n) for n in range(10_000))\n" \
    "10000\n" \
    ">>> f.freeze()\n" \
    ">>> '9999' in f, 'another' in f, f.info().bits / 10_000 < 10.3\n" \
    "(True, False, True)"

#define DOC_ADVANCE \
    "advance($self, now=None, /)\n--\n\n" \
    "Sets the clock of a time window: seconds since 1970 or a datetime; None: now.\n\n" \
    "Only this call forgets keys, so call it before adding and querying."

#define DOC_INFO \
    "info($self, /, layer=None)\n--\n\n" \
    "Describes the filter without reading its bits, as a petal.Info; O(1).\n\n" \
    ">>> from petal import Filter\n" \
    ">>> info = Filter(1000, 0.01).info()\n" \
    ">>> info.scheme, info.hashes, info.bytes, info.capacity\n" \
    "('blocked', 7, 1280, 1000)"

#define DOC_STATS \
    "stats($self, /, layer=None)\n--\n\n" \
    "Statistics from the bits, as a petal.Stats. Reads all of them: one second for 5 GB.\n\n" \
    ">>> from petal import Filter\n" \
    ">>> f = Filter(1000)\n" \
    ">>> f.update(range(500))\n" \
    "500\n" \
    ">>> f.stats().estimated_items.low < 500 < f.stats().estimated_items.high\n" \
    "True"

#define DOC_COMPARE \
    "compare($self, other, /)\n--\n\n" \
    "Estimates how the keys of two filters overlap, as a petal.Comparison.\n\n" \
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
    "Opens a filter file of Petal or of another library.\n\n" \
    "mode      'r': mapped for queries; takes milliseconds at any size\n" \
    "          'r+': mapped and changed in place; sync() or close() makes changes durable\n" \
    "          'load': a verified copy in memory, which can be changed; save() it\n" \
    "format    'petal', 'guava', ...; 'auto': the only one that fits\n" \
    "key_type  how str and int become keys, if the file does not record it\n" \
    "verify    None: check each block of a map before the first answer from it, so that damage\n" \
    "          raises petal.Error and never gives a wrong 'certainly not'; True: check all now;\n" \
    "          False: trust it\n" \
    "recover   accept a file whose writer died halfway\n" \
    "live      read a file that another process is changing\n" \
    "locked    'load': prevent others from changing the file until close()\n" \
    "no_lock   for file systems without locks"

#define DOC_SAVE \
    "save($self, path, *, format=None, replace=True, no_lock=False, new_owner=False)\n--\n\n" \
    "Writes a file: at every moment the path names the old one or the complete new one.\n\n" \
    "format: 'petal', or another that can hold this filter. replace=False: raises\n" \
    "FileExistsError if it exists."

#define DOC_SYNC \
    "sync($self, /)\n--\n\n" \
    "Makes the changes of a filter opened with 'r+' durable."

#define DOC_VERIFY \
    "verify($self, /)\n--\n\n" \
    "Compares a mapped file with its checksums; raises petal.Error if they differ. False: the\n" \
    "file has no checksums."

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
    "Loads a filter from the bytes of a file: a copy, which can be changed, and is always verified."

#define DOC_VIEW \
    "view($type, data, *, format='auto', secret=None, key_type=None,\n" \
    "     recover=False, memory_limit=None, verify=None)\n--\n\n" \
    "Like from_bytes(), but read-only and without a copy: for an mmap or shared memory. The\n" \
    "bytes must not change until close(). verify: as for open()."

#define DOC_WRITE_TO \
    "write_to($self, file, /, format=None)\n--\n\n" \
    "Writes the bytes of to_bytes() to a file object, in pieces."

#define DOC_READ_FROM \
    "read_from($type, file, *, format='auto', secret=None, key_type=None,\n" \
    "          size=None, memory_limit=None)\n--\n\n" \
    "Loads a filter from a file object, read to its end. size: the total size, if known.\n\n" \
    ">>> import io\n" \
    ">>> from petal import Filter\n" \
    ">>> file = io.BytesIO()\n" \
    ">>> Filter(1000).write_to(file)\n" \
    ">>> Filter.read_from(io.BytesIO(file.getvalue())).info().capacity\n" \
    "1000"

#define DOC_CLOSE \
    "close($self, /)\n--\n\n" \
    "Syncs and releases the memory or the file; waits for the calls of other threads. Later\n" \
    "calls on the filter raise ValueError."

#define DOC_INDEX \
    "Index(*, scheme=None, fold=False)\n--\n\n" \
    "Many filters in one file, which a single call queries.\n\n" \
    ">>> import os, tempfile\n" \
    ">>> from petal import Filter, Index\n" \
    ">>> index = Index()\n" \
    ">>> index.add_keys('january', ['ann', 'bob'], 0.0001)\n" \
    ">>> index.add_keys('february', ['bob', 'cid'], 0.0001)\n" \
    ">>> path = os.path.join(tempfile.mkdtemp(), 'months.petals')\n" \
    ">>> index.save(path)\n" \
    ">>> with Index.open(path) as index:     # mapped\n" \
    "...     index.which('bob'), index.which('cid'), 'dan' in index, len(index)\n" \
    "(['january', 'february'], ['february'], False, 2)\n\n" \
    "`key in index` is False if the key is certainly in none of the filters. len(index) is\n" \
    "the number of filters. An index can't be pickled: save() it, and open it elsewhere.\n\n" \
    "scheme  of filters made by add_keys(): 'blocked' (default) or 'classic'\n" \
    "fold    fold each filter that is added, so that foldable ones share sizes"

#define DOC_INDEX_ADD \
    "add($self, name, filter, /)\n--\n\n" \
    "Adds a copy of a filter, which must be blocked or classic, with one layer and the key\n" \
    "type of the other filters. Filters of equal size are queried fastest. If a filter\n" \
    "doesn't record a key type, its keys count as text: give filters of ints a key_type."

#define DOC_INDEX_ADD_KEYS \
    "add_keys($self, name, keys, /, rate=0.01, *, offsets=None, seed=0, secret=None,\n" \
    "         key_type=None)\n--\n\n" \
    "Adds a filter of these keys, which are given as for Filter.update(); their number need\n" \
    "not be known. Its size is rounded up, by at most an eighth, so that sets of similar size\n" \
    "get filters of equal size. key_type is 'text' if the index has no filters yet."

#define DOC_INDEX_UPDATE \
    "update($self, other, /, *, without=())\n--\n\n" \
    "Adds the filters of another index, except those named in `without`. A saved index never\n" \
    "changes. To extend it, make a new one, update() it with the old one, and save() it in\n" \
    "its place."

#define DOC_INDEX_DROP \
    "drop($self, name, /)\n--\n\n" \
    "Drops a filter from an index that is being built. This copies all others; to drop many,\n" \
    "use update()."

#define DOC_INDEX_NAMES \
    "names($self, /)\n--\n\n" \
    "The names of the filters, in the order in which they were added. Names that aren't UTF-8\n" \
    "are decoded as os.fsdecode() does."

#define DOC_INDEX_WHICH \
    "which($self, key, /)\n--\n\n" \
    "The names of the filters that probably have the key; it is certainly in none of the others."

#define DOC_INDEX_WHICH_BATCH \
    "which_batch($self, keys, /, offsets=None)\n--\n\n" \
    "which() for all keys, in the forms of Filter.update(): a list of lists of names, with None\n" \
    "for nulls in Arrow columns."

#define DOC_INDEX_BITS_BATCH \
    "bits_batch($self, keys, /, offsets=None)\n--\n\n" \
    "Like which_batch(), but returns bits: a memoryview of 64-bit words, info().row_words per\n" \
    "key. Bit f % 64 of word f // 64 is 1 if filter number f probably has the key. The rows\n" \
    "of nulls are zero.\n\n" \
    ">>> from petal import Index\n" \
    ">>> index = Index()\n" \
    ">>> index.add_keys('evens', range(0, 100, 2), 0.0001, key_type='i64')\n" \
    ">>> index.add_keys('odds', range(1, 100, 2), 0.0001)\n" \
    ">>> list(index.bits_batch([4, 5, 600]))\n" \
    "[1, 2, 0]"

#define DOC_INDEX_INFO \
    "info($self, /)\n--\n\n" \
    "Describes the index, as a petal.IndexInfo."

#define DOC_INDEX_OPEN \
    "open($type, path, *, secret=None, verify=None, memory_limit=None)\n--\n\n" \
    "Maps an index file for reading; verify as in Filter.open(). A saved index is much faster\n" \
    "than one that is being built, which queries its filters one after the other."

#define DOC_INDEX_SAVE \
    "save($self, path, *, replace=True, no_lock=False, new_owner=False)\n--\n\n" \
    "Writes a file: at every moment the path names the old one or the complete new one.\n" \
    "Processes that have opened the old one keep it. replace=False: raises FileExistsError if\n" \
    "it exists."

#define DOC_INDEX_VERIFY \
    "verify($self, /)\n--\n\n" \
    "Compares an opened index with its checksums; raises petal.Error if they differ. False:\n" \
    "the index is being built, and has no checksums yet."

#define DOC_INDEX_CLOSE \
    "close($self, /)\n--\n\n" \
    "Releases the memory or the file; waits for the calls of other threads. Later calls raise\n" \
    "ValueError."

#define DOC_PLAN \
    "plan" OPTIONS_SIGNATURE \
    "Describes what Filter() would create, as a petal.Info, without creating it.\n\n" \
    ">>> import petal\n" \
    ">>> plan = petal.plan(1_000_000_000, 0.01)\n" \
    ">>> plan.bytes, round(plan.bits_per_key, 2), plan.hashes\n" \
    "(1243870208, 9.95, 7)\n" \
    ">>> round(plan.rate_at(2_000_000_000), 3)    # with twice the keys\n" \
    "0.125"

#define DOC_FORMATS \
    "formats()\n--\n\n" \
    "The formats that this build supports, as petal.Format objects."

#define DOC_PARQUET_FILTERS \
    "parquet_filters(data, /)\n--\n\n" \
    "Finds the Bloom filters in the bytes of a Parquet file (or its mmap), as\n" \
    "petal.ParquetFilter objects. To query one:\n\n" \
    "    piece = memoryview(data)[one.offset : one.offset + one.bytes]\n" \
    "    Filter.view(piece, format='parquet', key_type=one.key_type)\n\n" \
    "A key may be in a column if the filter of any of its row groups contains it."

#define DOC_RECOGNIZE \
    "recognize(data, /)\n--\n\n" \
    "The names of the formats that these bytes may be in, judging by header and length alone."

#define DOC_SHARD_OF \
    "shard_of(key, shards, /)\n--\n\n" \
    "The shard of a key, from 0 to shards - 1: the same in every language."

#endif
