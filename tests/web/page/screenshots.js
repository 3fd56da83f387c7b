/* screenshots.js PAGE OUT - takes the screenshots of the page that the documents show. */
'use strict';
const path = require('path');
const { serve, launch, open } = require('./harness.js');

async function shot(browser, base, name, options, run, clip) {
    const page = await open(browser, base + (options.page || 'index.html'), options);
    await page.waitForFunction(() => document.querySelector('#toy-steps').textContent.length > 60);
    await run(page);
    await page.waitForTimeout(400);
    await page.screenshot({ path: path.join(process.argv[3], `page-${name}.png`), clip });
    await page.context().close();
}
async function to(page, id, wait) {
    await page.evaluate((id) => document.getElementById(id).scrollIntoView(), id);
    await page.waitForFunction(wait);
}

(async () => {
    const { server, base } = await serve(path.resolve(process.argv[2])), browser = await launch();
    await shot(browser, base, 'see', { viewport: { width: 1120, height: 940 } }, async () => {});
    await shot(browser, base, 'plan-dark', { viewport: { width: 1120, height: 1240 }, colorScheme: 'dark' }, (page) =>
        to(page, 'plan', () => document.querySelectorAll('.uplot').length === 2));
    await shot(browser, base, 'hunt', { viewport: { width: 1120, height: 860 } }, async (page) => {
        await to(page, 'see', () => document.querySelector('#look-verdict .says').dataset.says);
    });
    await shot(browser, base, 'phone-zh', { viewport: { width: 390, height: 844 }, page: 'zh/index.html' }, async () => {});
    await browser.close();
    server.close();
})();
