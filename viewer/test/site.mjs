/* The site builds, its links lead somewhere, its pages load without a complaint and set their equations. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileUrl, launch, openPage, viewer, work } from './browser.mjs';

const site = join(work, 'site');
const done = spawnSync(process.execPath, [join(viewer, 'site.mjs'), site], { encoding: 'utf8' });
console.log(done.stdout.trim());
assert.equal(done.status, 0, done.stderr);

const browser = await launch();
for (const [path, selector, least] of [['index.html', '.card', 20], ['theory/stepping.html', '.katex-display', 40], ['results.html', '.uplot', 5], ['manual/run.html', 'main table', 1]]) {
  const { page, complaints } = await openPage(browser, fileUrl(join(site, path)), { ready: false });
  await page.waitForTimeout(500);
  const count = await page.locator(selector).count();
  assert.ok(count >= least, `${path}: ${count} of ${selector}`);
  assert.deepEqual(complaints, [], path);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${path} is wider than the window`);
  await page.close();
}
const { page, complaints } = await openPage(browser, fileUrl(join(site, 'play.html'), '#scene=cradle'));
assert.equal(await page.evaluate(() => document.documentElement.dataset.rb), 'ready');
assert.deepEqual(complaints, []);
await browser.close();
console.log('pages of the site load');
