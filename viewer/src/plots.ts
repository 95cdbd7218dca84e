/* Diagrams that follow the time line: one uPlot for each group of columns. */

import uPlot from 'uplot';
import { ThemeName } from './colors';
import { el, tidy } from './ui';

export interface Column { name: string; unit: string; group: string; y: ArrayLike<number> }

const COLORS = ['#4f8fd9', '#e5794f', '#63ad82', '#e0b252', '#9678c7', '#42aaa8', '#d0668f', '#9aa83f', '#8a94a1'];
const MOST_LINES = 12; /* of one diagram at first; the legend shows the others */
const LOG = new Set(['residual', 'accuracy', 'certificate']);

export class Plots {
  readonly node = el('section', { class: 'plots', 'aria-label': 'Plots over time' });
  private readonly tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Plots' });
  private readonly body = el('div', { class: 'plot' });
  private readonly nowLine = el('div', { class: 'now' });
  private groups: { name: string; columns: Column[] }[] = [];
  private plot: uPlot | null = null;
  private current = 0;
  private times: ArrayLike<number> = [];
  private now = 0;
  private count = 0;

  constructor(private theme: ThemeName, private readonly seek: (t: number) => void) {
    this.node.append(this.tabs, this.body);
    new ResizeObserver(() => this.resize()).observe(this.body);
  }

  setColumns(times: ArrayLike<number>, columns: Column[]): void {
    const groups = new Map<string, Column[]>();
    for (const c of columns) (groups.get(c.group) ?? groups.set(c.group, []).get(c.group)!).push(c);
    this.groups = [...groups].map(([name, list]) => ({ name, columns: list }));
    this.times = times;
    this.current = Math.min(this.current, Math.max(0, this.groups.length - 1));
    this.tabs.replaceChildren(...this.groups.map((g, i) => this.tab(g.name, i)));
    this.build();
  }

  private tab(name: string, i: number): HTMLElement {
    const button = el('button', { type: 'button', role: 'tab', 'aria-selected': String(i === this.current) }, name);
    button.addEventListener('click', () => this.choose(i));
    return button;
  }

  choose(i: number): void {
    this.current = i;
    [...this.tabs.children].forEach((t, k) => t.setAttribute('aria-selected', String(k === i)));
    this.build();
  }

  setTheme(theme: ThemeName): void { this.theme = theme; this.build(); }

  setTime(t: number): void {
    if (t === this.now) return;
    this.now = t;
    this.placeNow();
  }

  /* The live view: `count` numbers of each column hold. */
  refresh(count: number): void {
    this.count = count;
    this.plot?.setData(this.data(), true);
  }

  private data(): uPlot.AlignedData {
    const group = this.groups[this.current], n = this.count || this.times.length;
    const cut = (a: ArrayLike<number>): number[] | Float64Array | Float32Array =>
      a instanceof Float64Array || a instanceof Float32Array ? a.subarray(0, n) : Array.prototype.slice.call(a, 0, n);
    const logarithmic = LOG.has(group.name);
    return [cut(this.times), ...group.columns.map((c) => (logarithmic ? Array.from(cut(c.y), (v) => (v > 0 ? v : null)) : cut(c.y)))] as uPlot.AlignedData;
  }

  private build(): void {
    this.plot?.destroy();
    this.plot = null;
    this.body.replaceChildren();
    const group = this.groups[this.current];
    if (!group || this.body.clientWidth < 40 || this.body.clientHeight < 40) return;
    const text = this.theme === 'dark' ? '#9aa5b3' : '#5c6675', grid = this.theme === 'dark' ? '#2b313a' : '#dde2e9';
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: '11px system-ui' };
    const unit = group.columns[0].unit;
    this.plot = new uPlot({
      width: this.body.clientWidth, height: this.body.clientHeight - 26,
      scales: { x: { time: false, range: (_, lo, hi) => (hi > lo ? [lo, hi] : [lo ?? 0, (lo ?? 0) + 0.1]) }, y: LOG.has(group.name) ? { distr: 3 } : {} },
      legend: { live: true }, cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      axes: [{ ...axis, size: 26, values: (_, v) => v.map((x) => tidy(x) + ' s') },
             { ...axis, size: 58, label: undefined, values: (_, v) => v.map((x) => (x === null ? '' : tidy(x))) }],
      series: [{ label: 't', value: (_, v) => (v === null ? '' : tidy(v) + ' s') }, ...group.columns.map((c, i) => ({
        label: c.name, stroke: COLORS[i % COLORS.length], width: 1.5, show: i < MOST_LINES, points: { show: false },
        value: (_: uPlot, v: number | null) => (v === null ? '' : `${tidy(v)} ${unit === '1' ? '' : c.unit}`),
      }))],
      hooks: { draw: [() => this.placeNow()], ready: [(u) => this.listen(u)] },
    }, this.data(), this.body);
  }

  /* A line over the diagram, which is not drawn anew for it. */
  private placeNow(): void {
    if (!this.plot) return;
    const x = this.plot.valToPos(this.now, 'x'), inside = x >= 0 && x <= this.plot.over.clientWidth;
    if (this.nowLine.parentElement !== this.plot.over) this.plot.over.append(this.nowLine);
    this.nowLine.hidden = !inside;
    this.nowLine.style.transform = `translateX(${x}px)`;
  }

  private listen(u: uPlot): void {
    let held = false;
    const go = (e: PointerEvent): void => this.seek(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, 'x'));
    u.over.addEventListener('pointerdown', (e) => { held = true; u.over.setPointerCapture(e.pointerId); go(e); });
    u.over.addEventListener('pointermove', (e) => { if (held) go(e); });
    u.over.addEventListener('pointerup', () => { held = false; });
  }

  private resize(): void {
    if (!this.plot) this.build();
    else this.plot.setSize({ width: this.body.clientWidth, height: Math.max(60, this.body.clientHeight - 26) });
  }
}
