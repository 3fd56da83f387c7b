/* run.js FOLDER [PATTERN] - opens the page in FOLDER (web/build) in Chromium, from a server and
 * from file:, in English and Chinese, uses it as a reader would, and compares its results with the
 * tool's. Runs the tests whose names match PATTERN, and prints TAP. */
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { pathToFileURL } = require('url');
const { execFileSync } = require('child_process');
const { ok, equal, truth, serve, launch, open, close, says, text, done } = require('./harness.js');

const folder = path.resolve(process.argv[2]);
const top = path.resolve(__dirname, '../../..');
const temp = fs.mkdtempSync(path.join(process.env.TMPDIR || '/tmp', 'page-'));
const axeSource = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const petal = (...args) => execFileSync('petal', args, { cwd: temp, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
const shell = (line) => execFileSync('sh', ['-c', line], { cwd: temp, encoding: 'utf8', maxBuffer: 1 << 28 });
const LINKS = zlib.gunzipSync(fs.readFileSync(path.join(top, 'examples/data/urls.txt.gz')));
fs.writeFileSync(path.join(temp, 'links.txt'), LINKS);
const MEMBER = 'https://www.kernel.org/', ABSENT = 'https://www.kernel.org/no-such-page';

async function result(page) {
    await page.waitForFunction(() => !document.getElementById('result').hidden && document.getElementById('busy').hidden);
}
async function give(page, file) {
    await page.evaluate(() => { document.getElementById('result').hidden = true; });
    await page.setInputFiles('#file', file);
    await result(page);
}
async function askFor(page, key, type, expected) {
    await page.selectOption('#ask-type', type);
    await page.fill('#ask-key', key);
    await says(page, 'ask-verdict', expected);
}

/* Fills every part of the page. */
async function populate(page) {
    await page.locator('#see').scrollIntoViewIfNeeded();
    await page.fill('#look-key', MEMBER);
    await says(page, 'look-verdict', 'maybe');
    await page.click('#hunt-go');
    await page.waitForFunction(() => document.querySelectorAll('#trophies > li').length >= 3);
    await page.locator('#plan').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelectorAll('.uplot').length === 2);
    await page.click('[data-sample=list]');
    await result(page);
    await page.fill('#ask-key', MEMBER);
    await says(page, 'ask-verdict', 'maybe');
    await page.fill('#real-key', ABSENT);
    await says(page, 'real-verdict', 'no');
    await unfold(page);
    await page.click('#crawl-step');
    await page.waitForFunction(() => document.querySelectorAll('#crawl-log li').length > 0);
}
const unfold = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));

async function seeing(browser, at) {
    await ok('the five steps: two words go in, c passes wrongly, g and d do not', async () => {
        const page = await open(browser, at('index.html'));
        await says(page, 'toy-verdict', 'maybe');
        await page.waitForFunction(() => document.querySelector('#toy-steps').textContent.includes('c5de835d6602347d'));
        const expected = { a: '', b: '', c: 'maybe', g: 'no', d: 'no' };
        for (const [key, answer] of Object.entries(expected)) {
            await page.click(`#tour [data-key=${key}]`);
            await says(page, 'toy-verdict', answer);
        }
        await page.fill('#toy-key', '你好');
        await page.waitForFunction(() => /e4 bd a0 e5 a5 bd/.test(document.querySelector('#toy-steps').textContent));
        await close(page, at(''));
    });
    await ok('the eleven bits answer with every letter, and nothing is added by typing', async () => {
        const page = await open(browser, at('index.html'));
        await page.waitForFunction(() => document.querySelector('#toy-steps').textContent.includes('c5de835d6602347d'));
        await page.focus('#toy-key');
        for (const typed of ['p', 'pe', 'pet']) {
            await page.keyboard.type(typed.slice(-1));
            await page.waitForFunction((typed) => document.querySelector('#toy-verdict .word').textContent === typed, typed);
        }
        truth(!/pe/.test(await text(page, '#toy-members')), await text(page, '#toy-members'));
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => /pet/.test(document.getElementById('toy-members').textContent));
        await close(page, at(''));
    });
    await ok('the three puzzles have solutions', async () => {
        const page = await open(browser, at('index.html'));
        await page.waitForFunction(() => document.querySelector('#toy-steps').textContent.includes('c5de835d6602347d'));
        for (const key of ['g', 'e']) {
            await page.fill('#toy-key', key);
            await page.waitForFunction((key) => document.querySelector('#toy-verdict .word').textContent === key, key);
        }
        await page.click('#toy-undo');
        await page.waitForFunction(() => document.querySelectorAll('#todo .done').length === 3);
        await page.click('#toy-reset');
        equal(await page.locator('#cells .one').count(), 0);
        await close(page, at(''));
    });
    await ok('of a to z in the eleven bits, those pass that the tool says', async () => {
        petal('create', '-o', 'tiny.petal', '--scheme', 'classic', '--bits', '11', '--hashes', '2', '--seed', '197072');
        shell("printf 'a\\nb\\n' | petal add tiny.petal");
        const page = await open(browser, at('index.html')), letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
        fs.writeFileSync(path.join(temp, 'letters'), letters.join('\n') + '\n');
        const pass = petal('check', 'tiny.petal', 'letters').trim().split('\n');
        for (const key of letters) {
            await page.fill('#toy-key', key);
            await page.waitForFunction((key) => document.querySelector('#toy-verdict .word').textContent === key && document.querySelector('#toy-steps').textContent.length > 60, key);
            await says(page, 'toy-verdict', pass.includes(key) ? 'maybe' : 'no');
        }
        await close(page, at(''));
    });
    await ok('a million made-up addresses: as many pass as the tool says', async () => {
        shell('sort -u links.txt > urls.txt && petal build --force -p 1% -o urls.petal urls.txt');
        fs.writeFileSync(path.join(temp, 'million'), Array.from({ length: 1e6 }, (_, i) => `https://absent.example/${i}\n`).join(''));
        const expected = shell('petal check -c urls.petal million').trim();
        const page = await open(browser, at('index.html#see'));
        await page.click('#hunt-million');
        await page.waitForFunction(() => document.getElementById('hunt-tries').textContent === '1,000,000');
        equal((await text(page, '#hunt-found')).replace(/,/g, ''), expected);
        await close(page, at(''));
    });
    await ok('a hunt finds impostors, and says who set each of their bits', async () => {
        const page = await open(browser, at('index.html#see'));
        await page.click('#hunt-go');
        await page.waitForFunction(() => document.querySelectorAll('#trophies > li').length >= 3);
        const names = await page.locator('#trophies > li > b').allInnerTexts(), list = new Set(LINKS.toString().split('\n'));
        for (const name of names) {
            truth(!list.has(name), `${name} is on the list`);
            petal('check', 'urls.petal', '-e', name); // exits with 1 if the key is absent
        }
        const owners = await page.locator('#trophies ul li').allInnerTexts();
        equal(owners.length, 6 * names.length);
        for (const line of owners) truth(list.has(line.replace(/^.* set by /, '')), line);
        await close(page, at(''));
    });
    await ok('the lines: a click or an arrow key chooses one', async () => {
        const page = await open(browser, at('index.html#see'));
        await says(page, 'look-verdict', 'maybe');
        truth((await text(page, '#line-caption')).startsWith('Line 530:'), await text(page, '#line-caption'));
        await page.focus('#heat');
        await page.keyboard.press('ArrowUp');
        truth((await text(page, '#line-caption')).startsWith('Line 505:'), await text(page, '#line-caption'));
        await page.fill('#look-key', ABSENT);
        await says(page, 'look-verdict', 'no');
        await close(page, at(''));
    });
}

