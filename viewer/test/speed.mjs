/* Pictures a second at 900 x 600, drawn in software: a page is told to draw as fast as it can while time jumps.
 * usage: node test/speed.mjs                          a humanoid and 1,000 bodies, as a test: processor time of a picture below its limit
 *        node test/speed.mjs PAGE.html [SECONDS]      a replay, as `rattleback run MODEL --html PAGE.html` writes it */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { command, fileUrl, launch, openPage, root, work } from './browser.mjs';

/* Limits in units of the processor time of a loop of sums (unit()), about 1.7 times what pictures cost. They notice when pictures become
 * dearer, on any machine, and promise no rate: the clock, which would, is no measure on a machine that others use, too. Of a few tries the least counts. */
const WANTED = [
  { model: 'peers/humanoid.xml', time: '10', limit: 1.7 },
  { model: 'peers/pile_1000.xml', time: '0.3', limit: 6.0 },
];
const TRIES = 4;

/* Processor time of 2e7 multiplications and additions, each after the one before it [ms]; the least of a few. */
function unit() {
  let least = Infinity;
  for (let k = 0; k < 5; k++) {
    const before = process.cpuUsage();
    let x = 1;
    for (let i = 0; i < 2e7; i++) x = x * 0.999999 + 1e-6;
    const { user, system } = process.cpuUsage(before);
    if (x > 0) least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/* Processor time [ms] of the browser and all processes below it. */
function cpu(mark) {
  const all = new Map();
  for (const pid of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
      all.set(pid, { parent: fields[1], ticks: Number(fields[11]) + Number(fields[12]), ours: readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark) });
    } catch { /* it ended */ }
  }
  const below = (pid) => { const p = all.get(pid); return p !== undefined && (p.ours || below(p.parent)); };
  return 10 * [...all.keys()].filter(below).reduce((sum, pid) => sum + all.get(pid).ticks, 0);
}

async function speedOf(file, seconds) {
  const mark = `--rb-speed=${process.pid}`, browser = await launch([mark]);
  const { page } = await openPage(browser, fileUrl(resolve(file), '#time=0'));
  const box = await page.locator('.stage canvas').boundingBox();
  await page.setViewportSize({ width: Math.round(1800 - box.width), height: Math.round(1200 - box.height) });
  await page.evaluate(() => { window.rattleback.stage.takeOff = () => {}; }); /* all pixels, however slow the machine is now */
  await page.evaluate(measure, 1);
  const before = cpu(mark), seen = await page.evaluate(measure, seconds), each = (cpu(mark) - before) / seen.n;
  await browser.close();
  console.log(`${seen.bodies} bodies, picture ${seen.width} x ${seen.height}: ${seen.fps.toFixed(1)} a second by the clock, `
    + `${each.toFixed(0)} ms of processor each, ${(1000 / each).toFixed(1)} a second on one free core; ${seen.moved.toFixed(1)} ms to go to a time, ${seen.drawn.toFixed(1)} ms to ask for the picture`);
  return { each, ...seen };
}

/* In the page. */
async function measure(limit) {
  const { stage, seek, replay } = window.rattleback, first = replay.times[0], last = replay.duration;
  const begin = performance.now();
  let n = 0, moved = 0, drawn = 0;
  while (performance.now() - begin < 1000 * limit) {
    const t0 = performance.now();
    seek(first + (last - first) * ((n * 0.37) % 1));
    const t1 = performance.now();
    stage.render();
    const t2 = performance.now();
    await new Promise((done) => requestAnimationFrame(done));
    moved += t1 - t0;
    drawn += t2 - t1;
    n++;
  }
  return { bodies: stage.scene.bodies.length - 1, width: stage.canvas.width, height: stage.canvas.height, n, fps: n / limit, moved: moved / n, drawn: drawn / n };
}

async function check({ model, time, limit }) {
  const file = join(work, `speed-${time}.html`), done = spawnSync(command, ['run', join(root, 'scenes', model), '--time', time, '--html', file], { encoding: 'utf8' });
  assert.ok(done.status === 0 || done.status === 1, done.stderr); /* 1: steps below accuracy; the picture is the same */
  const most = limit * unit();
  let least = Infinity;
  for (let k = 0; k < TRIES && least > most; k++) {
    const seen = await speedOf(file, 5);
    assert.deepEqual([seen.width, seen.height], [900, 600]);
    least = Math.min(least, seen.each);
  }
  assert.ok(least <= most, `${model}: a picture takes ${least.toFixed(0)} ms of processor, ${most.toFixed(0)} are allowed`);
  console.log(`ok      ${model}: ${least.toFixed(0)} ms of processor for a picture, ${most.toFixed(0)} allowed`);
}

const [file, seconds = '6'] = process.argv.slice(2);
if (file) await speedOf(file, Number(seconds));
else for (const wanted of WANTED) await check(wanted);
