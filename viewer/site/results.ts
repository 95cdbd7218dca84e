/* Results as plots that can be pointed at: numbers of bench/results, put into the page by site.mjs. */

import uPlot from 'uplot';

interface Series { name: string; color: string; points: { x: number; y: number; label: string }[] }
interface Chart { id: string; title: string; text: string; xLabel: string; yLabel: string; series: Series[] }

const charts = JSON.parse(document.getElementById('data')!.textContent!) as Chart[];
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const ink = dark ? '#9aa5b3' : '#5c6675', rule = dark ? '#2b313a' : '#dde2e9';

function tidy(x: number): string {
  const a = Math.abs(x);
  return a !== 0 && (a < 1e-2 || a >= 1e5) ? x.toExponential(1) : String(Number(x.toPrecision(3)));
}

/* Points share an axis: a row for each of them, empty in the columns of the others. */
function columns(chart: Chart): { data: uPlot.AlignedData; labels: string[] } {
  const rows = chart.series.flatMap((s, k) => s.points.map((p) => ({ ...p, k }))).sort((a, b) => a.x - b.x);
  const data = [rows.map((r) => r.x), ...chart.series.map((_, k) => rows.map((r) => (r.k === k ? r.y : null)))];
  return { data: data as uPlot.AlignedData, labels: rows.map((r) => r.label) };
}

function draw(chart: Chart): void {
  const box = document.getElementById(chart.id)!, { data, labels } = columns(chart);
  const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: '12px system-ui', labelFont: '12px system-ui' };
  const values = (_: uPlot, v: (number | null)[]): string[] => v.map((x) => (x === null ? '' : tidy(x)));
  const tip = document.createElement('div');
  tip.className = 'point';
  tip.setAttribute('role', 'status');
  const plot = new uPlot({
    width: box.clientWidth, height: 420, scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [{ ...axis, label: chart.xLabel, values }, { ...axis, label: chart.yLabel, size: 64, values }],
    cursor: { drag: { x: true, y: true }, dataIdx: (u, k, near) => nearest(u, k, near) },
    series: [{ label: chart.xLabel, value: (_, v) => (v === null ? '' : tidy(v)) }, ...chart.series.map((s) => ({
      label: s.name, stroke: s.color, paths: () => null, points: { show: true, size: 7, fill: s.color + 'b0', stroke: s.color },
      value: (_: uPlot, v: number | null) => (v === null || v === undefined ? '' : tidy(v)),
    }))],
    hooks: { setCursor: [(u) => { const i = u.cursor.idxs?.find((k, s) => s > 0 && k !== null && k !== undefined); tip.textContent = i === undefined || i === null ? '' : labels[i]; }] },
  }, data, box);
  box.append(tip);
  new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 420 })).observe(box);
}

/* The closest point of a column to the pointer, within 24 pixels. */
function nearest(u: uPlot, column: number, around: number): number {
  if (column === 0) return around;
  const x = u.data[0], y = u.data[column], left = u.cursor.left!, top = u.cursor.top!;
  let best = around, distance = 24;
  for (let i = 0; i < x.length; i++) {
    const v = y[i];
    if (v === null || v === undefined) continue;
    const d = Math.hypot(u.valToPos(x[i], 'x') - left, u.valToPos(v, 'y') - top);
    if (d < distance) { distance = d; best = i; }
  }
  return best;
}

charts.forEach(draw);