async function planning(browser, at) {
    await ok('plans are those of the tool', async () => {
        const page = await open(browser, at('index.html#plan'));
        for (const [n, p, scheme] of [['10M', '1%', 'blocked'], ['100M', '0.1%', 'classic'], ['58240', '5%', 'counting'], ['1G', '0.01%', 'blocked']]) {
            await page.check(`[name=scheme][value=${scheme}]`);
            await page.fill('#plan-keys', n);
            await page.fill('#plan-rate', p);
            const row = petal('plan', '-n', n, '-p', p, '--scheme', scheme).split('\n').find((l) => l.startsWith(scheme)).trim().split(/ {2,}/);
            await page.waitForFunction((size) => document.getElementById('plan-size').textContent === size, row[1]).catch(async () => {
                throw new Error(`${scheme} ${n} ${p}: the tool has ${row[1]}, the page ${await text(page, '#plan-size')}`);
            });
            equal(await text(page, '#plan-bits'), row[2]);
            equal(await text(page, '#plan-k'), row[3]);
            equal(await text(page, '#plan-p'), row[4]);
        }
        await close(page, at(''));
    });
    await ok('a plan is an address, in either language', async () => {
        const page = await open(browser, at('index.html#plan?n=5M&p=0.1%25&scheme=classic'));
        equal(await page.inputValue('#plan-keys'), '5M');
        equal(await page.inputValue('#plan-rate'), '0.1%');
        truth(await page.isChecked('[value=classic]'), 'scheme');
        await page.fill('#plan-keys', '7M');
        await page.waitForFunction(() => location.hash === '#plan?n=7M&p=0.1%25&scheme=classic');
        await page.click('#language');
        await page.waitForFunction(() => document.documentElement.lang === 'zh-Hans' && document.getElementById('plan-keys')?.value === '7M');
        await page.fill('#plan-rate', '');
        await page.fill('#plan-memory', '64MiB');
        await page.waitForFunction(() => location.hash === '#plan?n=7M&memory=64MiB&scheme=classic');
        await page.waitForFunction(() => document.getElementById('plan-size').textContent === '64.00 MiB');
        await close(page, at(''));
    });
    const fields = { n: '#plan-keys', p: '#plan-rate', m: '#plan-memory', k: '#plan-hashes' };
    await ok('any three of keys, rate, memory and hashes give the fourth, and any two of the first three a plan', async () => {
        const { Filter } = await import(pathToFileURL(path.join(process.env.PETAL_JS, 'petal.mjs'))), page = await open(browser, at('index.html#plan'));
        let plans = 0;
        for (const [kind, options, k] of [['blocked', { scheme: 'blocked' }, 6], ['classic', { scheme: 'classic' }, 7], ['counting', { scheme: 'counting' }, 5],
            ['guava', { format: 'guava' }, 7], ['cassandra', { format: 'cassandra' }, 5], ['bloomfilter', { format: 'bloomfilter' }, 4]]) {
            if (options.format) await page.selectOption('#plan-format', kind); else await page.check(`[name=scheme][value=${kind}]`);
            const given = { n: '1M', p: '1%', m: kind === 'counting' ? '8MiB' : '2MiB', k: String(k) }, bytes = kind === 'counting' ? 8388608 : 2097152;
            for (const names of ['np', 'nm', 'pm', 'nmk', 'pmk', 'npk', 'npm']) {
                for (const name of 'npmk') await page.fill(fields[name], '');
                for (const name of names) await page.fill(fields[name], given[name]);
                const shown = async () => page.evaluate(() => ['plan-n', 'plan-size', 'plan-k', 'plan-p'].map((id) => document.getElementById(id).innerText).join(' | '));
                await page.waitForFunction(() => document.getElementById('plan').getAttribute('aria-busy') === 'false' && document.querySelectorAll('#plan-form input:placeholder-shown').length && [...document.querySelectorAll('#plan-form input[spellcheck]')].every((i) => i.placeholder), null, { timeout: 20000 })
                    .catch(async () => { throw new Error(`${kind} ${names}: ${await text(page, '#plan-error')}`); });
                const [n, size, hashes, rate] = (await shown()).split(' | '), keys = +n.replace(/,/g, '');
                const [number, unit] = size.split(' '), most = number * { bytes: 1, KiB: 1024, MiB: 1048576 }[unit], percent = rate.replace(' %', '') / 100;
                const where = `${kind}, ${names}: ${n} | ${size} | ${hashes} | ${rate}`;
                if (names.includes('n')) equal(keys, 1e6, where); else truth(keys > 1e5, where);
                if (names.includes('k')) equal(hashes, given.k, where);
                if (names.includes('p')) truth(percent <= 0.0101, where);
                if (names.includes('m')) truth(most <= bytes * 1.001 && most > bytes * 0.9, where);
                if (names === 'npm' || options.format) { plans++; continue; }
                const it = await Filter.plan({ ...options, bits: Math.round(most * 8 / (kind === 'counting' ? 4 : 1) / 512) * 512, hashes: +hashes, capacity: keys });
                truth(Math.abs(it.predictedRate / percent - 1) < 0.06, `${where}: the library says ${it.predictedRate}`);
                plans++;
            }
        }
        await close(page, at(''));
        return `${plans} plans`;
    });
    await ok('beside an error nothing of another plan is seen, nor told to a reader of the screen', async () => {
        const page = await open(browser, at('index.html#plan'));
        const seen = () => page.evaluate(() => ['.answer-card', '.charts', '.numbers', '.code', '.worth'].map((part) => document.querySelector(`#plan ${part}`).innerText.trim()).join('') +
            [...document.querySelectorAll('#plan-form input')].map((input) => input.placeholder).join(''));
        const good = async () => {
            for (const [name, value] of Object.entries({ n: '10M', p: '1%', m: '', k: '' })) await page.fill(fields[name], value);
            await page.check('[name=scheme][value=blocked]');
            await page.waitForFunction(() => document.getElementById('plan-size').innerText === '11.84 MiB' && document.querySelectorAll('.uplot').length === 2);
            equal(await text(page, '#plan-error'), '');
            equal(await page.getAttribute('#plan-memory', 'placeholder'), '11.84 MiB');
        };
        for (const [wrong, words] of [[{ n: 'many' }, '10M'], [{ n: '' }, 'two of'], [{ p: '2' }, 'between'], [{ m: '64MiB', k: '7' }, 'leave one empty'], [{ m: '1KiB', p: '', k: '5000' }, 'hashes'],
            [{ p: '1:1e30' }, ''], [{ m: '1KiB' }, 'No number'], [{ k: 'x' }, 'whole number'], [{ p: '', m: 'big' }, 'size'], [{ n: '', p: '1:1e12', m: '1KiB', k: '1' }, 'Not even'], [{ format: 'parquet', k: '5' }, '8 hashes']]) {
            await good();
            if (wrong.format) await page.selectOption('#plan-format', wrong.format);
            for (const name of 'npmk') if (name in wrong) await page.fill(fields[name], wrong[name]);
            await page.waitForFunction(() => document.getElementById('plan').getAttribute('aria-busy') === 'false' && document.getElementById('plan-error').textContent !== '');
            truth((await text(page, '#plan-error')).includes(words), `${JSON.stringify(wrong)}: ${await text(page, '#plan-error')}`);
            equal(await seen(), '', JSON.stringify(wrong));
        }
        await good();
        await page.fill('#plan-keys', 'many');
        equal(await page.getAttribute('#plan-keys', 'aria-invalid'), 'true');
        await close(page, at(''));
    });
    await ok('sliders and text boxes go together', async () => {
        const page = await open(browser, at('index.html#plan'));
        await page.focus('#plan-keys-slider');
        await page.keyboard.press('ArrowRight');
        equal(await page.inputValue('#plan-keys'), '20M');
        await page.focus('#plan-rate-slider');
        await page.keyboard.press('ArrowRight');
        equal(await page.inputValue('#plan-rate'), '0.5%');
        await close(page, at(''));
    });
    await ok('the code in the shell, C and JavaScript makes the same filter', async () => {
        for (const wish of ['n=300k&p=0.1%25', 'n=300k&memory=512KiB&scheme=classic', 'n=300k&memory=512KiB&k=5', 'p=1%25&memory=512KiB', 'n=300k&p=0.1%25&format=guava']) {
            const page = await open(browser, at(`index.html#plan?${wish}`)), code = {};
            await page.waitForFunction(() => document.getElementById('plan-size').textContent !== '–').catch(async () => { throw new Error(`${wish}: ${await text(page, '#plan-error')}`); });
            for (const tab of ['shell', 'c', 'javascript']) {
                await page.click(`#tab-${tab}`);
                code[tab] = await text(page, '#code');
            }
            // For another library's filter, the shell commands write that library's file. The
            // programs in other languages write a petal file.
            const asGuava = () => { petal('convert', '--force', '--to', 'guava', 'keys.petal', 'keys.bin'); return fs.readFileSync(path.join(temp, 'keys.bin'), 'hex'); };
            const info = () => /guava/.test(wish) ? asGuava() : petal('info', '--json', 'keys.petal').replace(/"(file|key_type)":"[^"]*",|"key_type":null,/g, '');
            fs.writeFileSync(path.join(temp, 'keys.txt'), 'key\n');
            fs.writeFileSync(path.join(temp, 'new.txt'), 'key\nother\n');
            fs.rmSync(path.join(temp, 'keys.petal'), { force: true });
            equal(shell(code.shell).trim(), 'key');
            const expected = info();
            fs.writeFileSync(path.join(temp, 'keys.c'), code.c);
            const library = path.join(process.env.PETAL_BUILD_DIR, 'lib');
            shell(`cc -I${top}/include keys.c -L${library} -lpetal -Wl,-rpath,${library} -lm -o keys`);
            equal(shell('./keys').trim(), 'certainly not');
            equal(info(), expected, 'C:');
            fs.writeFileSync(path.join(temp, 'keys.mjs'), `${code.javascript}\n(await import('node:fs')).writeFileSync('keys.petal', file);\n`
                .replace("'petal-bloom'", JSON.stringify(pathToFileURL(path.join(process.env.PETAL_JS, 'petal.mjs')))));
            equal(shell('node keys.mjs').trim(), 'certainly not');
            equal(info(), expected, 'JavaScript:');
            await close(page, at(''));
        }
    });
}

