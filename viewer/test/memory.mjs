/* Minutes of running with flat memory: a live view runs, is pulled and restarted; memory of the page, of the engine and of the processes is
 * looked at every half minute. A command of its own, for it takes its time.
 * usage: node test/memory.mjs [MINUTES] [SCENE]      10, quadruped */
import assert from 'node:assert/strict';
import { fileUrl, launch, makePage, openPage, root } from './browser.mjs';
import { galleryOf } from '../site/gallery.mjs';

const minutes = Number(process.argv[2] ?? 10), id = process.argv[3] ?? 'quadruped', MB = 1 << 20;
const GROWTH = 4; /* MB that heap or engine may have more at the end than after a fifth of the time */
const browser = await launch(['--enable-precise-memory-info', '--js-flags=--expose-gc']);
const { page, complaints } = await openPage(browser, fileUrl(makePage('gallery.html', { gallery: galleryOf(root) }), `#scene=${id}`));
const samples = [], begin = Date.now();

for (let k = 0; Date.now() - begin < 60000 * minutes; k++) {
  await page.waitForTimeout(Math.min(30000, 60000 * minutes / 20));
  if (k % 4 === 3) await page.evaluate(() => { window.rattleback.restart(); window.rattleback.page.timeline.toggle(true); });
  const seen = await page.evaluate(() => {
    gc();
    const live = window.rattleback, model = live.models()[0];
    return { heap: performance.memory.usedJSHeapSize, engine: model.engine.memoryBytes, steps: model.steps, objects: live.page.stages[0].memory.geometries, nodes: document.querySelectorAll('*').length };
  });
  samples.push(seen);
  console.log(`${((Date.now() - begin) / 60000).toFixed(1).padStart(5)} min: heap ${(seen.heap / MB).toFixed(1)} MB, engine ${(seen.engine / MB).toFixed(1)} MB, ${seen.steps} steps since the start, ${seen.objects} geometries, ${seen.nodes} elements`);
}
await browser.close();
const early = samples[Math.floor(samples.length / 5)], late = samples[samples.length - 1];
assert.deepEqual(complaints, []);
assert.ok(samples.some((s) => s.steps > 100), 'it ran');
assert.ok(late.heap - early.heap < GROWTH * MB, `the heap grew by ${((late.heap - early.heap) / MB).toFixed(1)} MB`);
assert.ok(late.engine - early.engine < GROWTH * MB, `the engine grew by ${((late.engine - early.engine) / MB).toFixed(1)} MB`);
assert.ok(late.objects <= early.objects + 2 && late.nodes <= early.nodes + 50, 'objects and elements stay');
console.log(`flat: heap ${((late.heap - early.heap) / MB).toFixed(2)} MB, engine ${((late.engine - early.engine) / MB).toFixed(2)} MB`);
