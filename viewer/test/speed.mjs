/* Pictures a second at 900 x 600, drawn in software: a page is told to draw as fast as it can while time goes on.
 * usage: node test/speed.mjs PAGE.html [SECONDS]      a replay, as `rattleback run MODEL --html PAGE.html` writes it */
import { fileUrl, launch, openPage } from './browser.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/* Processor time [ms] of the browser and all processes below it: on a machine that others use, too, the clock says little. */
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

const [file, seconds = '6'] = process.argv.slice(2);
const mark = `--rb-speed=${process.pid}`, browser = await launch([mark]);
const { page } = await openPage(browser, fileUrl(resolve(file), '#time=0'));
const box = await page.locator('.stage canvas').boundingBox();
await page.setViewportSize({ width: Math.round(1800 - box.width), height: Math.round(1200 - box.height) });
await go(2);
const before = cpu(mark), seen = await go(Number(seconds)), spent = cpu(mark) - before;

async function go(limit) { return await page.evaluate(measure, limit); }

async function measure(limit) { 
  const { stage, seek, replay } = window.rattleback, first = replay.times[0], last = replay.duration;
  const width = stage.canvas.clientWidth, height = stage.canvas.clientHeight, begin = performance.now();
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
  return { bodies: stage.scene.bodies.length - 1, width, height, n, fps: n / limit, moved: moved / n, drawn: drawn / n };
}
const each = spent / seen.n;
console.log(`${seen.bodies} bodies, picture ${seen.width} x ${seen.height}: ${seen.fps.toFixed(1)} pictures a second by the clock, ${each.toFixed(0)} ms of processor each: `
  + `${(1000 / each).toFixed(1)} a second on one free core; ${seen.moved.toFixed(1)} ms of it to go to a time, ${seen.drawn.toFixed(1)} ms to ask for the picture`);
await browser.close();