/* Returns the CPU time in ms of the longest task on the page's own thread. */
function longestTask(events) {
    const main = new Set(events.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`));
    const tasks = events.filter((e) => e.ph === 'X' && /RunTask/.test(e.name) && main.has(`${e.pid} ${e.tid}`) && e.tdur !== undefined);
    truth(tasks.length > 100, `${tasks.length} tasks in the trace`);
    return Math.max(...tasks.map((e) => e.tdur)) / 1000;
}

async function using(browser, at) {
    await ok('a list of a set that never changes becomes the static file that the tool makes', async () => {
        const page = await open(browser, at('index.html#use'));
        await page.check('#use-static');
        await give(page, path.join(temp, 'links.txt'));
        truth((await text(page, '#result-says')).includes('29,619 distinct'), await text(page, '#result-says'));
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
        await download.saveAs(path.join(temp, 'downloaded.petal'));
        const cli = await text(page, '#result-cli');
        truth(cli.includes('--scheme static'), cli);
        shell(cli.replace('petal build', 'petal build --force'));
        truth(fs.readFileSync(path.join(temp, 'downloaded.petal')).equals(fs.readFileSync(path.join(temp, 'links.txt.petal'))), 'the files differ');
        await askFor(page, MEMBER, 'text', 'maybe');
        await askFor(page, ABSENT, 'text', 'no');
        fs.unlinkSync(path.join(temp, 'links.txt.petal'));
        await close(page, at(''));
    });
    await ok('a list becomes the file that the tool makes; downloaded, it opens again', async () => {
        const page = await open(browser, at('index.html#use'));
        await give(page, path.join(temp, 'links.txt'));
        truth((await text(page, '#result-says')).includes('29,619 distinct'), await text(page, '#result-says'));
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
        equal(download.suggestedFilename(), 'links.txt.petal');
        await download.saveAs(path.join(temp, 'downloaded.petal'));
        shell(await text(page, '#result-cli'));
        truth(fs.readFileSync(path.join(temp, 'downloaded.petal')).equals(fs.readFileSync(path.join(temp, 'links.txt.petal'))), 'the files differ');
        await give(page, path.join(temp, 'downloaded.petal'));
        truth((await text(page, '#result-title')).includes('petal'), 'not opened');
        await askFor(page, MEMBER, 'text', 'maybe');
        await askFor(page, ABSENT, 'text', 'no');
        await close(page, at(''));
    });
    await ok('lines that end in CR LF, empty lines, no last newline, gzip: as the tool does', async () => {
        const page = await open(browser, at('index.html#use'));
        for (const [name, content] of [['packed.txt.gz', zlib.gzipSync('one\ntwo\n')], ['dos.txt', 'one\r\ntwo\r\n\r\nthree'], ['unix.txt', 'one\n\ntwo\r\nthree\nthree\n'], ['one.txt', 'single']]) {
            fs.writeFileSync(path.join(temp, name), content);
            await give(page, path.join(temp, name));
            const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
            await download.saveAs(path.join(temp, 'downloaded.petal'));
            shell(await text(page, '#result-cli'));
            truth(fs.readFileSync(path.join(temp, 'downloaded.petal')).equals(fs.readFileSync(path.join(temp, `${name}.petal`))), `${name}: the files differ`);
        }
        await close(page, at(''));
    });
    await ok('a filter of each format is opened, and answers', async () => {
        const page = await open(browser, at('index.html#use')), files = new Map();
        for (const place of fs.readdirSync(path.join(top, 'vectors'))) {
            const file = path.join(top, 'vectors', place, 'vectors.txt');
            if (!fs.existsSync(file)) continue;
            let format, name;
            for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
                const [verb, value] = line.split(' ');
                if (verb === 'format') format = value;
                if (verb === 'file') name = path.join(top, 'vectors', place, value);
                if (!name || !format || !/^(file|in|out)$/.test(verb)) continue;
                const it = files.get(format) || { name };
                if (it.name !== name && it.in && it.out) continue;
                if (it.name !== name) Object.assign(it, { name, in: '', out: '' });
                if (/^([0-9a-f]{2})+$/.test(value) && !it[verb]) it[verb] = value;
                files.set(format, it);
            }
        }
        const all = petal('formats').trim().split('\n').slice(1).map((l) => l.split(' ')[0]).filter((n) => n !== 'petal');
        equal(all.filter((n) => !files.has(n)).join(), '', 'no vector of:');
        for (const format of all) {
            const it = files.get(format);
            await give(page, it.name);
            if (await page.isVisible('#result-pick')) {
                await page.evaluate(() => { document.getElementById('result').hidden = true; });
                await page.evaluate((format) => [...document.querySelectorAll('#result-pick button')].find((b) => b.textContent === format).click(), format);
                await result(page);
            }
            truth(await page.isVisible('#result-facts'), `${format}: ${await text(page, '#result-says')}`);
            if (it.in) await askFor(page, it.in, 'hex', 'maybe');
            if (it.out) await askFor(page, it.out, 'hex', 'no');
        }
        await close(page, at(''));
        return `${all.length} formats besides petal`;
    });
    await ok('the golden static files are opened, and answer', async () => {
        const page = await open(browser, at('index.html#use')), folder = path.join(top, 'vectors/static');
        const files = [];
        for (const line of fs.readFileSync(path.join(folder, 'vectors.txt'), 'utf8').split('\n')) {
            const [verb, ...words] = line.split(' ');
            if (verb === 'file') files.push({ name: words[0] });
            if (!files.length || !/^(in|out)s?$/.test(verb)) continue;
            const kind = verb.replace('s', ''), it = files[files.length - 1];
            it[kind] = it[kind] || (verb === kind ? [words[0], 'hex'] : [words[0] + words[1], 'text']);
        }
        for (const it of files) {
            await give(page, path.join(folder, it.name));
            truth(await page.isVisible('#result-facts'), `${it.name}: ${await text(page, '#result-says')}`);
            if (it.in) await askFor(page, ...it.in, 'maybe');
            if (it.out) await askFor(page, ...it.out, 'no');
        }
        truth(files.length >= 7 && files.filter((it) => it.in).length >= 6, 'too few files');
        await give(page, path.join(folder, 'texts-keyed.petal'));
        truth(/secret/i.test(await text(page, '#result-says')), await text(page, '#result-says'));
        await close(page, at(''));
        return `${files.length} files`;
    });
    await ok('damaged, truncated, keyed, empty: said in the words of the library, with the place', async () => {
        const page = await open(browser, at('index.html#use'));
        await page.click('[data-sample=damaged]');
        await result(page);
        truth(/byte/.test(await text(page, '#result-says')), await text(page, '#result-says'));
        truth(await page.isVisible('#result-strip'), 'no picture of the place');
        truth(!await page.isVisible('#ask-key'), 'a damaged filter can be asked');
        fs.writeFileSync(path.join(temp, 'cut.petal'), fs.readFileSync(path.join(temp, 'urls.petal')).subarray(0, 20000));
        for (const [file, words] of [[path.join(temp, 'cut.petal'), /truncated|promises/], [path.join(top, 'vectors/petal/blocked-keyed.petal'), /secret/i],
            [path.join(top, 'vectors/reject/version-2.petal'), /newer|version/]]) {
            await give(page, file);
            truth(words.test(await text(page, '#result-says')), `${file}: ${await text(page, '#result-says')}`);
        }
        fs.writeFileSync(path.join(temp, 'empty.txt'), '');
        await give(page, path.join(temp, 'empty.txt'));
        truth(/no keys/.test(await text(page, '#result-says')), await text(page, '#result-says'));
        await close(page, at(''));
    });
    await ok('integers are asked as integers, and what is none is said', async () => {
        fs.writeFileSync(path.join(temp, 'numbers'), '1\n-7\n42\n');
        petal('build', '--force', '--key-type', 'i64', '-o', 'numbers.petal', 'numbers');
        const page = await open(browser, at('index.html#use'));
        await give(page, path.join(temp, 'numbers.petal'));
        equal(await page.inputValue('#ask-type'), 'i64');
        await askFor(page, '-7', 'i64', 'maybe');
        await askFor(page, '43', 'i64', 'no');
        await page.fill('#ask-key', 'seven');
        await page.waitForFunction(() => /type/.test(document.querySelector('#ask-verdict').textContent));
        await close(page, at(''));
    });
    await ok('filters of other libraries are asked with keys of the type that was put in', async () => {
        const page = await open(browser, at('index.html#use'));
        const vector = async (name, format) => {
            await give(page, path.join(top, 'vectors', name));
            if (await page.isVisible('#result-pick')) {
                await page.evaluate((format) => { document.getElementById('result').hidden = true; [...document.querySelectorAll('#result-pick button')].find((b) => b.textContent === format).click(); }, format);
                await result(page);
            }
        };
        for (const [name, format, first, type, member, absent] of [
            ['guava/int_n100_p0.01_mitz64.bin', 'guava', 'text', 'i32', '-2', '12345678'], ['guava/unencoded_n100_p0.01_mitz64.bin', 'guava', 'text', 'utf16le', 'key-0', 'no such key'],
            ['guava/long_n100_p0.01_mitz64.bin', 'guava', 'text', 'i64', '-1', '123456789'], ['parquet/duckdb_f32_50values.sbbf', 'parquet', 'text', 'f32', '0.25', '1234.5'],
            ['orc/cpp_i64.bin', 'orc-long', 'i64', 'i64', null, null], ['guava/utf8_n100_p0.01_mitz64.bin', 'guava', 'text', 'text', 'key-0', 'no such key']]) {
            await vector(name, format);
            equal(await page.inputValue('#ask-type'), first, name);
            if (member === null) continue;
            await askFor(page, member, type, 'maybe');
            await askFor(page, absent, type, 'no');
            if (type === 'text') continue;
            // The answer comes with a remark that keys of another type are accepted.
            await askFor(page, member, 'text', 'no');
            const label = await page.locator(`#ask-type option[value=${type}]`).innerText();
            truth((await text(page, '#ask-verdict')).includes(label), `${name}: ${await text(page, '#ask-verdict')}`);
        }
        await close(page, at(''));
    });
    await ok('lists in UTF-16, and a byte order mark before UTF-8, make the filter of the same list', async () => {
        const page = await open(browser, at('index.html#use')), words = 'eins\nzwei\ndrei 日本\n';
        fs.writeFileSync(path.join(temp, 'plain.txt'), words);
        petal('build', '--force', '-p', '0.01', '-o', 'plain.petal', 'plain.txt');
        const little = Buffer.from('\ufeff' + words, 'utf16le'), big = Buffer.from(little).swap16();
        for (const [name, content] of [['le.txt', little], ['be.txt', big], ['le.txt.gz', zlib.gzipSync(little)], ['marked.txt', Buffer.from('\ufeff' + words)]]) {
            fs.writeFileSync(path.join(temp, name), content);
            await give(page, path.join(temp, name));
            truth((await text(page, '#result-says')).includes('3 distinct'), await text(page, '#result-says'));
            const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
            await download.saveAs(path.join(temp, 'downloaded.petal'));
            const got = fs.readFileSync(path.join(temp, 'downloaded.petal'));
            truth(got.equals(fs.readFileSync(path.join(temp, 'plain.petal'))), `${name}: not the filter of the words`);
            if (name === 'marked.txt') continue;
            shell(await text(page, '#result-cli'));
            truth(got.equals(fs.readFileSync(path.join(temp, `${name}.petal`))), `${name}: the command makes another file`);
        }
        await close(page, at(''));
    });
    await ok('100 MB load with progress, cancelling keeps what was there; the longest task is measured', async () => {
        const page = await open(browser, at('index.html#use'));
        await page.click('[data-sample=guava]');
        await result(page);
        await page.evaluate(() => {
            window.tasks = [];
            new PerformanceObserver((found) => found.getEntries().forEach((e) => window.tasks.push(e.duration))).observe({ type: 'longtask' });
        });
        await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
        const line = 'https://example.org/a-rather-long-path/with/several/parts/';
        let lines = 0;
        const out = fs.openSync(path.join(temp, 'big.txt'), 'w');
        for (let part = 0; part < 16; part++) {
            let all = '';
            for (let i = 0; i < 100000; i++) all += `${line}${lines++}\n`;
            fs.writeSync(out, all);
        }
        fs.closeSync(out);
        // Clicks inside the page: on a busy machine, a click from outside may come too late.
        await page.evaluate(() => {
            const words = document.getElementById('busy-says');
            new MutationObserver((changes, observer) => {
                if (window.cancelled || !/ lines/.test(words.textContent)) return;
                observer.disconnect();
                window.cancelled = true;
                document.getElementById('cancel').click();
            }).observe(words, { childList: true, characterData: true, subtree: true });
        });
        await page.setInputFiles('#file', path.join(temp, 'big.txt'));
        await page.waitForFunction(() => window.cancelled && document.getElementById('busy').hidden);
        truth((await text(page, '#result-title')).includes('users.bin'), 'the result of before is gone');
        await askFor(page, 'user42', 'text', 'maybe');
        await give(page, path.join(temp, 'big.txt'));
        truth((await text(page, '#result-says')).includes('1,600,000 distinct'), await text(page, '#result-says'));
        await askFor(page, `${line}1234567`, 'text', 'maybe');
        petal('create', '-o', 'big.petal', '--bits', String(8e8 - 8e8 % 512), '--hashes', '6');
        shell('petal add big.petal < links.txt');
        await give(page, path.join(temp, 'big.petal'));
        await askFor(page, MEMBER, 'text', 'maybe');
        const longest = longestTask(JSON.parse(await browser.stopTracing()).traceEvents);
        const tasks = await page.evaluate(() => window.tasks), size = fs.statSync(path.join(temp, 'big.txt')).size;
        await close(page, at(''));
        return `longest task while ${(size / 1e6).toFixed(0)} MB of list and 100 MB of filter load: ` +
            `${longest.toFixed(1)} ms of CPU time; by the clock, ` + (tasks.length ? `${Math.max(...tasks).toFixed(0)} ms` : 'none above 50 ms');
    });
}

