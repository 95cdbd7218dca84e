/* Charts of the results page, from the newest folder of bench/results that has each table. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const OURS = '#4f8fd9', OTHER = '#e5794f', COLORS = ['#4f8fd9', '#e5794f', '#63ad82', '#e0b252', '#9678c7', '#42aaa8', '#d0668f', '#9aa83f'];

function table(root, name) {
  const results = join(root, 'bench/results');
  const folder = readdirSync(results).sort().reverse().find((f) => existsSync(join(results, f, name)));
  if (!folder) throw new Error(`no ${name} under bench/results`);
  const [head, ...lines] = readFileSync(join(results, folder, name), 'utf8').trim().split('\n');
  const keys = split(head);
  return { folder, rows: lines.map((line) => Object.fromEntries(split(line).map((v, i) => [keys[i], v]))) };
}

function split(line) {
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, -1).map((m) => m[1].replace(/^"|"$/g, ''));
}

const point = (x, y, label) => ({ x: Number(x), y: Number(y), label });
const good = (p) => p.x > 0 && p.y > 0;

export function charts(root) {
  return [friction(root), robots(root), overlap(root), peers(root), broad(root)];
}

function friction(root) {
  const { folder, rows } = table(root, 'friction.csv'), best = new Map();
  for (const r of rows) {
    if (r.state !== 'ran' || !(Number(r.residual) <= 1e-8) || r.side === 'rattleback' && r.solver !== 'auto') continue;
    const key = r.side + ' ' + r.problem, us = Number(r.us);
    if (!best.has(key) || us < best.get(key).us) best.set(key, { ...r, us });
  }
  const side = (ours) => [...best.values()].filter((r) => (r.side === 'rattleback') === ours).map((r) => point(r.contacts, r.us, `${r.problem}, ${r.side} ${r.solver}: ${r.us} us, residual ${r.residual}`)).filter(good);
  return { id: 'friction', title: 'Frictional contact problems', xLabel: 'contacts', yLabel: 'time to a certified 1e-8 [us]',
    text: `One time step each of public friction problems: rattleback beside the fastest solver of Siconos for each. ${folder}.`,
    series: [{ name: 'rattleback', color: OURS, points: side(true) }, { name: 'fastest of Siconos', color: OTHER, points: side(false) }] };
}

function robots(root) {
  const { folder, rows } = table(root, 'menagerie.csv'), ran = rows.filter((r) => r.status === 'ok');
  const side = (key) => ran.map((r) => point(r.nv, r[key], `${r.model}: ${r[key]} us a step`)).filter(good);
  return { id: 'robots', title: 'Robots of MuJoCo Menagerie: time of a step', xLabel: 'degrees of freedom', yLabel: 'time of a step [us]',
    text: `Each model with random controls, the same steps in both engines. ${folder}.`,
    series: [{ name: 'rattleback', color: OURS, points: side('us') }, { name: 'MuJoCo', color: OTHER, points: side('us_mujoco') }] };
}

function overlap(root) {
  const { folder, rows } = table(root, 'menagerie.csv'), ran = rows.filter((r) => r.status === 'ok');
  const side = (key) => ran.map((r) => point(r.nv, Math.max(1e-9, Number(r[key])), `${r.model}: ${r[key]} mm`)).filter(good);
  return { id: 'overlap', title: 'Robots of MuJoCo Menagerie: deepest overlap', xLabel: 'degrees of freedom', yLabel: 'deepest overlap [mm], none is drawn at 1e-9',
    text: `What overlapped at the end of a step, beyond what the file begins with. ${folder}.`,
    series: [{ name: 'rattleback', color: OURS, points: side('overlap_mm') }, { name: 'MuJoCo', color: OTHER, points: side('overlap_mujoco_mm') }] };
}

function peers(root) {
  const { folder, rows } = table(root, 'peers.csv'), engines = [...new Set(rows.map((r) => r.engine))];
  return { id: 'peers', title: 'Engines: overlap over time of a step', xLabel: 'time of a step [us]', yLabel: 'deepest overlap [m], none is drawn at 1e-16',
    text: `All scenes of bench/peers under all settings and steps. ${folder}.`,
    series: engines.map((engine, i) => ({ name: engine, color: COLORS[i % COLORS.length],
      points: rows.filter((r) => r.engine === engine && r.us !== '' && r.pen_max !== '').map((r) => point(r.us, Math.max(1e-16, Number(r.pen_max)), `${r.scene}, ${engine} ${r.setting}, h ${r.h}: ${r.us} us, overlap ${r.pen_max} m`)).filter(good) })) };
}

function broad(root) {
  const { folder, rows } = table(root, 'broad.csv'), ways = [...new Set(rows.map((r) => r.way))];
  return { id: 'broad', title: 'Broad phase', xLabel: 'boxes', yLabel: 'time [ms]', text: `Pairs of boxes that meet, by the way they are found. ${folder}.`,
    series: ways.map((way, i) => ({ name: way, color: COLORS[i], points: rows.filter((r) => r.way === way).map((r) => point(r.boxes, r.ms, `${r.scene}, ${r.boxes} boxes: ${r.ms} ms, ${r.pairs} pairs`)).filter(good) })) };
}
