// sw.js - a service worker that answers requests for has?key=... itself, so that the page works
// offline. During installation, the worker caches the filter and the script.
importScripts('petal/petal-native.js');

const CACHE = 'petal-offline-1';
const FILES = ['index.html', 'petal/petal-native.js', 'words.petal'];

let loading = null;

// The browser stops an idle service worker. When the worker is started again, it reloads the
// filter.
const filter = () => {
    loading ??= caches
        .match('words.petal')
        .then((response) => petal.Filter.load(response))
        .catch((error) => {
            loading = null;
            throw error;
        });
    return loading;
};

const answer = async (key) => {
    const body = { key, answer: (await filter()).has(key) ? 'probably' : 'certainly not' };
    return Response.json(body);
};

self.addEventListener('install', (event) => {
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
    self.skipWaiting();
});

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
    const url = new URL(event.request.url);
    if (url.pathname.endsWith('/has')) event.respondWith(answer(url.searchParams.get('key') ?? ''));
    else
        event.respondWith(caches.match(event.request).then((kept) => kept ?? fetch(event.request)));
});