async function offline(browser) {
    await ok('switched off, the page reloads and works; with a network it is never an old one', async () => {
        const copy = path.join(temp, 'site'), { server, base } = await serve(temp), at = (name) => `${base}site/${name}`;
        fs.cpSync(folder, copy, { recursive: true });
        const page = await open(browser, at('index.html')), context = page.context();
        await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
        const works = async () => {
            await says(page, 'toy-verdict', 'maybe');
            await page.locator('#see').scrollIntoViewIfNeeded();
            await page.fill('#look-key', MEMBER);
            await says(page, 'look-verdict', 'maybe');
            await give(page, path.join(temp, 'links.txt'));
            truth((await text(page, '#result-title')).includes('links.txt'), await text(page, '#result-title'));
        };
        await context.setOffline(true);
        for (const name of ['index.html', 'zh/index.html', '', 'index.html#plan?n=1M&p=1%25']) {
            await page.goto(at(name));
            await page.reload();
            await works();
        }
        await page.goto(at('index.html'));
        await context.setOffline(false);

        // The page uses a new build immediately, and then keeps it for offline use.
        const change = (name, from, to) => fs.writeFileSync(path.join(copy, name), fs.readFileSync(path.join(copy, name), 'utf8').replace(from, to));
        change('index.html', '<title>', '<title>New ');
        change('sw.js', /petal [0-9a-f]{16}/, 'petal 0123456789abcdef');
        await page.reload();
        truth((await page.title()).startsWith('New '), 'an old page');
        await page.evaluate(async () => {
            while ((await caches.keys()).join() !== 'petal 0123456789abcdef') await new Promise((resolve) => setTimeout(resolve, 50));
        });
        await context.setOffline(true);
        await page.reload();
        truth((await page.title()).startsWith('New '), 'an old page is kept');
        await works();
        page.complaints = page.complaints.filter((words) => !/ERR_INTERNET_DISCONNECTED/.test(words));
        await close(page, base);
        server.close();
    });
}

