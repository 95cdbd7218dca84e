/* Pictures of the gallery for the site, taken of the playground itself. usage: node test/pictures.mjs [SCENE...] */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileUrl, launch, makePage, openPage, root, viewer } from './browser.mjs';
import { galleryOf } from '../site/gallery.mjs';

const WHEN = { rod: 0.45, balls: 0.5, humanoid: 0.45, quadruped: 0.5, gripper: 1, cradle: 0.4, painleve: 0.2, coin: 0.3, ramp: 0.55, bowling: 0.55, pool: 0.35, pile: 0.8, jenga: 0.3, tower: 0.2, dominos: 0.25, chain: 0.3, pendulum: 0.9, jam: 2, poses: 0.1 };
const gallery = galleryOf(root), wanted = process.argv.slice(2), out = join(viewer, 'site/pictures');
mkdirSync(out, { recursive: true });
const file = makePage('gallery.html', { gallery }), browser = await launch();
for (const scene of gallery.scenes.filter((s) => !wanted.length || wanted.includes(s.id))) {
  const compare = scene.compare ? `&compare=${scene.compare}` : '';
  const { page } = await openPage(browser, fileUrl(file, `#scene=${scene.id}${compare}&plain=1&theme=dark`), { width: 960, height: 600 });
  await page.evaluate((t) => {
    const live = window.rattleback;
    live.hooks.ticked = undefined;
    live.restart();
    live.run(Math.round(t / live.models()[0].h));
  }, WHEN[scene.id] ?? 0.4);
  await page.addStyleTag({ content: '.histogram, .overlay, .caption { display: none !important }' });
  await page.waitForTimeout(400);
  await page.evaluate(() => window.rattleback.page.stages.forEach((s) => { s.changed(); s.render(); }));
  writeFileSync(join(out, `${scene.id}.jpg`), Buffer.from(await smaller(page, await page.screenshot()), 'base64'));
  await page.close();
  console.log(scene.id);
}
await browser.close();

/* Half as large, which smooths edges, as JPEG. */
async function smaller(page, png) {
  return await page.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]), { resizeWidth: 480, resizeHeight: 300, resizeQuality: 'high' });
    const canvas = Object.assign(document.createElement('canvas'), { width: 480, height: 300 });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/jpeg', 0.82).split(',')[1];
  }, png.toString('base64'));
}
