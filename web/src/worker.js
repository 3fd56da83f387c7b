/* worker.js - the page's computations, in a worker, so that they never delay a click. The npm
 * package's classic build (its global is `petal`) precedes this source in one Blob, so that it also
 * runs from file:.
 *
 * A message {id, op, args} is answered by {id, result} or {id, error}, after any number of {id,
 * progress}; {id, op: 'cancel'} aborts. Each worker of the page has its own state.
 *
 * The library doesn't show the bits of a single key, so this file repeats the rules of
 * docs/format.md, section 2, for the two filters that are drawn. It reads those bits from the
 * library's array, and the page compares the result with the library's answer. */
(function () {
  'use strict';
  var P = self.petal, Filter = P.Filter;
  var running = {}; // AbortController of each id
  var held = null; // the open filter

  // ---- lines of text -------------------------------------------------------------------------------

  /* Calls take(bytes, ends, count) with batches of a stream's lines. As in the tool, an empty line
   * is the empty key, and CR belongs to the key unless `crlf`. */
  async function eachLine(stream, crlf, take, signal, progress) {
    var BATCH = 1 << 20, buffer = new Uint8Array(2 * BATCH), fill = 0, seen = 0;
    var joined = new Uint8Array(2 * BATCH), ends = new Uint32Array(1 << 16), reader = stream.getReader();
    function flush(last) {
      var at = 0, out = 0, n = 0;
      while (at < fill) {
        var end = buffer.indexOf(10, at);
        if (end < 0 || end >= fill) { if (!last) break; end = fill; }
        var stop = crlf && end > at && buffer[end - 1] === 13 ? end - 1 : end;
        joined.set(buffer.subarray(at, stop), out);
        out += stop - at;
        ends[n++] = out;
        at = end + 1;
        if (n < ends.length) continue;
        take(joined.subarray(0, out), ends, n);
        out = n = 0;
      }
      if (n) take(joined.subarray(0, out), ends.subarray(0, n), n);
      at = Math.min(at, fill);
      buffer.copyWithin(0, at, fill);
      fill -= at;
      if (fill <= BATCH) return;
      var bigger = new Uint8Array(2 * buffer.length); // a line longer than a batch
      bigger.set(buffer.subarray(0, fill));
      buffer = bigger;
      joined = new Uint8Array(buffer.length);
    }
    try {
      for (;;) {
        var next = await reader.read();
        signal.throwIfAborted();
        if (next.done) break;
        for (var at = 0; at < next.value.length;) {
          var part = Math.min(next.value.length - at, buffer.length - fill);
          buffer.set(next.value.subarray(at, at + part), fill);
          fill += part;
          at += part;
          if (fill === buffer.length) flush(false);
        }
        seen += next.value.length;
        if (fill >= BATCH) flush(false);
        progress(seen);
      }
      flush(true);
    } finally {
      reader.cancel().catch(function () {});
    }
  }

  /* At most ten messages per second. */
  function paced(send) {
    var last = 0;
    return function (make) {
      var now = performance.now();
      if (now - last < 100) return;
      last = now;
      send(make());
    };
  }

  /* Three passes: count the lines; count the distinct ones, with a filter that mistakes hardly any
   * for repeats (one in a million, in huge lists one in ten thousand); then plan and fill the
   * filter. */
  async function build(file, rate, isStatic, signal, progress) {
    var pace = paced(progress), lines = 0, distinct = 0, keys = 0, total = file.size;
    var head = new Uint8Array(await file.slice(0, 65536).arrayBuffer()), first = head.indexOf(10);
    var crlf = first > 0 && head[first - 1] === 13;
    function pass(from, to, counting, take) {
      return eachLine(file.stream(), crlf, take, signal, function (done) {
        pace(function () { return { bytes: done, total: total, share: from + done / total * (to - from), counting: counting, keys: counting ? lines : keys }; });
      });
    }
    if (isStatic) return buildStatic(pass, rate, crlf);
    await pass(0, .2, true, function (bytes, ends, n) { lines += n; });
    if (!lines) return { empty: true };
    var probe = await Filter.create({ capacity: lines, rate: lines > 2e7 ? 1e-4 : 1e-6 });
    try {
      await pass(.2, .6, true, function (bytes, ends) { distinct += probe.addMany({ bytes: bytes, ends: ends }); });
    } finally { probe.dispose(); }
    var filter = await Filter.create({ capacity: distinct, rate: rate, keyType: 'text' });
    try {
      await pass(.6, 1, false, function (bytes, ends, n) { filter.addMany({ bytes: bytes, ends: ends }); keys += n; });
    } catch (error) { filter.dispose(); throw error; }
    return { filter: filter, lines: lines, distinct: distinct, crlf: crlf };
  }

  /* One pass: the filter grows to the size that the keys need. */
  async function buildStatic(pass, rate, crlf) {
    var filter = await Filter.create({ scheme: 'static', rate: rate, keyType: 'text' }), lines = 0;
    try {
      await pass(0, .8, true, function (bytes, ends, n) { filter.addMany({ bytes: bytes, ends: ends }); lines += n; });
      filter.freeze();
    } catch (error) { filter.dispose(); throw error; }
    if (lines) return { filter: filter, lines: lines, distinct: filter.info.items, crlf: crlf };
    filter.dispose();
    return { empty: true };
  }

  // ---- files ---------------------------------------------------------------------------------------

  var MAGIC = [0x89, 0x50, 0x54, 0x4c, 0x0d, 0x0a, 0x1a, 0x0a];
  async function kindOf(file) {
    var head = new Uint8Array(await file.slice(0, 65536).arrayBuffer()), at = 0;
    if (!head.length) return 'list';
    if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
    if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
    if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'marked';
    if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
    if (MAGIC.every(function (b, i) { return head[i] === b; })) return 'petal';
    for (var i = 0; i < head.length; i++) if (head[i] < 9 || head[i] > 13 && head[i] < 32 && head[i] !== 27) return 'binary';
    while (head[at] <= 32) at++;
    return head[at] === 0x7b || head[at] === 0x5b ? 'json' : 'list';
  }
  function use(filter) {
    if (held) held.dispose();
    held = filter;
    return describe(filter);
  }
  function describe(f) {
    var i = f.info, s = f.stats(), id = null;
    try { id = f.contentId().toString(16).padStart(16, '0'); } catch (e) { /* a kind without */ }
    return {
      format: i.format, scheme: i.scheme, hash: i.hash, hashes: i.hashes, bits: i.bits, bytes: i.bytes, capacity: i.capacity,
      items: i.items, layers: i.layers, keyType: i.keyType, fill: s.fill, rate: s.estimatedRate, asked: i.targetRate,
      estimate: s.saturated ? 0 : Math.round(s.estimatedItems.value), content: id
    };
  }
  async function open(args, signal, progress) {
    var file = args.file, pace = paced(progress);
    var kind = args.list ? 'list' : args.format ? 'given' : await kindOf(file);
    var made = {}, filter;
    if (kind === 'gzip') { // of anything
      var unpacked = await new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
      signal.throwIfAborted();
      return Object.assign(await open(Object.assign({}, args, { file: unpacked }), signal, progress), { gzip: true });
    }
    if (kind === 'marked') return open(Object.assign({}, args, { file: file.slice(3), list: true }), signal, progress);
    if (/^utf-16/.test(kind)) { // what some Windows programs write; its byte order mark is not a
                                // key
      var text = file.stream().pipeThrough(new TextDecoderStream(kind)).pipeThrough(new TextEncoderStream());
      var utf8 = await new Response(text).blob();
      signal.throwIfAborted();
      return Object.assign(await open(Object.assign({}, args, { file: utf8, list: true }), signal, progress), { utf16: true });
    }
    function loading(done) { pace(function () { return { bytes: done, total: file.size, share: done / file.size }; }); }
    if (kind === 'list') {
      made = await build(file, args.rate, args.isStatic, signal, progress);
      if (made.empty) return made;
      filter = made.filter;
    } else {
      var format = args.format || (kind === 'petal' ? 'petal' : null);
      if (!format) {
        // Recognizing most formats means checking the header against the file size, so the whole
        // file is passed.
        var names = await P.recognize(new Uint8Array(await file.arrayBuffer()));
        if (names.length > 1) return { formats: names };
        if (!names.length && kind === 'json') return open(Object.assign({}, args, { list: true }), signal, progress);
        if (!names.length) {
          var shy = (await P.formats()).filter(function (it) { return it.canRead && !it.canRecognize; });
          return { unknown: true, formats: shy.map(function (it) { return it.name; }) };
        }
        format = names[0];
      }
      filter = await Filter.load(file, { format: format, signal: signal, onProgress: function (at) { loading(at.loaded); } });
    }
    var info = use(filter);
    return {
      name: args.name, info: info, built: kind === 'list', lines: made.lines, distinct: made.distinct, crlf: made.crlf,
      size: filter.toBytes().length
    };
  }

  var WHOLE = /^\s*-?\d+\s*$/, NUMBER = /^\s*-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;
  function whole(text) { if (!WHOLE.test(text)) throw new TypeError(text); return BigInt(text.trim()); }
  function number(text) { if (!NUMBER.test(text)) throw new TypeError(text); return Number(text); }
  /* How typed text becomes a key of each type; if it throws, the text is not such a key. */
  var READ = {
    text: String, utf16le: P.utf16,
    i64: function (text) { return P.i64(whole(text)); }, i32: function (text) { return P.i32(whole(text)); },
    f64: function (text) { return P.f64(number(text)); }, f32: function (text) { return P.f32(number(text)); },
    hex: function (text) {
      if (!/^([0-9a-f]{2})*$/i.test(text)) throw new TypeError(text);
      return new Uint8Array((text.match(/../g) || []).map(function (b) { return parseInt(b, 16); }));
    }
  };
  function keyOf(text, type) {
    try { return READ[type](text); } catch (error) { throw Object.assign(new Error('not a key of this type'), { name: 'BadKey' }); }
  }
  /* In a filter that doesn't record its key type: the other types for which it would pass. */
  function passesAs(text, type) {
    if (held.info.keyType !== 'none') return [];
    return Object.keys(READ).filter(function (other) {
      try { return other !== type && held.has(keyOf(text, other)); } catch (error) { return false; }
    });
  }

  // ---- a list in memory ----------------------------------------------------------------------------

  async function linesOf(base64) {
    var raw = atob(base64), packed = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
    var text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    return text.split('\n').filter(Boolean);
  }
  function hex(hash) { return hash.toString(16).padStart(16, '0'); }
  var encoder = new TextEncoder();

  var crawl = null, members = null;
  var TOY = { scheme: 'classic', bits: 11, hashes: 2, seed: 197072n };
  async function toyOf(keys) {
    var filter = await Filter.create(TOY);
    keys.forEach(function (key) { filter.add(key); });
    return filter;
  }

  var ops = {
    /* A key's bytes and hash, and its two positions according to the rule of `classic`, which must
     * be the bits that the library sets. */
    toy: async function (a) {
      var filter = await toyOf([a.key]), h = filter.hashKey(a.key), x = h, places = [];
      for (var i = 0; i < 2; i++) {
        places.push(Number((x * 11n) >> 64n));
        x = BigInt.asUintN(64, x * 0xDA942042E4DD58B5n);
      }
      var set = filter.stats().bitsSet, distinct = new Set(places).size;
      filter.dispose();
      if (set !== distinct) throw new Error('toy: the library sets ' + set + ' bits');
      var raw = encoder.encode(a.key);
      return { places: places, hash: hex(h), bytes: Array.from(raw.subarray(0, 24), function (b) { return b.toString(16).padStart(2, '0'); }).join(' ') + (raw.length > 24 ? ' …' : '') };
    },
    toyHas: async function (a) {
      var filter = await toyOf(a.members), says = filter.has(a.key);
      filter.dispose();
      return says;
    },

    openSample: async function (a) {
      if (held) held.dispose();
      held = await Filter.load(a.bytes);
      return { bits: held.bits(), hashes: held.info.hashes, rate: held.stats().estimatedRate };
    },
    look: function (a) { return Object.assign(placeOf(held.hashKey(a.key)), { has: held.has(a.key) }); },
    hasMany: function (a) { return held.hasMany(a.keys); },
    million: function (a) {
      var hits = 0;
      for (var from = 0; from < 1e6; from += 10000) {
        var names = [];
        for (var i = 0; i < 10000; i++) names.push('https://absent.example/' + (a.from + from + i));
        var says = held.hasMany(names);
        for (i = 0; i < 10000; i++) hits += says[i] ? 1 : 0;
      }
      return hits;
    },
    /* The keys in the list that set this key's bits. */
    owners: async function (a) {
      if (!members) {
        members = { names: Array.from(new Set(await linesOf(a.links))), hashes: [] };
        members.names.forEach(function (name) { members.hashes.push(held.hashKey(name)); });
      }
      var place = placeOf(held.hashKey(a.key)), near = [];
      members.names.forEach(function (name, i) {
        var of = placeOf(members.hashes[i]);
        if (of.line === place.line) near.push({ name: name, at: of.at });
      });
      place.member = near.some(function (it) { return it.name === a.key; });
      place.owners = place.at.map(function (bit) { return near.find(function (it) { return it.at.indexOf(bit) >= 0; }).name; });
      return place;
    },

    plan: async function (a) {
      var it = await solve(a), n = it.capacity, load = [];
      var textbook = a.scheme === 'classic' || a.format ? null : await Filter.plan({ scheme: 'classic', capacity: n, bits: it.bytes * 8 });
      for (var i = 0; i <= 60; i++) {
        var keys = Math.round(n * i / 20);
        load.push({ load: i / 20, rate: keys ? it.rateAt(keys) : 0, classic: textbook && keys ? textbook.rateAt(keys) : 0 });
      }
      return {
        keys: n, bytes: it.bytes, bits: it.bits, hashes: it.hashes, rate: it.rateAt(n), load: load, buys: await purchases(),
        classic: !!textbook, exact: it.exact, asked: it.asked
      };
    },

    open: open,
    ask: function (a) {
      var has = held.has(keyOf(a.key, a.type));
      return { has: has, others: has ? [] : passesAs(a.key, a.type) };
    },
    bytes: function () { return held.toBytes(); },

    timed: function (a) {
      var has = held.has(a.key), start = performance.now(), n = 0, spent;
      do { for (var i = 0; i < 50; i++, n++) held.has(a.key); spent = performance.now() - start; } while (spent < 1 && n < 20000);
      return { has: has, us: 1000 * spent / n };
    },
    /* user1, user2, ... as joined bytes. */
    big: async function (a, signal, progress) {
      var filter = await Filter.create({ capacity: a.keys, rate: .01, keyType: 'text' }), BATCH = 50000, pace = paced(progress);
      var bytes = new Uint8Array(BATCH * 16), ends = new Uint32Array(BATCH), digits = new Uint8Array(16);
      for (var from = 1; from <= a.keys; from += BATCH) {
        for (var i = 0, at = 0; i < BATCH; i++) {
          bytes[at] = 117; bytes[at + 1] = 115; bytes[at + 2] = 101; bytes[at + 3] = 114;
          at += 4;
          for (var value = from + i, n = 0; value; value = Math.floor(value / 10)) digits[n++] = 48 + value % 10;
          while (n) bytes[at++] = digits[--n];
          ends[i] = at;
        }
        filter.addMany({ bytes: bytes.subarray(0, at), ends: ends });
        pace(function () { return { keys: from }; });
      }
      if (held) held.dispose();
      held = filter;
      return { size: filter.info.bytes };
    },

    crawlStart: async function (a) {
      if (held) held.dispose();
      held = await Filter.create({ capacity: 30000, rate: .01 });
      crawl = { links: await linesOf(a.links), truth: new Set(), read: 0, fetched: 0, skipped: 0, wrong: 0, log: [] };
      crawl.total = crawl.links.length;
    },
    crawl: function (a) {
      for (var end = Math.min(crawl.total, crawl.read + a.links); crawl.read < end; crawl.read++) {
        var link = crawl.links[crawl.read], fresh = !crawl.truth.has(link), what;
        if (held.has(link)) { what = fresh ? 'wrong' : 'old'; crawl.skipped++; if (fresh) crawl.wrong++; } else { what = 'new'; crawl.fetched++; held.add(link); }
        crawl.truth.add(link);
        if (what === 'wrong' || end - crawl.read <= 7) crawl.log.unshift({ what: what, link: link });
      }
      crawl.log.length = Math.min(7, crawl.log.length);
      return { read: crawl.read, total: crawl.total, fetched: crawl.fetched, skipped: crawl.skipped, wrong: crawl.wrong, log: crawl.log };
    }
  };

  // ---- plans ---------------------------------------------------------------------------------------

  /* Returns the largest whole number for which good() holds, from low up to high - 1; null if
   * good(low) fails. */
  async function largest(low, high, good) {
    if (!await good(low)) return null;
    for (var top = low; top < high && await good(Math.min(high, 2 * top)); low = top) top = Math.min(high, 2 * top);
    for (low = top, high = Math.min(high, 2 * top); high - low > 1;) {
      var middle = Math.floor((low + high) / 2);
      if (await good(middle)) low = middle; else high = middle;
    }
    return low;
  }

  /* Of keys n, rate p, bytes m and hashes k, three are given, or two of the first three: the
   * planner then chooses k. `exact`: the plan uses bits and hashes; `asked`: this rate. 0: not
   * given. */
  async function solve(w) {
    var kind = w.format ? { format: w.format } : { scheme: w.scheme }, MOST = 1e15;
    function plan(more) { return Filter.plan(Object.assign({}, kind, more)); }
    function done(it, more) { return Object.assign(it, more); }
    function impossible(key) { return Object.assign(new Error(key), { name: 'NoPlan' }); }
    var counters = w.scheme === 'counting' && !w.format ? 4 : 1, step = 512;
    function exactly(bits, k) { return plan(Object.assign({ bits: bits, hashes: k }, w.n ? { capacity: w.n } : {})); }
    /* NaN: unknown, for a small filter of another library. */
    function reaches(it, n) { return it.rateAt(n) <= w.p; }
    function known(it, n) { if (isNaN(it.rateAt(n))) throw impossible('plan_unknown'); return it; }
    var bits = w.m ? Math.floor(8 * w.m / counters / step) * step || Math.floor(8 * w.m / counters) : 0;

    if (w.n && w.p && w.m) { // the fewest hashes
      for (var k = 1, it; k <= 64; k++) {
        try { it = await exactly(bits, k); } catch (error) { if (k === 64 && !it) throw error; continue; }
        if (reaches(it, w.n)) return done(it, { exact: true });
      }
      known(it, w.n);
      throw impossible('plan_no_hashes');
    }
    if (w.k && w.n && w.m) return done(await exactly(bits, w.k), { exact: true });
    if (w.k && w.p && w.m) {
      var given = await exactly(bits, w.k), n = await largest(1, MOST, function (n) { return !(given.rateAt(n) > w.p); });
      if (n === null) throw impossible('plan_no_keys');
      known(given, n);
      return done(given, { capacity: n, exact: true });
    }
    if (w.k) {
      var fewer = await largest(1, 2 ** 46 / step, async function (lines) { return !reaches(await exactly(lines * step, w.k), w.n); });
      var found = await exactly(((fewer || 0) + 1) * step, w.k);
      if (!reaches(known(found, w.n), w.n)) throw impossible('plan_no_bits');
      return done(found, { exact: true });
    }
    if (!w.m) return done(await plan({ capacity: w.n, rate: w.p }), { asked: w.p });
    if (!w.n) { it = await plan({ rate: w.p, memoryBytes: w.m }); return done(it, { asked: w.p }); }
    if (!w.format) return plan({ capacity: w.n, memoryBytes: w.m });
    // Other libraries' filters are sized by rate: the lowest one, in thousandths of its logarithm,
    // that fits.
    function rateOf(i) { return Math.exp(-i / 1000); }
    var i = await largest(1, 690000, async function (i) { try { return (await plan({ capacity: w.n, rate: rateOf(i) })).bytes <= w.m; } catch (error) { return false; } });
    if (i === null) throw impossible('plan_no_room');
    return done(await plan({ capacity: w.n, rate: rateOf(i) }), { asked: rateOf(i) });
  }

  /* The gain from each bit per key: the same for every plan. */
  var bought;
  async function purchases() {
    if (bought) return bought;
    for (var rows = [], b = 3; b <= 24; b += .5) {
      var row = { bits: b };
      for (var scheme of ['blocked', 'classic']) row[scheme] = (await Filter.plan({ scheme: scheme, capacity: 1000000, bits: b * 1000000 })).predictedRate;
      rows.push(row);
    }
    return (bought = rows);
  }

  var SALT = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff];
  /* The line of a hash in the open filter, and its k bits in that line, according to the rule of
   * `blocked`. */
  function placeOf(h) {
    var info = held.info, x = Number(h & 0xffffffffn), y = Math.imul(x, 0x9E3779B1) >>> 0, at = [];
    for (var i = 0; i < info.hashes; i++) {
      var w = ((y >>> 28) + i * (2 * ((y >>> 25) & 7) + 1)) % 16;
      at.push(32 * w + (Math.imul(x, SALT[w]) >>> 27));
    }
    return { line: Number((h * BigInt(info.bits / 512)) >> 64n), at: at };
  }

  // ---- messages ------------------------------------------------------------------------------------

  self.onmessage = async function (event) {
    var m = event.data;
    if (m.op === 'cancel') { if (running[m.id]) running[m.id].abort(); return; }
    var control = running[m.id] = new AbortController();
    try {
      var result = await ops[m.op](m.args || {}, control.signal, function (at) { self.postMessage({ id: m.id, progress: at }); });
      self.postMessage({ id: m.id, result: result });
    } catch (error) {
      self.postMessage({ id: m.id, error: { name: error.name, code: error.code, message: error.message, offset: error.offset == null ? null : Number(error.offset) } });
    } finally {
      delete running[m.id];
    }
  };
})();
