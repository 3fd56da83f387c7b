/* page.js - the page's user interface. It only draws: worker.js computes all hashes, answers, plans
 * and files with Petal's WebAssembly, in another thread. If single bits are shown, the answer that
 * they imply is compared with the library's. */
(function () {
  'use strict';

  // ---- words and numbers -------------------------------------------------------------------------

  var $ = function (id) { return document.getElementById(id); };
  var text = JSON.parse($('text').textContent);
  var chinese = text.lang.slice(0, 2) === 'zh';
  var still = matchMedia('(prefers-reduced-motion: reduce)');

  function escape(value) {
    return String(value).replace(/[&<>"]/g, function (c) {
      return { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c];
    });
  }
  /* Fills in the blanks of a sentence, as HTML: outside text is escaped. */
  function say(key, values) {
    return text[key].replace(/\{(\w+)\}/g, function (all, name) {
      return values && name in values ? escape(values[name]) : all;
    });
  }
  function plain(key, values) {
    var box = document.createElement('p');
    box.innerHTML = say(key, values);
    return box.textContent;
  }
  function element(tag, className, html) {
    var made = document.createElement(tag);
    if (className) made.className = className;
    if (html !== undefined) made.innerHTML = html;
    return made;
  }

  var locale = chinese ? 'zh-CN' : 'en';
  var whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  var compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
  function list(items) { return items.join(chinese ? '、' : ', '); }
  function word(key) { return key === '' ? '""' : key; }

  function bytes(n) {
    var units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'], i = 0;
    if (n < 1024) return whole.format(n) + (chinese ? ' 字节' : ' bytes');
    while (n >= 1024 && i < 4) { n /= 1024; i++; }
    return (n < 1000 ? n.toPrecision(4) : n.toFixed(0)) + ' ' + units[i];
  }
  /* 1.0 %, 0.010 %, 1 in 99.5M: as the tool prints them. */
  function rate(p) {
    if (!isFinite(p) || p === null) return text.rate_unknown;
    if (!(p > 0)) return '0 %';
    if (p < 0.000095) return chinese ? '1/' + compact.format(1 / p) : '1 in ' + compact.format(1 / p);
    var percent = 100 * p;
    return (percent >= 99.5 ? '100' : percent.toPrecision(2)) + ' %';
  }
  /* What the tool accepts, such as 10M and 64MiB; null for anything else. */
  function readNumber(s) {
    var m = /^\s*([0-9][0-9,_]*\.?[0-9]*(?:e\+?[0-9]+)?)\s*([kKMGT万亿]?)\s*$/.exec(s);
    if (!m) return null;
    var unit = { '': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, '万': 1e4, '亿': 1e8 }[m[2]];
    var n = Math.round(parseFloat(m[1].replace(/[,_]/g, '')) * unit);
    return n >= 1 && n <= 1e15 ? n : null;
  }
  function readRate(s) {
    var m = /^\s*1\s*(?::|\/|in)\s*(\S+)\s*$/i.exec(s), p;
    if (m) p = 1 / readNumber(m[1]);
    else if ((m = /^\s*([0-9.]+(?:e-?[0-9]+)?)\s*%\s*$/i.exec(s))) p = m[1] / 100;
    else if ((m = /^\s*([0-9.]+(?:e-?[0-9]+)?)\s*$/i.exec(s))) p = +m[1];
    return p > 0 && p < 1 ? p : null;
  }
  function readBytes(s) {
    var m = /^\s*([0-9.]+)\s*([KMGT]?)(i?B?)\s*$/i.exec(s);
    if (!m) return null;
    var step = /i/i.test(m[3]) || !m[3] ? 1024 : 1000;
    return Math.floor(m[1] * Math.pow(step, ' KMGT'.indexOf(m[2].toUpperCase() || ' '))) || null;
  }
  function short(n) {
    var units = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    for (var i = 0; i < 4; i++) {
      var part = n / units[i][0];
      if (part >= 1 && part === +part.toFixed(2)) return part + units[i][1];
    }
    return String(n);
  }

  var announcing;
  function announce(words) {
    clearTimeout(announcing);
    announcing = setTimeout(function () { $('live').textContent = words; }, 500);
  }

  // ---- the engine --------------------------------------------------------------------------------

  /* The source of the worker, which contains the module, comes last (engine.js); calls wait for
   * it. */
  var source = new Promise(function (resolve) { window.petalEngine = resolve; });

  /* One worker: call(op, arguments, onProgress, transfer) returns a promise. */
  function startWorker() {
    var waiting = {}, last = 0, worker, failed;
    var ready = source.then(function (code) {
      worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
      worker.onmessage = function (event) {
        var message = event.data, call = waiting[message.id];
        if (!call) return;
        if (message.progress) { if (call.progress) call.progress(message.progress); return; }
        delete waiting[message.id];
        if (message.error) call.reject(Object.assign(new Error(message.error.message), message.error));
        else call.resolve(message.result);
      };
      worker.onerror = function (event) {
        failed = new Error(event.message || 'worker');
        for (var id in waiting) waiting[id].reject(failed);
        waiting = {};
      };
    });
    return {
      call: function (op, args, progress) {
        var id = ++last;
        var promise = ready.then(function () {
          if (failed) throw failed;
          return new Promise(function (resolve, reject) {
            waiting[id] = { resolve: resolve, reject: reject, progress: progress };
            worker.postMessage({ id: id, op: op, args: args });
          });
        });
        promise.cancel = function () { if (worker) worker.postMessage({ id: id, op: 'cancel' }); };
        return promise;
      }
    };
  }
  var workers = {};
  function engine(name) { return workers[name] || (workers[name] = startWorker()); }

  /* Loads a script from the samples folder, once: it calls petalSample(name, value). */
  var samples = {};
  window.petalSample = function (name, value) { samples[name].resolve(value); };
  function sample(name) {
    if (samples[name]) return samples[name].promise;
    var entry = samples[name] = {};
    entry.promise = new Promise(function (resolve, reject) {
      entry.resolve = resolve;
      var script = document.createElement('script');
      script.src = text.root + 'samples/' + name + '.js';
      script.onerror = function () { reject(new Error(script.src)); };
      document.head.append(script);
    });
    return entry.promise;
  }
  function decode(base64) {
    var raw = atob(base64), out = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }
  function onceNear(node, run) {
    var watch = new IntersectionObserver(function (entries) {
      if (!entries.some(function (e) { return e.isIntersecting; })) return;
      watch.disconnect();
      run();
    }, { rootMargin: '600px' });
    watch.observe(node);
  }

  // ---- a verdict ---------------------------------------------------------------------------------

  /* says: true, false or null (no query yet); `why` is HTML. */
  function verdict(id, says, key, why) {
    var box = $(id), line = box.querySelector('.says'), reason = box.querySelector('.why');
    if (says === null) delete line.dataset.says;
    else line.dataset.says = says ? 'maybe' : 'no';
    var name = line.querySelector('.word');
    if (name) { name.textContent = key === null ? '' : word(key); name.hidden = key === null; }
    var answer = says === null ? '' : says ? text.maybe : text.certainly_not;
    line.querySelector('.answer').textContent = answer;
    if (reason) reason.innerHTML = why || '';
    if (says !== null) announce((name && key !== null ? word(key) + ': ' : '') + answer + '. ' + (reason ? reason.textContent : ''));
  }

  // ---- the eleven bits ---------------------------------------------------------------------------

  var toy = (function () {
    // The five words of the tour, so that it works before the engine is loaded; later the engine is
    // asked.
    var known = {
      a: { places: [3, 5], bytes: '61' }, b: { places: [5, 8], bytes: '62' }, c: { places: [8, 3], bytes: '63' },
      d: { places: [4, 0], bytes: '64' }, g: { places: [5, 1], bytes: '67' }
    };
    var script = [['add', 'a'], ['add', 'b'], ['check', 'c'], ['check', 'g'], ['check', 'd']];
    var members = ['a', 'b'], bits = [], cleared = false, asked = 'c', latest = 0;
    var steps = Array.prototype.slice.call($('tour').querySelectorAll('button'));

    function unique(places) { return places.filter(function (p, i) { return places.indexOf(p) === i; }); }
    function setters(bit) {
      return members.filter(function (key) { return bits[bit] && known[key].places.indexOf(bit) >= 0; });
    }
    function refill() {
      bits = [];
      for (var i = 0; i < 11; i++) bits.push(false);
      members.forEach(function (key) { known[key].places.forEach(function (p) { bits[p] = true; }); });
      cleared = false;
    }
    function passes(key) { return known[key].places.every(function (p) { return bits[p]; }); }

    /* learn() asks the library about a key; compare() asks it about the key in a filter with these
     * members. */
    function learn(key) {
      if (known[key] && known[key].hash) return Promise.resolve(known[key]);
      return engine('demo').call('toy', { key: key }).then(function (found) { return (known[key] = found); });
    }
    function compare(key) {
      if (cleared) return;
      var expected = passes(key), with_ = members.slice();
      engine('demo').call('toyHas', { members: with_, key: key }).then(function (says) {
        if (says !== expected) console.error('toy: the library says ' + says + ' of ' + key);
      });
    }

    function draw(key, probing) {
      var cells = $('cells').children, places = key === null ? [] : known[key].places;
      for (var i = 0; i < 11; i++) {
        var by = setters(i), probed = places.indexOf(i) >= 0, cell = cells[i];
        cell.className = (bits[i] ? 'one' : 'zero') + (probed && (probing || bits[i]) ? bits[i] ? ' hit' : ' miss' : '');
        var state = bits[i] ? by.length ? plain('cell_set_by', { keys: list(by.map(word)) }) : text.cell_set : text.cell_clear;
        cell.setAttribute('aria-label', plain('cell', { bit: i, state: state }) + (probed ? (chinese ? '，' : ', ') + text.cell_probed : ''));
        cell.innerHTML = '<span aria-hidden="true">' + i + '<span class="owner">' + escape(by.map(word).join(' ')) + '</span></span>';
      }
      var count = bits.filter(Boolean).length;
      $('toy-members').innerHTML = count ? say('toy_members', {
        keys: members.length ? list(members.map(word)) : text.toy_nobody, set: count, rate: rate(count * count / 121)
      }) : say('toy_empty');
      $('toy-steps').hidden = key === null;
      if (key === null) return;
      var it = known[key];
      var lines = [say('step_bytes', { bytes: it.bytes })];
      if (it.hash) lines.push(say('step_hash', { hash: it.hash }));
      lines.push(say('step_places', { bits: list(it.places) }));
      unique(it.places).forEach(function (p) {
        var by = setters(p).filter(function (k) { return k !== key || !probing; });
        lines.push(bits[p] ? say('step_look_set', { bit: p, by: by.length ? plain('step_by', { keys: list(by.map(word)) }) : '' })
          : say('step_look_clear', { bit: p }));
      });
      $('toy-steps').querySelector('ol').innerHTML = lines.map(function (l) { return '<li>' + l + '</li>'; }).join('');
    }
    function current(verb, key) {
      steps.forEach(function (button, i) {
        if (script[i][0] === verb && script[i][1] === key) button.setAttribute('aria-current', 'step');
        else button.removeAttribute('aria-current');
      });
    }
    function tick(what) { document.querySelector('[data-todo=' + what + ']').classList.add('done'); }

    function check(key) {
      asked = key;
      var places = unique(known[key].places), clear = places.filter(function (p) { return !bits[p]; });
      var why = clear.length ? say(clear.length > 1 ? 'toy_absent_many' : 'toy_absent', { key: word(key), bits: list(clear) })
        : members.indexOf(key) >= 0 ? say('toy_present', { key: word(key) })
          : say('toy_false', { key: word(key) });
      if (key === 'c' && !clear.length && members.join() === 'a,b') why = say('toy_first');
      draw(key, true);
      verdict('toy-verdict', !clear.length, key, why);
      current('check', key);
      if (clear.length && clear.length < places.length) tick('half');
      if (places.length === 1) tick('twice');
      compare(key);
    }
    function add(key) {
      var places = unique(known[key].places), before = places.filter(function (p) { return bits[p]; });
      places.forEach(function (p) { bits[p] = true; });
      if (members.indexOf(key) < 0) members.push(key);
      var why = say(places.length === 1 ? 'toy_added_same' : before.length === places.length ? 'toy_added_none' : 'toy_added', { key: word(key), bits: list(places) });
      if (before.length && before.length < places.length) why += ' ' + say('toy_shared', { bits: list(before) });
      if (places.length === 1) tick('twice');
      asked = key;
      draw(key, false);
      current('add', key);
      verdict('toy-verdict', null, key, why);
      announce($('toy-verdict').textContent);
    }
    function undo() {
      if (!members.length) return reset();
      var key = members.pop(), lost;
      known[key].places.forEach(function (p) { bits[p] = false; });
      cleared = true;
      lost = members.filter(function (k) { return !passes(k); });
      draw(null);
      current();
      verdict('toy-verdict', null, key, say(lost.length ? 'toy_undone' : 'toy_undone_ok', { key: word(key), lost: list(lost.map(word)) }));
      if (lost.length) tick('undo');
      announce($('toy-verdict').textContent);
    }
    function reset() {
      members = [];
      refill();
      draw(null);
      current();
      verdict('toy-verdict', null, null, say('toy_empty'));
    }
    /* Runs the action immediately if the key is known, otherwise as soon as the engine has
     * answered. A later action replaces one that is waiting. */
    function act(run, key) {
      var mine = ++latest;
      if (known[key]) { run(key); if (known[key].hash) return; }
      learn(key).then(function () { if (mine === latest) run(key); }, noEngine);
    }

    steps.forEach(function (button, i) {
      button.addEventListener('click', function () {
        members = script.slice(0, Math.min(i, 2)).map(function (s) { return s[1]; });
        refill();
        act(script[i][0] === 'add' ? add : check, script[i][1]);
      });
    });
    $('tour').addEventListener('keydown', function (event) {
      var to = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = steps.indexOf(event.target);
      if (!to || at < 0) return;
      steps[(at + to + steps.length) % steps.length].focus();
      event.preventDefault();
    });
    var field = $('toy-key');
    function typed() { var key = field.value; field.select(); return key; }
    field.addEventListener('input', function (event) {
      if (event.isComposing) return;
      if (field.value === '') { latest++; return; }
      act(check, field.value);
    });
    field.addEventListener('compositionend', function () { act(check, field.value); });
    $('toy-form').addEventListener('submit', function (event) {
      event.preventDefault();
      act(add, typed());
    });
    $('toy-undo').addEventListener('click', function () { latest++; undo(); });
    $('toy-reset').addEventListener('click', function () { latest++; reset(); });
    field.addEventListener('keydown', function (event) {
      if (event.isComposing) return;
      if (event.key === 'Escape') field.value = '';
    });
    refill();
    draw('c', true);
    learn('c').then(function () { if (!latest) check('c'); }, noEngine);
    return {};
  })();

  var complained = false;
  function noEngine(error) {
    if (complained) return;
    complained = true;
    var note = element('p', 'wide notice error', say('no_engine', { why: error.message }));
    note.setAttribute('role', 'alert');
    $('main').prepend(note);
  }

  // ---- the large filter --------------------------------------------------------------------------

  (function () {
    var bits, lines, counts, predicted, chosen = 0, probes = [], key = $('look-key'), opened, latest = 0;
    var heat = $('heat'), line = $('line'), COLUMNS = 25;

    function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
    function isSet(l, i) { return bits[64 * l + (i >> 3)] >> (i & 7) & 1; }

    function open() {
      return opened || (opened = sample('urls').then(function (base64) {
        return engine('demo').call('openSample', { bytes: decode(base64) });
      }).then(function (it) {
        bits = it.bits; lines = bits.length / 64; predicted = it.rate;
        counts = [];
        for (var l = 0; l < lines; l++) {
          var n = 0;
          for (var i = 0; i < 64; i++) for (var b = bits[64 * l + i]; b; b &= b - 1) n++;
          counts.push(n);
        }
        $('hunt-predicted').textContent = rate(predicted).replace(/^[0-9.]+ %$/, (100 * predicted).toFixed(3) + ' %');
        return ask();
      }));
    }

    function sharp(canvas, width, height) {
      var scale = Math.min(3, window.devicePixelRatio || 1);
      if (canvas.width !== width * scale) { canvas.width = width * scale; canvas.height = height * scale; }
      var pen = canvas.getContext('2d');
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.clearRect(0, 0, width, height);
      return pen;
    }
    function drawHeat() {
      var pen = sharp(heat, 500, 460), tint = color('--heat');
      var low = Math.min.apply(null, counts), high = Math.max.apply(null, counts);
      for (var l = 0; l < lines; l++) {
        pen.fillStyle = 'rgba(' + tint + ',' + (0.06 + 0.86 * (counts[l] - low) / (high - low)) + ')';
        pen.fillRect(l % COLUMNS * 20 + 1, Math.floor(l / COLUMNS) * 20 + 1, 18, 18);
      }
      pen.strokeStyle = color('--ink');
      pen.lineWidth = 3;
      pen.strokeRect(chosen % COLUMNS * 20 + .5, Math.floor(chosen / COLUMNS) * 20 + .5, 19, 19);
    }
    function drawLine() {
      var pen = sharp(line, 640, 320), edge = color('--edge'), one = color('--one');
      for (var i = 0; i < 512; i++) {
        var x = i % 32 * 20, y = (i >> 5) * 20, probed = probes.indexOf(i) >= 0;
        if (isSet(chosen, i)) {
          pen.fillStyle = probed ? color('--accent') : one;
          pen.globalAlpha = probed || !probes.length ? 1 : .55;
          pen.fillRect(x + 3, y + 3, 14, 14);
          pen.globalAlpha = 1;
        } else {
          pen.strokeStyle = edge;
          pen.globalAlpha = .45;
          pen.lineWidth = 1;
          pen.strokeRect(x + 3.5, y + 3.5, 13, 13);
          pen.globalAlpha = 1;
        }
        if (!probed) continue;
        pen.strokeStyle = color(isSet(chosen, i) ? '--accent' : '--no');
        pen.lineWidth = 2.5;
        pen.strokeRect(x + 1.25, y + 1.25, 17.5, 17.5);
        if (isSet(chosen, i)) continue;
        pen.beginPath();
        pen.moveTo(x + 5, y + 5); pen.lineTo(x + 15, y + 15);
        pen.moveTo(x + 15, y + 5); pen.lineTo(x + 5, y + 15);
        pen.stroke();
      }
      var words = plain('line_caption', { line: chosen, set: counts[chosen] });
      $('line-caption').textContent = words;
      line.setAttribute('aria-label', words);
    }
    function draw() { drawHeat(); drawLine(); }
    function choose(l) {
      chosen = Math.max(0, Math.min(lines - 1, l));
      probes = [];
      draw();
      announce($('line-caption').textContent);
    }

    function ask() {
      var mine = ++latest, asked = key.value;
      return engine('demo').call('look', { key: asked }).then(function (found) {
        if (mine !== latest) return;
        var clear = found.at.filter(function (i) { return !isSet(found.line, i); }).length;
        if ((clear === 0) !== found.has) console.error('look: the library says ' + found.has + ' of ' + asked);
        chosen = found.line;
        probes = found.at;
        draw();
        verdict('look-verdict', found.has, null, say(clear ? 'look_absent' : 'look_present', { clear: clear, line: found.line }));
      });
    }
    key.addEventListener('input', function (event) { if (!event.isComposing) open().then(ask); });
    $('look-form').addEventListener('submit', function (event) { event.preventDefault(); open().then(ask); });
    heat.addEventListener('click', function (event) {
      if (!bits) return;
      var box = heat.getBoundingClientRect();
      choose(Math.floor((event.clientY - box.top) / box.height * 23) * COLUMNS + Math.floor((event.clientX - box.left) / box.width * COLUMNS));
    });
    heat.addEventListener('keydown', function (event) {
      var step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
      if (!step || !bits) return;
      event.preventDefault();
      choose(chosen + step);
    });
    addEventListener('theme', function () { if (bits) draw(); });
    onceNear($('see'), function () { open().catch(noEngine); });

    // ---- hunting ---------------------------------------------------------------------------------

    var FIRST = 'quiet amber brisk clever copper dusty early fading gentle hidden hollow icy jolly keen late lucky mellow misty narrow olive pale polite quick rapid rusty silent silver sleepy slow small snowy spare steady sunny swift tidy tiny velvet warm winter'.split(' ');
    var SECOND = 'otter badger beacon birch bridge canyon comet cricket delta ember falcon fern finch forge garden harbor heron island juniper kettle lantern lemon maple meadow mirror moss orchard otter pebble pepper pigeon planet quartz raven reef river saddle sparrow thistle walnut'.split(' ');
    var ENDS = ['org', 'net', 'io', 'dev', 'com'];
    var tries = 0, found = 0, serial = 0, running = false, target = 0;
    function candidate() {
      var i = serial++, n = FIRST.length * SECOND.length * ENDS.length, j = (i * 7919 + 3571) % n;
      return 'https://' + FIRST[j % FIRST.length] + '-' + SECOND[Math.floor(j / FIRST.length) % SECOND.length] +
        (i >= n ? Math.floor(i / n) : '') + '.' + ENDS[Math.floor(j / FIRST.length / SECOND.length)] + '/';
    }
    /* Wilson's 95 % interval. */
    function interval(hits, n) {
      var z = 1.96, p = hits / n, d = 1 + z * z / n, m = (p + z * z / 2 / n) / d;
      var r = z * Math.sqrt(p * (1 - p) / n + z * z / 4 / n / n) / d;
      return [Math.max(0, m - r), m + r];
    }
    function score() {
      $('hunt-tries').textContent = whole.format(tries);
      $('hunt-found').textContent = whole.format(found);
      if (!tries) return;
      var range = interval(found, tries), exact = function (p) { return (100 * p).toFixed(tries > 1e5 ? 3 : 2) + ' %'; };
      $('hunt-measured').textContent = plain('hunt_interval', { rate: exact(found / tries), low: exact(range[0]), high: exact(range[1]) });
    }
    function trophy(name) {
      return sample('links').then(function (base64) {
        return engine('demo').call('owners', { key: name, links: base64 });
      }).then(function (it) {
        if (it.member) { found--; tries--; score(); return; }
        var item = element('li', '', '<b>' + escape(name) + '</b>');
        var rows = element('ul');
        it.at.forEach(function (bit, i) {
          rows.append(element('li', '', say('hunt_bit', { bit: bit }) + ' ' + escape(it.owners[i])));
        });
        item.append(rows);
        $('trophies').prepend(item);
        while ($('trophies').children.length > 5) $('trophies').lastElementChild.remove();
        key.value = name;
        ask();
      });
    }
    function stop() {
      running = false;
      $('hunt-go').textContent = text.hunt_go;
      $('hunt-now').textContent = '';
    }
    function hunt() {
      if (!running) return;
      var names = [], batch = still.matches ? 100 : 3;
      while (names.length < batch) names.push(candidate());
      if (!still.matches) $('hunt-now').textContent = names[0];
      engine('demo').call('hasMany', { keys: names }).then(function (answers) {
        if (!running) return;
        var hits = names.filter(function (name, i) { return answers[i]; });
        tries += names.length;
        found += hits.length;
        score();
        return hits.reduce(function (before, name) { return before.then(function () { return trophy(name); }); }, Promise.resolve());
      }).then(function () {
        if (found >= target) { stop(); announce($('hunt-measured').textContent); } else setTimeout(hunt, still.matches ? 200 : 16);
      }, function (error) { stop(); noEngine(error); });
    }
    $('hunt-go').addEventListener('click', function () {
      if (running) return stop();
      running = true;
      target = found + 3;
      $('hunt-go').textContent = text.hunt_stop;
      open().then(hunt, noEngine);
    });
    $('hunt-million').addEventListener('click', function () {
      var button = $('hunt-million');
      button.disabled = true;
      open().then(function () {
        return engine('demo').call('million', { from: tries });
      }).then(function (hits) {
        tries += 1e6;
        found += hits;
        score();
        button.disabled = false;
        announce($('hunt-measured').textContent);
      }, noEngine);
    });
  })();

  // ---- the planner -------------------------------------------------------------------------------

  (function () {
    var charts = {}, latest = 0, now, language = 'shell';
    var keys = $('plan-keys'), p = $('plan-rate'), memory = $('plan-memory'), form = $('plan-form');
    var RATES = [.5, .2, .1, .05, .02, .01, .005, .002, .001, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6, 5e-7, 1e-7, 5e-8, 1e-8, 1e-9, 1e-10];
    function keysAt(i) { return [1, 2, 5][i % 3] * Math.pow(10, Math.floor(i / 3)); }
    function rateText(v) { return v >= 1e-4 ? +(100 * v).toPrecision(3) + '%' : '1:' + short(Math.round(1 / v)); }
    function nearest(values, v) {
      var best = 0;
      values.forEach(function (x, i) { if (Math.abs(Math.log(x / v)) < Math.abs(Math.log(values[best] / v))) best = i; });
      return best;
    }
    var KEYS = [];
    for (var i = 0; i <= 30; i++) KEYS.push(keysAt(i));
    var hashes = $('plan-hashes'), format = $('plan-format'), section = $('plan');
    function scheme() { return form.elements.scheme.value; }

    /* A field's value: 0 if it is empty, null if it is invalid. */
    function field(input, read) { return input.value.trim() ? read(input.value) : 0; }
    function readHashes(s) { return /^\s*[1-9][0-9]{0,3}\s*$/.test(s) ? +s : null; }

    /* The values of the fields, or null after showing an error. */
    function wish() {
      var w = { n: field(keys, readNumber), p: field(p, readRate), m: field(memory, readBytes), k: field(hashes, readHashes) };
      var others = [w.n, w.p, w.m].filter(Boolean).length;
      var wrong = w.n === null ? 'plan_bad_keys' : w.p === null ? 'plan_bad_rate' : w.m === null ? 'plan_bad_memory' : w.k === null ? 'plan_bad_hashes'
        : others < 2 ? 'plan_too_few' : others === 3 && w.k ? 'plan_too_many' : '';
      [[keys, 'keys'], [p, 'rate'], [memory, 'memory'], [hashes, 'hashes']].forEach(function (f) { f[0].setAttribute('aria-invalid', wrong === 'plan_bad_' + f[1]); });
      if (wrong) { refuse(text[wrong]); return null; }
      w.scheme = scheme() === 'other' ? 'classic' : scheme();
      w.format = scheme() === 'other' ? format.value : '';
      return w;
    }
    /* An error removes the numbers of an earlier plan. */
    function refuse(words) {
      now = null;
      $('plan-error').textContent = words;
      section.classList.toggle('wrong', !!words);
      if (words) [keys, p, memory, hashes].forEach(function (input) { input.placeholder = ''; });
    }
    function link(w) {
      var parts = [['n', keys], ['p', p], ['memory', memory], ['k', hashes]].filter(function (f) { return f[1].value.trim(); }).map(function (f) { return f[0] + '=' + encodeURIComponent(f[1].value.trim()); });
      if (w.format) parts.push('format=' + w.format); else if (w.scheme !== 'blocked') parts.push('scheme=' + w.scheme);
      return '#plan?' + parts.join('&');
    }
    function remember(w) {
      try { history.replaceState(null, '', link(w)); } catch (e) { /* some browsers, from file: */ }
      $('language').href = text.other_page + link(w);
    }
    function sliders(n, rate) {
      $('plan-keys-slider').value = nearest(KEYS, n);
      $('plan-keys-slider').setAttribute('aria-valuetext', short(n));
      $('plan-rate-slider').value = nearest(RATES, rate) + 1;
      $('plan-rate-slider').setAttribute('aria-valuetext', rateText(rate));
    }
    function update(keep) {
      var mine = ++latest, w = wish();
      section.setAttribute('aria-busy', w ? 'true' : 'false');
      if (!w) return;
      if (keep !== false) remember(w);
      engine('plan').call('plan', w).then(function (found) {
        if (mine !== latest) return;
        refuse('');
        now = { wish: w, found: found };
        show();
        section.setAttribute('aria-busy', 'false');
      }, function (error) {
        if (mine !== latest) return;
        section.setAttribute('aria-busy', 'false');
        if (error.name === 'NoPlan') return refuse(text[error.message]);
        if (error.name !== 'PetalError' && error.name !== 'RangeError') return noEngine(error);
        refuse(error.message);
      });
    }
    function at(share) { return now.found.load[Math.round(share * 20)].rate; }
    function show() {
      var f = now.found;
      var known = isFinite(f.rate); // other libraries' small filters have no model that is good enough
      sliders(f.keys, known ? f.rate : f.asked || .01);
      keys.placeholder = whole.format(f.keys);
      p.placeholder = rate(f.rate);
      memory.placeholder = bytes(f.bytes);
      hashes.placeholder = f.hashes;
      $('plan-size').textContent = bytes(f.bytes);
      $('plan-n').textContent = whole.format(f.keys);
      $('plan-bits').textContent = (f.bytes * 8 / f.keys).toPrecision(3);
      $('plan-k').textContent = f.hashes;
      $('plan-p').textContent = rate(f.rate);
      $('plan-says').innerHTML = known ? say('plan_says', { p125: rate(at(1.25)), p200: rate(at(2)) }) : text.plan_unknown;
      var rivals = [[text.bar_this, f.bytes], [text.bar_hashes, f.keys * 64 / 7], [text.bar_text, f.keys * 40]], most = Math.max(f.bytes, rivals[2][1]);
      $('plan-bars').innerHTML = rivals.map(function (r) {
        return '<li><span>' + r[0] + '</span><i></i><b>' + bytes(r[1]) + '</b></li>';
      }).join('');
      rivals.forEach(function (r, i) { $('plan-bars').children[i].children[1].style.width = Math.max(.4, 62 * r[1] / most) + '%'; });
      $('chart-load-says').innerHTML = legend([['a', text.series_this]].concat(f.classic ? [['b', text.series_classic]] : [])) +
        (known ? say('chart_load_says', { p50: rate(at(.5)), p100: rate(at(1)), p200: rate(at(2)), p300: rate(at(3)) }) : text.plan_unknown);
      var bitsAt = function (x) { return rate(f.buys.filter(function (b) { return b.bits === x; })[0][scheme() === 'blocked' ? 'blocked' : 'classic']); };
      $('chart-bits-says').innerHTML = legend([['a', text.series_blocked], ['b', text.series_classic_only]]) + say('chart_bits_says', { p8: bitsAt(8), p10: bitsAt(10), p16: bitsAt(16) });
      $('plan-table').innerHTML = '<thead><tr><th scope="col">' + text.table_load + '</th><th scope="col">' + text.table_rate + '</th>' + (f.classic ? '<th scope="col">' + text.table_classic + '</th>' : '') + '</tr></thead><tbody>' +
        f.load.filter(function (row, i) { return i % 5 === 0 && i; }).map(function (row) {
          return '<tr><td>' + Math.round(100 * row.load) + ' %</td><td>' + rate(row.rate) + '</td>' + (f.classic ? '<td>' + rate(row.classic) + '</td>' : '') + '</tr>';
        }).join('') + '</tbody>';
      $('chart-load').setAttribute('aria-label', text.chart_load + '. ' + $('chart-load-says').textContent);
      $('chart-bits').setAttribute('aria-label', text.chart_bits + '. ' + $('chart-bits-says').textContent);
      code();
      worth();
      draw();
    }
    function legend(entries) {
      return '<span class="lines">' + entries.map(function (e) { return '<span class="line-' + e[0] + '">' + e[1] + '</span>'; }).join(' ') + '</span> ';
    }

    // ---- curves --------------------------------------------------------------------------------

    function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
    function chart(id, data, xLabel, dot, xText) {
      var box = $(id);
      if (charts[id]) charts[id].destroy();
      var ink = css('--muted'), rule = css('--rule'), accent = css('--accent'), font = '12px ' + css('--sans');
      var decades = [];
      for (var d = 0; d <= 12; d++) decades.unshift(Math.pow(10, -d));
      var axis = { stroke: ink, font: font, labelFont: font, labelSize: 22, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 } };
      var lowest = Infinity;
      data.slice(1).forEach(function (s) { s.forEach(function (v) { if (v > 0) lowest = Math.min(lowest, v); }); });
      lowest = Math.max(lowest, 1e-12);
      charts[id] = new uPlot({
        width: box.clientWidth, height: box.clientHeight, legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x: { time: false }, y: { distr: 3, range: [Math.pow(10, Math.floor(Math.log10(lowest))), 1] } },
        axes: [
          Object.assign({ label: xLabel, size: 36, values: function (u, v) { return v.map(xText); } }, axis),
          Object.assign({
            size: 76, splits: function (u, i, low) { return decades.filter(function (v, i, all) { return v >= low * .99 && (i - all.length + 1) % (low < 1e-7 ? 2 : 1) === 0; }); },
            filter: function (u, v) { return v; }, values: function (u, v) { return v.map(rate); }
          }, axis)
        ],
        series: [{}, { stroke: accent, width: 2.5, points: { show: false } }, { stroke: ink, width: 1.5, dash: [5, 4], points: { show: false } }].slice(0, data.length),
        hooks: {
          draw: [function (u) {
            var pen = u.ctx, x = u.valToPos(dot[0], 'x', true), y = u.valToPos(dot[1], 'y', true), r = 5 * devicePixelRatio;
            pen.save();
            pen.beginPath();
            pen.arc(x, y, r, 0, 2 * Math.PI);
            pen.fillStyle = css('--bg');
            pen.fill();
            pen.setLineDash([]);
            pen.lineWidth = 2.5 * devicePixelRatio;
            pen.strokeStyle = css('--ink');
            pen.stroke();
            pen.restore();
          }],
          setCursor: [function (u) {
            var i = u.cursor.idx;
            box.title = i == null ? '' : xText(u.data[0][i]) + ': ' + rate(u.data[1][i]);
          }]
        }
      }, data, box);
    }
    function draw() {
      if (!now) return;
      var f = now.found, rows = f.load.filter(function (r) { return r.load >= .15 && r.rate > 0; });
      var series = [rows.map(function (r) { return r.load; }), rows.map(function (r) { return r.rate; })];
      if (f.classic) series.push(rows.map(function (r) { return r.classic > 0 ? r.classic : null; }));
      $('chart-load').hidden = rows.length < 2;
      if (rows.length > 1) chart('chart-load', series, text.chart_x_load, [1, f.rate], function (v) { return Math.round(100 * v) + ' %'; });
      chart('chart-bits', [f.buys.map(function (b) { return b.bits; }), f.buys.map(function (b) { return b.blocked; }), f.buys.map(function (b) { return b.classic; })],
        text.chart_x_bits, [f.bytes * 8 / f.keys / (scheme() === 'counting' ? 4 : 1), f.rate], String);
    }
    addEventListener('theme', draw);
    new ResizeObserver(function () {
      for (var id in charts) charts[id].setSize({ width: $(id).clientWidth, height: $(id).clientHeight });
    }).observe($('chart-load'));

    // ---- the code ------------------------------------------------------------------------------

    function code() {
      var w = now ? now.wish : { scheme: 'blocked' }, f = now ? now.found : { keys: 1e7, asked: .01 };
      var other = !w.format && w.scheme !== 'blocked', p = +(f.asked || .01).toPrecision(6), grouped = String(f.keys).replace(/\B(?=(\d{3})+$)/g, '_');
      var values = {
        n: f.keys, n_short: short(f.keys), n_grouped: grouped, p: p, p_short: rateText(p), memory: w.m, bits: f.bits, hashes: f.hashes,
        format: w.format, scheme: w.scheme, SCHEME: w.scheme.toUpperCase(), Scheme: w.scheme[0].toUpperCase() + w.scheme.slice(1)
      };
      // A line that starts with ?name: is shown only if that fact is true.
      var facts = { rate: !!f.asked, bits: !!f.exact, memory: !f.asked && !f.exact, scheme: other, format: !!w.format };
      var lines = text.code[language].split('\n').filter(function (l) {
        var m = /^\?(\w+):/.exec(l);
        return !m || facts[m[1]];
      }).map(function (l) { return l.replace(/^\?\w+:/, ''); });
      var all = lines.join('\n').replace(/\[\?(\w+):([^\]]*)\]/g, function (m, name, part) { return facts[name] ? part : ''; });
      $('code').textContent = all.replace(/\{(\w+)\}/g, function (m, name) { return name in values ? values[name] : m; });
    }
    var tabs = Array.prototype.slice.call($('tabs').children);
    function pick(tab, focus) {
      language = tab.dataset.language;
      tabs.forEach(function (t) { t.setAttribute('aria-selected', t === tab); t.tabIndex = t === tab ? 0 : -1; });
      $('code-panel').setAttribute('aria-labelledby', tab.id);
      if (focus) tab.focus();
      code();
    }
    tabs.forEach(function (tab) { tab.addEventListener('click', function () { pick(tab); }); });
    $('tabs').addEventListener('keydown', function (event) {
      var to = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (to) pick(tabs[(tabs.indexOf(document.activeElement) + to + tabs.length) % tabs.length], true);
    });
    function copy(words, button, label) {
      var area = element('textarea');
      area.value = words;
      document.body.append(area);
      area.select();
      document.execCommand('copy'); // works from file: too, where navigator.clipboard may not
      area.remove();
      button.textContent = text.copied;
      announce(text.copied);
      setTimeout(function () { button.textContent = label; }, 1500);
      button.focus();
    }
    $('copy').addEventListener('click', function () { copy($('code').textContent, $('copy'), text.copy); });
    $('plan-link').addEventListener('click', function () {
      var w = wish();
      if (w) copy(location.href.split('#')[0] + link(w), $('plan-link'), text.plan_copy_link);
    });

    function worth() {
      if (!now && $('plan').classList.contains('wrong')) return;
      var absent = $('worth-absent').value / 100, saved = absent * (1 - (now && isFinite(now.found.rate) ? now.found.rate : .01));
      $('worth-share').textContent = Math.round(100 * absent) + ' %';
      var gain = 1 / (1 - saved);
      $('worth-says').textContent = plain('worth_says', { saved: (100 * saved).toFixed(1).replace(/\.0$/, '') + ' %', gain: gain < 10 ? gain.toFixed(2).replace(/\.?0+$/, '') : whole.format(gain) });
    }
    $('worth-absent').addEventListener('input', worth);

    // ---- the fields ----------------------------------------------------------------------------

    [keys, p, memory, hashes].forEach(function (input) { input.addEventListener('input', function () { update(); }); });
    format.addEventListener('change', function () { form.elements.scheme.value = 'other'; });
    form.addEventListener('change', function () { update(); });
    form.addEventListener('submit', function (event) { event.preventDefault(); });
    $('plan-keys-slider').addEventListener('input', function () { keys.value = short(KEYS[this.value]); update(); });
    $('plan-rate-slider').addEventListener('input', function () { p.value = rateText(RATES[this.value - 1]); update(); });

    function fromAddress() {
      var m = /^#plan\?(.*)/.exec(location.hash);
      if (!m) return false;
      var from = new URLSearchParams(m[1]);
      keys.value = from.get('n') || '';
      p.value = from.get('p') || '';
      memory.value = from.get('memory') || '';
      hashes.value = from.get('k') || '';
      form.elements.scheme.value = from.get('format') ? 'other' : /^(classic|counting)$/.test(from.get('scheme')) ? from.get('scheme') : 'blocked';
      if (from.get('format')) format.value = from.get('format');
      update(false);
      $('plan').scrollIntoView();
      return true;
    }
    addEventListener('hashchange', fromAddress);
    code();
    if (!fromAddress()) onceNear($('plan'), function () { if (!now) update(false); });
  })();

  // ---- files -------------------------------------------------------------------------------------

  (function () {
    var running = null, held = null;

    function fact(name, value) { return '<div><dt>' + text['fact_' + name] + '</dt><dd>' + value + '</dd></div>'; }
    function facts(i) {
      var rows = [
        fact('format', escape(i.format)), fact('scheme', say('fact_scheme_value', { scheme: i.scheme, k: i.hashes })), fact('hash', escape(i.hash)),
        fact('size', say('fact_size_value', { bytes: bytes(i.bytes), bits: whole.format(i.bits) }))
      ];
      var estimate = i.estimate ? say('fact_keys_estimate', { estimate: whole.format(i.estimate) }) : '';
      rows.push(fact('keys', i.capacity ? say(i.estimate && i.items > 1.02 * i.estimate ? 'fact_keys_repeats' : 'fact_keys_value', { items: whole.format(i.items), capacity: whole.format(i.capacity) }) + (estimate ? '<br><span class="muted">' + estimate + '</span>' : '') : estimate || text.unknown));
      rows.push(fact('fill', (100 * i.fill).toFixed(1) + ' %'), fact('rate', rate(i.rate)));
      if (i.asked) rows.push(fact('asked', rate(i.asked)));
      if (i.layers > 1) rows.push(fact('layers', i.layers));
      if (i.keyType && i.keyType !== 'none') rows.push(fact('key_type', escape(i.keyType)));
      if (i.content) rows.push(fact('content', '<code>' + escape(i.content) + '</code>'));
      return rows.join('');
    }
    function quote(name) { return /^[\w.,+-]+$/.test(name) ? name : "'" + name.replace(/'/g, "'\\''") + "'"; }

    function cli(line) { $('result-cli').textContent = line; }
    function panel(title, words) {
      $('busy').hidden = true;
      $('result').hidden = false;
      $('result-title').textContent = title;
      $('result-says').textContent = words;
      $('result-pick').hidden = true;
      $('result-pick').textContent = '';
      $('result-strip').hidden = true;
      $('result-facts').textContent = '';
      $('result-more').hidden = true;
      $('result').focus({ preventScroll: true });
      $('result').scrollIntoView({ block: 'nearest' });
      announce(title + '. ' + words);
    }
    function failed(file, error) {
      held = null;
      if (/secret/.test(error.code)) return panel(file.name, plain('needs_secret', { cli: 'petal check --secret-file SECRET ' + quote(file.name) }));
      if (/^(out of memory|over a limit)$/.test(error.code) || error.name === 'RangeError') panel(file.name, plain('too_large', { name: file.name, cli: 'petal info ' + quote(file.name) }) + ' (' + error.message + ')');
      else panel(file.name, error.message);
      if (error.offset == null || !(error.offset <= file.size)) return;
      var place = 100 * error.offset / file.size, strip = $('result-strip');
      strip.hidden = false;
      strip.innerHTML = '<i></i><span></span>';
      strip.firstChild.style.left = 'calc(' + place + '% - 1px)';
      strip.lastChild.textContent = text.damaged_block;
      strip.lastChild.style[place < 70 ? 'left' : 'right'] = (place < 70 ? place : 100 - place) + '%';
    }
    function opened(file, it) {
      held = it;
      if (it.formats) {
        panel(file.name, it.unknown ? text.pick_unknown : text.pick);
        $('result-pick').hidden = false;
        it.formats.forEach(function (name) {
          var button = element('button', '', escape(name));
          button.type = 'button';
          button.addEventListener('click', function () { start(file, name); });
          $('result-pick').append(button);
        });
        return;
      }
      if (it.empty) return panel(file.name, plain('empty_list', { name: file.name }));
      if (it.built) {
        panel(plain('result_built', { name: file.name }), plain('built_says', { lines: whole.format(it.lines), keys: whole.format(it.distinct), text: bytes(file.size), size: bytes(it.size) }));
        cli((it.gzip ? 'gzip -dc ' + quote(file.name) + ' | ' : '') + (it.utf16 ? 'iconv -f UTF-16 -t UTF-8 ' + (it.gzip ? '' : quote(file.name) + ' ') + '| ' : '') + 'petal build -o ' + quote(file.name + '.petal') + (it.info.scheme === 'static' ? ' --scheme static' : ' -n ' + it.info.capacity) +
          ' -p ' + $('use-rate').value + (it.crlf ? ' --crlf' : '') + (it.gzip || it.utf16 ? '' : ' ' + quote(file.name)));
      } else {
        panel(plain('result_opened', { name: file.name, format: it.info.format }), text.opened_says);
        if (it.gzip && it.info.format !== 'dcso') cli('gzip -d ' + quote(file.name));
        else if (it.info.format === 'petal') cli('petal info ' + quote(file.name));
        else cli('petal convert ' + quote(file.name) + ' ' + quote(file.name + '.petal') + ' --from ' + it.info.format + (it.gzip ? '-gzip' : ''));
      }
      $('result-facts').innerHTML = facts(it.info);
      $('result-more').hidden = false;
      $('ask-type').value = typeOf(it.info);
      $('ask-key').value = file.suggest || '';
      $('download').textContent = text.download + ' (' + bytes(it.size) + ')';
      ask();
    }

    /* The key type that the file records, or else what the library of its format usually hashes. */
    function typeOf(info) {
      if (info.keyType === 'base64') return 'hex';
      return info.keyType !== 'none' ? info.keyType : info.format === 'orc-long' ? 'i64' : 'text';
    }

    function start(file, format) {
      if (running) running.cancel();
      $('busy').hidden = false;
      $('busy-says').textContent = text.loading_engine;
      $('busy-bar').value = 0;
      var began = performance.now();
      var call = running = engine('files').call('open', { file: file, name: file.name, format: format || null, rate: +$('use-rate').value, isStatic: $('use-static').checked }, function (at) {
        var seconds = (performance.now() - began) / 1000;
        var values = { done: bytes(at.bytes), total: bytes(at.total), keys: compact.format(at.keys || 0), rate: compact.format(Math.round((at.keys || 0) / seconds)) };
        $('busy-says').textContent = plain(at.counting ? 'busy_count' : at.keys ? 'busy_keys' : 'busy_reading', values);
        $('busy-bar').value = at.share;
      });
      call.then(function (it) { if (call === running) opened(file, it); }, function (error) {
        if (call !== running) return;
        if (error.name === 'AbortError') { $('busy').hidden = true; announce(text.cancelled); return; }
        failed(file, error);
      }).then(function () { if (call === running) running = null; });
    }
    $('cancel').addEventListener('click', function () {
      if (running) running.cancel();
      $('busy-says').textContent = text.cancelled;
    });

    $('open').addEventListener('click', function () { $('file').click(); });
    $('file').addEventListener('change', function () {
      if (this.files[0]) start(this.files[0]);
      this.value = '';
    });
    var use = $('use'), drop = $('drop');
    ['dragenter', 'dragover'].forEach(function (type) {
      use.addEventListener(type, function (event) { event.preventDefault(); drop.classList.add('over'); });
    });
    use.addEventListener('dragleave', function (event) { if (!use.contains(event.relatedTarget)) drop.classList.remove('over'); });
    use.addEventListener('drop', function (event) {
      event.preventDefault();
      drop.classList.remove('over');
      if (event.dataTransfer.files[0]) start(event.dataTransfer.files[0]);
    });
    addEventListener('dragover', function (event) { event.preventDefault(); });
    addEventListener('drop', function (event) { event.preventDefault(); });

    Array.prototype.forEach.call(document.querySelectorAll('.sample'), function (button) {
      button.addEventListener('click', function () {
        var which = button.dataset.sample;
        if (which === 'list') {
          return sample('links').then(function (base64) {
            return new Response(new Blob([decode(base64)]).stream().pipeThrough(new DecompressionStream('gzip'))).blob();
          }).then(function (blob) { start(new File([blob], 'links.txt')); }, noEngine);
        }
        sample('files').then(function (all) {
          var file = new File([decode(all[which].base64)], all[which].name);
          file.suggest = all[which].suggest;
          start(file);
        }, noEngine);
      });
    });

    var latest = 0;
    function ask() {
      var mine = ++latest, key = $('ask-key').value;
      if (!held || !held.info) return;
      if (key === '') return verdict('ask-verdict', null, null);
      engine('files').call('ask', { key: key, type: $('ask-type').value }).then(function (found) {
        if (mine !== latest) return;
        var others = list(found.others.map(function (type) { return text['type_' + type]; }));
        verdict('ask-verdict', found.has, null, others && say('ask_others', { types: others }));
      }, function (error) {
        if (mine !== latest) return;
        verdict('ask-verdict', null, null);
        $('ask-verdict').querySelector('.answer').textContent = error.name === 'BadKey' ? text.ask_bad : error.message;
      });
    }
    $('ask-key').addEventListener('input', function (event) { if (!event.isComposing) ask(); });
    $('ask-type').addEventListener('change', ask);
    $('ask-form').addEventListener('submit', function (event) { event.preventDefault(); ask(); });

    $('download').addEventListener('click', function () {
      engine('files').call('bytes', {}).then(function (all) {
        var url = URL.createObjectURL(new Blob([all], { type: 'application/octet-stream' }));
        var anchor = element('a');
        anchor.href = url;
        anchor.download = held.name.replace(/\.petal$/, '') + '.petal';
        document.body.append(anchor);
        anchor.click();
        anchor.remove();
        setTimeout(function () { URL.revokeObjectURL(url); }, 60000);
      }, noEngine);
    });
  })();

  // ---- asking as one types, and a crawl ----------------------------------------------------------

  (function () {
    var field = $('real-key'), asked = 0, latest = 0, opened, big = false;
    function open() {
      return opened || (opened = sample('urls').then(function (base64) {
        return engine('real').call('openSample', { bytes: decode(base64) });
      }));
    }
    function ask() {
      var mine = ++latest, key = field.value;
      if (key === '') {
        verdict('real-verdict', null, null);
        $('real-verdict').querySelector('.answer').textContent = text.real_idle;
        return;
      }
      open().then(function () { return engine('real').call('timed', { key: key }); }).then(function (found) {
        asked++;
        if (mine !== latest) return;
        verdict('real-verdict', found.has, null);
        $('real-stats').textContent = plain('real_stats', { n: whole.format(asked), us: found.us.toPrecision(2) });
      }, noEngine);
    }
    field.addEventListener('input', function (event) { if (!event.isComposing) ask(); });
    field.addEventListener('focus', function () { open().catch(noEngine); }, { once: true });
    $('real-form').addEventListener('submit', function (event) { event.preventDefault(); ask(); });
    $('real-big').addEventListener('click', function () {
      $('real-big').disabled = true;
      opened = engine('real').call('big', { keys: 1e7 }, function (at) {
        $('real-big-says').textContent = plain('real_big_says', { keys: whole.format(at.keys) });
      }).then(function (it) {
        big = true;
        $('real-big-says').textContent = plain('real_big_done', { size: bytes(it.size) });
        $('real-label').textContent = text.real_label_big;
        field.placeholder = text.real_placeholder_big;
        field.value = text.real_placeholder_big;
        announce($('real-big-says').textContent);
        ask();
      });
      opened.catch(noEngine);
    });

    var playing = false, ended = false, loaded;
    function load() {
      return loaded || (loaded = sample('links').then(function (base64) { return engine('crawl').call('crawlStart', { links: base64 }); }));
    }
    function step(n) {
      return load().then(function () { return engine('crawl').call('crawl', { links: n }); }).then(function (at) {
        $('crawl-bar').value = at.read / at.total;
        ['read', 'fetched', 'skipped', 'wrong'].forEach(function (name) { $('crawl-' + name).textContent = whole.format(at[name]); });
        $('crawl-log').innerHTML = at.log.map(function (row) {
          return '<li class="' + row.what + '"><b>' + text['crawl_log_' + row.what] + '</b> ' + escape(row.link) + '</li>';
        }).join('');
        ended = at.read === at.total;
        if (ended) pause();
      });
    }
    function pause() {
      playing = false;
      $('crawl-play').textContent = ended ? text.crawl_again : text.crawl_play;
      if (ended) announce(['read', 'fetched', 'skipped', 'wrong'].map(function (name) { return text['crawl_' + name] + ' ' + $('crawl-' + name).textContent; }).join(', '));
    }
    function go() {
      if (!playing) return;
      var perSecond = +$('crawl-speed').value, wait = perSecond < 100 ? 1000 / perSecond : 50;
      step(Math.max(1, Math.round(perSecond * wait / 1000))).then(function () { if (playing) setTimeout(go, wait); }, function (e) { pause(); noEngine(e); });
    }
    $('crawl-play').addEventListener('click', function () {
      if (playing) return pause();
      if (ended) { ended = false; loaded = null; }
      playing = true;
      $('crawl-play').textContent = text.crawl_pause;
      go();
    });
    $('crawl-step').addEventListener('click', function () {
      pause();
      if (ended) { ended = false; loaded = null; }
      step(1).catch(noEngine);
    });
  })();

  // ---- without a network -------------------------------------------------------------------------

  if (navigator.serviceWorker && /^http/.test(location.protocol)) addEventListener('load', function () {
    navigator.serviceWorker.register(text.root + 'sw.js').catch(function () { /* the page works without */ });
  });

  // ---- the bar -----------------------------------------------------------------------------------

  var links = Array.prototype.slice.call(document.querySelectorAll('.bar nav a'));
  var spy = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting) return;
      links.forEach(function (a) {
        if (a.hash === '#' + entry.target.id) a.setAttribute('aria-current', 'true');
        else a.removeAttribute('aria-current');
      });
    });
  }, { rootMargin: '-30% 0px -60%' });
  links.forEach(function (a) { var target = document.querySelector(a.hash); if (target) spy.observe(target); });
})();
