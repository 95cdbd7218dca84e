/* Every scene of the gallery loads, runs for 2 s to the hash of the command, says nothing on the console, and its bodies are
 * where they should be in the picture. usage: node test/gallery.mjs [SCENE...] */
import assert from 'node:assert/strict';
import { fileUrl, launch, makePage, openPage, root } from './browser.mjs';
import { runCommand } from './command.mjs';
import { alike, colorsAt, pinhole, rgbOf } from './pixels.mjs';
import { galleryOf } from '../site/gallery.mjs';

const TIME = 2; /* s */
const gallery = galleryOf(root), wanted = process.argv.slice(2);
const scenes = gallery.scenes.filter((s) => !wanted.length || wanted.includes(s.id));

const browser = await launch();
const path = makePage('gallery.html', { gallery });
const { page, complaints, requests } = await openPage(browser, fileUrl(path, `#scene=${scenes[0].id}&theme=dark`));
const findings = [];
let bodiesSeen = 0;

for (const scene of scenes) {
  const told = runCommand(scene, TIME);
  await page.evaluate((id) => { if (document.documentElement.dataset.scene !== id) { delete document.documentElement.dataset.scene; location.hash = `#scene=${id}`; } }, scene.id);
  await page.waitForFunction((id) => document.documentElement.dataset.scene === id, scene.id, { timeout: 60000 });
  const seen = await page.evaluate(runInPage, TIME);
  if (seen.hash !== told.hash) findings.push(`${scene.id}: hash ${seen.hash}, the command has ${told.hash}`);
  if (Boolean(seen.failed) !== (told.code === 1)) findings.push(`${scene.id}: "${seen.failed}", but the command ended with ${told.code}`);
  const looks = await lookAtBodies((scene.camera ?? '-52,18').split(',').slice(0, 2).map(Number));
  bodiesSeen += looks.right;
  if (!looks.right) findings.push(`${scene.id}: none of its bodies is where it should be (${looks.told})`);
  else if (looks.wrong > 0.2 * looks.right) findings.push(`${scene.id}: ${looks.wrong} of ${looks.wrong + looks.right} bodies are not where they should be (${looks.told})`);
  while (complaints.length) findings.push(`${scene.id}: console ${complaints.shift()}`);
  console.log(`${scene.id.padEnd(14)} ${seen.hash} ${String(seen.steps).padStart(5)} steps, ${looks.right} bodies seen, engine ${(seen.seconds).toFixed(2)} s, command ${told.cpu.toFixed(2)} s`);
}

/* Runs in the page: from the start, as many steps as the command takes. */
function runInPage(time) {
  const live = window.rattleback;
  live.hooks.ticked = undefined;
  live.restart();
  const model = live.models()[0], begin = performance.now(), n = Math.round(time / model.h);
  const hash = live.run(n);
  return { hash, steps: model.steps, failed: model.failed, seconds: (performance.now() - begin) / 1000 };
}

/* Colours at the places where bodies are: by the pinhole of the test, for those that nothing hides. */
async function lookAtBodies(from) {
  const view = await page.evaluate(([azimuth, elevation]) => {
    const live = window.rattleback, stage = live.models()[0].stage, box = stage.canvas.getBoundingClientRect(), poses = live.models()[0].sim.poses();
    live.models()[0].clearFailure();
    live.changed();
    live.page.shows.forces = live.page.shows.points = live.page.shows.events = false;
    live.page.apply();
    stage.frameAll(azimuth, elevation);
    stage.render();
    const geoms = stage.scene.geoms.map((g, i) => ({ g, i })).filter(({ g }) => stage.scene.bodies[g.body].moves && g.type !== 'plane' && g.group < 3).slice(0, 400);
    const rotate = (q, v) => { const [w, x, y, z] = q, t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]; return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]; };
    return {
      left: box.left, top: box.top, width: box.width, height: box.height, fov: stage.camera.fov, eye: stage.camera.position.toArray(), target: stage.controls.target.toArray(),
      geoms: geoms.map(({ g, i }) => { const a = 7 * g.body, v = rotate([...poses.subarray(a + 3, a + 7)], g.pos); return { body: g.body, color: stage.bodies.colorOf(i), at: v.map((c, k) => c + poses[a + k]), mesh: g.type === 'mesh' }; }),
    };
  }, from);
  const places = [];
  for (const g of view.geoms) {
    const [x, y] = pinhole(view, g.at);
    if (x > 4 && y > 4 && x < view.width - 4 && y < view.height - 4) places.push({ ...g, x: x + view.left, y: y + view.top });
  }
  const free = await page.evaluate((list) => {
    const stage = window.rattleback.models()[0].stage;
    return list.map(({ x, y }) => stage.bodies.pick(stage.rayAt(x, y))?.geom ?? -1).map((g) => (g < 0 ? -1 : stage.scene.geoms[g].body));
  }, places);
  const open = places.filter((p, k) => free[k] === p.body).slice(0, 40);
  const png = await page.screenshot(), colors = await colorsAt(page, png, open.map((p) => [p.x, p.y]));
  const good = open.map((p, k) => alike(colors[k], rgbOf(p.color)));
  const bad = good.findIndex((g) => !g);
  await page.evaluate(() => { const s = window.rattleback.page.shows; s.forces = s.points = s.events = true; window.rattleback.page.apply(); });
  return { right: good.filter(Boolean).length, wrong: good.filter((g) => !g).length,
    told: `${view.geoms.length} geoms, ${places.length} in the picture, ${open.length} open${bad >= 0 ? `, wanted ${open[bad].color}, saw ${colors[bad].map(Math.round)}` : ''}` };
}

const outside = requests.filter((r) => !r.startsWith('file://'));
if (outside.length) findings.push(`requests: ${outside.join(', ')}`);
await browser.close();
for (const f of findings) console.error(f);
console.log(`${scenes.length} scenes, ${bodiesSeen} bodies seen where they should be, ${findings.length} findings`);
assert.equal(findings.length, 0);