async function card(browser, at) {
    await ok('a link to the page has a card: title, words and a picture', async () => {
        for (const name of ['index.html', 'zh/index.html']) {
            const page = await open(browser, at(name));
            const meta = (property) => page.getAttribute(`meta[property="og:${property}"]`, 'content');
            truth((await meta('title')).length > 10 && (await meta('description')).length > 10 && (await meta('image:alt')).length > 5, name);
            const size = await page.evaluate(async (src) => {
                const image = new Image();
                image.src = src;
                await image.decode();
                return `${image.naturalWidth} x ${image.naturalHeight}`;
            }, await meta('image'));
            equal(size, '1200 x 630', name);
            await close(page, at(''));
        }
        const bytes = fs.statSync(path.join(folder, 'card.png')).size;
        truth(bytes < 32768, `${bytes} bytes`);
        return `${bytes} bytes of picture`;
    });
}

async function asking(browser, at) {
    await ok('a list is asked as one types; ten million keys are made in the tab', async () => {
        const page = await open(browser, at('index.html#real'));
        await page.fill('#real-key', MEMBER);
        await says(page, 'real-verdict', 'maybe');
        await page.keyboard.press('End');
        await page.keyboard.type('?x');
        await says(page, 'real-verdict', 'no');
        await page.click('#real-big');
        await page.waitForFunction(() => document.getElementById('real-key').value === 'user1234567');
        await says(page, 'real-verdict', 'maybe');
        const found = [];
        for (const key of ['user10000000', 'user10000001', 'nobody']) {
            const asked = await text(page, '#real-stats');
            await page.fill('#real-key', key);
            await page.waitForFunction((n) => parseInt(document.getElementById('real-stats').textContent.replace(/\D+/, '')) > n, parseInt(asked.replace(/\D+/, '')));
            found.push(await page.evaluate(() => document.querySelector('#real-verdict .says').dataset.says));
        }
        equal(found[0], 'maybe');
        truth(found.includes('no'), 'every name passes');
        await close(page, at(''));
    });
    await ok('the crawl fetches what `petal seen` passes on', async () => {
        const expected = shell('petal seen -n 30k -p 1% < links.txt | wc -l').trim();
        const page = await open(browser, at('index.html#real'));
        await unfold(page);
        await page.selectOption('#crawl-speed', '1000000');
        await page.click('#crawl-play');
        await page.waitForFunction(() => document.getElementById('crawl-read').textContent === '58,240');
        const [fetched, skipped, wrong] = await Promise.all(['fetched', 'skipped', 'wrong'].map(async (n) => +(await text(page, `#crawl-${n}`)).replace(/,/g, '')));
        equal(String(fetched), expected);
        equal(fetched + skipped, 58240);
        equal(fetched + wrong, 29619);
        await close(page, at(''));
    });
}

