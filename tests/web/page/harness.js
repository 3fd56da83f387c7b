/* harness.js - helpers that the tests of the page share: TAP, a static server, Chromium, and a page
 * that records all error messages and requests. */
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { chromium } = require('playwright-core');

const PATIENCE = 240000; // in ms; a limit for events that never happen, not a measure of speed

let count = 0, failed = 0;
const only = new RegExp(process.argv[3] || '');
async function ok(what, run) {
    if (!only.test(what)) return;
    count++;
    try {
        const said = await run();
        console.log(`ok ${count} - ${what}`);
        if (typeof said === 'string') console.log(`# ${said}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${what}`);
        console.log(String(error.stack || error).split('\n').slice(0, 12).map((line) => `# ${line}`).join('\n'));
    }
}
function equal(found, expected, what = '') {
    if (found !== expected) throw new Error(`${what} expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}
function truth(value, what) {
    if (!value) throw new Error(what);
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };
function serve(folder) {
    const server = http.createServer((request, response) => {
        const file = path.join(folder, decodeURIComponent(new URL(request.url, 'http://x').pathname));
        fs.readFile(fs.existsSync(file) && fs.statSync(file).isDirectory() ? path.join(file, 'index.html') : file, (error, content) => {
            response.writeHead(error ? 404 : 200, { 'content-type': TYPES[path.extname(file)] || 'text/html; charset=utf-8' });
            response.end(content);
        });
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, base: `http://127.0.0.1:${server.address().port}/` })));
}

function launch() {
    return chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync'],
    });
}

/* Opens a page in its own context. `page.complaints` and `page.requests` collect messages and
 * requests while it runs. */
async function open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.complaints = [];
    page.requests = [];
    page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) page.complaints.push(m.text()); });
    page.on('pageerror', (error) => page.complaints.push(String(error)));
    page.on('request', (request) => page.requests.push(request.url()));
    await page.goto(url);
    return page;
}
/* Closes the page, and checks that it has reported no errors and loaded nothing from other
 * servers. */
async function close(page, base) {
    const elsewhere = page.requests.filter((url) => !url.startsWith(base) && !/^(blob|data):/.test(url));
    await page.context().close();
    equal(page.complaints.join('\n'), '', 'complaints:');
    equal(elsewhere.join('\n'), '', 'requests:');
}

async function says(page, id, answer) {
    await page.waitForFunction(([id, answer]) => {
        const line = document.querySelector(`#${id} .says`);
        return line && (line.dataset.says || '') === answer;
    }, [id, answer]).catch(async () => {
        throw new Error(`${id}: expected ${answer}, found ${await page.locator(`#${id}`).innerText()}`);
    });
}
const text = (page, selector) => page.locator(selector).innerText();

module.exports = { ok, equal, truth, serve, launch, open, close, says, text, done: () => { process.exitCode = failed ? 1 : 0; } };
