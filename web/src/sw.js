/* sw.js - makes the page work without a network: it caches the files on the first visit, and uses
 * them if they can't be fetched. With a network connection, every file comes from the server, so
 * the page is never stale. Each build has its own version, so this script changes with every build:
 * the browser installs the new one, and its files replace the old ones. */
'use strict';
const CACHE = 'petal {{version}}', FILES = {{files}};
const addressOf = (name) => new URL(name, self.registration.scope).href;
const KEPT = new Set(FILES.map(addressOf));

self.addEventListener('install', (event) => {
    const fresh = FILES.map((name) => new Request(addressOf(name), { cache: 'no-cache' }));
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)).then(() => self.skipWaiting()));
});

/* Other pages on this host have caches too. */
self.addEventListener('activate', (event) => {
    const drop = (names) => Promise.all(names.filter((name) => /^petal /.test(name) && name !== CACHE).map((name) => caches.delete(name)));
    event.waitUntil(caches.keys().then(drop).then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
    const url = new URL(event.request.url);
    url.hash = url.search = '';
    if (url.pathname.endsWith('/')) url.pathname += 'index.html';
    if (event.request.method !== 'GET' || !KEPT.has(url.href)) return;
    event.respondWith(fetch(event.request).catch((error) => caches.open(CACHE).then((cache) => cache.match(url.href)).then((kept) => {
        if (!kept) throw error;
        return kept;
    })));
});