async function everybody(browser, at) {
    await ok('by keyboard alone: skip, type, add, tabs, lines', async () => {
        const page = await open(browser, at('index.html'));
        await page.keyboard.press('Tab');
        equal(await page.evaluate(() => document.activeElement.className), 'skip');
        await page.keyboard.press('Enter');
        const seen = new Set();
        for (let i = 0; i < 90; i++) {
            await page.keyboard.press('Tab');
            const id = await page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim().slice(0, 20));
            seen.add(id);
            if (id === 'toy-key' && !seen.has('typed')) {
                seen.add('typed');
                await page.keyboard.type('h');
                await page.keyboard.press('Enter');
                await page.waitForFunction(() => /\bh\b/.test(document.getElementById('toy-members').textContent));
                await page.keyboard.type('h');
                await says(page, 'toy-verdict', 'maybe');
            }
            if (id === 'tab-shell') {
                await page.keyboard.press('ArrowRight');
                equal(await page.evaluate(() => document.activeElement.id), 'tab-c');
                truth((await text(page, '#code')).includes('petal.h'), 'C is not shown');
                await unfold(page);
            }
        }
        for (const id of ['look-key', 'heat', 'hunt-go', 'hunt-million', 'plan-keys', 'plan-keys-slider', 'plan-rate', 'plan-memory', 'plan-hashes', 'plan-format', 'copy', 'worth-absent', 'open', 'use-rate', 'use-static', 'real-key', 'real-big', 'crawl-play', 'crawl-speed'])
            truth(seen.has(id), `the Tab key never comes to ${id}`);
        await close(page, at(''));
    });
    for (const language of ['index.html', 'zh/index.html']) for (const width of [320, 390]) {
        await ok(`${language} on a phone ${width} wide: nothing stands out, buttons are large enough`, async () => {
            const page = await open(browser, at(language), { viewport: { width, height: 700 }, hasTouch: true, isMobile: true });
            await populate(page);
            const wide = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((n) => {
                const box = n.getBoundingClientRect();
                return box.width && box.right > innerWidth + 1 && !n.closest('pre, .scroll, [role=tablist], .log, .trophies ul li, canvas, .uplot, nav, .hidden');
            }).map((n) => `${n.tagName} ${n.id} ${n.className}`));
            equal(wide.join('\n'), '');
            truth(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
            const small = await page.evaluate(() => [...document.querySelectorAll('main button')].filter((b) => b.offsetParent && b.getBoundingClientRect().height < 35).map((b) => b.textContent));
            equal(small.join(), '');
            await close(page, at(''));
        });
    }
    for (const language of ['index.html', 'zh/index.html']) for (const colorScheme of ['light', 'dark']) {
        await ok(`axe finds nothing serious in ${language}, ${colorScheme}, every section filled`, async () => {
            const page = await open(browser, at(language), { colorScheme });
            await populate(page);
            await axe(page);
            await close(page, at(''));
        });
    }
    await ok('axe finds nothing serious in the documents, light and dark', async () => {
        for (const colorScheme of ['light', 'dark']) for (const name of ['docs/primer.html', 'docs/choosing.html', 'docs/formats/index.html', 'docs/python.html']) {
            const page = await open(browser, at(name), { colorScheme });
            await axe(page);
            await close(page, at(''));
        }
    });
    await ok('light or dark is remembered, and without motion nothing moves', async () => {
        const page = await open(browser, at('index.html'), { colorScheme: 'dark', reducedMotion: 'reduce' });
        const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
        equal(await theme(), 'dark');
        await page.click('#theme');
        equal(await theme(), 'light');
        await page.reload();
        equal(await theme(), 'light');
        const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((n) => ['', '::before'].some((p) => {
            const style = getComputedStyle(n, p || null);
            return style.transitionDuration.split(',').some((d) => parseFloat(d) > 0) && style.transitionProperty !== 'none' || style.animationName !== 'none';
        })).length);
        equal(moving, 0);
        await page.click('#hunt-go');
        await page.waitForFunction(() => document.querySelectorAll('#trophies > li').length >= 3);
        equal(await text(page, '#hunt-now'), '');
        await close(page, at(''));
    });
    await ok('without scripts, the first picture and its answer are there', async () => {
        const page = await open(browser, at('index.html'), { javaScriptEnabled: false });
        equal(await page.locator('#cells .one').count(), 3);
        truth((await text(page, '#toy-verdict')).includes('probably'), 'no answer');
        await close(page, at(''));
    });
}

async function axe(page) {
    // The page's own policy forbids the script tag.
    await page.addScriptTag({ content: axeSource }).catch(() => page.evaluate(axeSource));
    page.complaints = page.complaints.filter((c) => !/Content.Security.Policy|inline script/i.test(c));
    const found = await page.evaluate(() => axe.run());
    truth(found.passes.some((rule) => rule.id === 'color-contrast' && rule.nodes.length > 20), 'axe looked at nothing');
    const bad = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
    equal(bad.map((v) => `${v.id}: ${v.nodes.slice(0, 4).map((n) => `${n.target} ${n.failureSummary}`).join('; ')}`).join('\n'), '', 'axe:');
}

async function sizes() {
    await ok('the page is at most 180 KiB, as a server with gzip sends it', async () => {
        let raw = 0, packed = 0;
        for (const name of ['index.html', 'page.css', 'theme.js', 'page.js', 'chart.js', 'engine.js']) {
            const content = fs.readFileSync(path.join(folder, name));
            raw += content.length;
            packed += zlib.gzipSync(content, { level: 9 }).length;
        }
        truth(packed <= 180 * 1024, `${packed} bytes`);
        return `${packed} bytes as gzip -9, ${raw} unpacked; without samples and documents`;
    });
}

(async () => {
    const { server, base } = await serve(folder), browser = await launch();
    const served = (name) => base + name, local = (name) => pathToFileURL(folder).href + '/' + name;
    try {
        await sizes();
        await seeing(browser, served);
        await planning(browser, served);
        await using(browser, served);
        await asking(browser, served);
        await offline(browser);
        await card(browser, served);
        await everybody(browser, served);
        for (const language of ['index.html', 'zh/index.html'])
            await ok(`${language} from file: every section works`, async () => {
                const page = await open(browser, local(language));
                await populate(page);
                await page.click('#toy-add');
                await close(page, 'file://');
            });
    } finally {
        await browser.close();
        server.close();
        fs.rmSync(temp, { recursive: true, force: true });
    }
    done();
})();
