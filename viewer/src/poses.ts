/* Stable poses: a part is dropped again and again, and the histogram of how it comes to rest builds up. */

import { LivePage } from './livepage';
import { css } from './colors';
import { el } from './ui';

const REST = 2e-3; /* [m/s] and [rad/s] x size: slower than this ... */
const CALM = 0.08; /* ... for this long [s] is rest */
const LONGEST = 4; /* a drop that takes longer is counted as unfinished [s] */
const SAME = Math.cos(0.09); /* poses whose downward directions are closer are one */
const COLORS = [0x4f8fd9, 0xe5794f, 0x63ad82, 0xe0b252, 0x9678c7, 0x42aaa8, 0xd0668f, 0x9aa83f];

interface Pose { down: [number, number, number]; count: number }

export class PosesCount {
  readonly node = el('section', { class: 'histogram', 'aria-label': 'Stable poses' });
  readonly poses: Pose[] = [];
  drops = 0;
  unfinished = 0;
  private calm = 0;
  private start = 0;
  private seed = 20251;
  private last = 0;
  private stopped = false;

  constructor(private readonly live: LivePage) {
    this.drop();
    this.draw();
    live.page.timeline.toggle(true);
  }

  stop(): void { this.stopped = true; this.node.remove(); }

  /* xorshift: the same drops for everybody. */
  private random(): number {
    this.seed ^= this.seed << 13; this.seed ^= this.seed >>> 17; this.seed ^= this.seed << 5;
    return (this.seed >>> 0) / 4294967296;
  }

  /* A direction of SO(3) that is as likely as any other [Shoemake 1992]. */
  private drop(): void {
    const { sim } = this.live.models()[0], [a, b, c] = [this.random(), this.random(), this.random()];
    sim.reset(-1);
    const r = Math.sqrt(1 - a), s = Math.sqrt(a), u = 2 * Math.PI * b, w = 2 * Math.PI * c;
    sim.q.set([r * Math.cos(u), r * Math.sin(u), s * Math.cos(w), s * Math.sin(w)], 3);
    sim.q[2] = 0.06;
    sim.update();
    this.calm = 0;
    this.start = this.last = sim.time;
  }

  /* After each picture: how much longer has it been calm. */
  tick(): void {
    const model = this.live.models()[0];
    if (this.stopped || !model) return;
    const { sim } = model, t = sim.time;
    if (t <= this.last) return;
    let speed = 0;
    for (let i = 0; i < 6; i++) speed = Math.max(speed, Math.abs(sim.v[i]) * (i < 3 ? 1 : 0.01));
    this.calm = speed < REST && model.contacts.n > 0 ? this.calm + t - this.last : 0;
    this.last = t;
    if (this.calm < CALM && t - this.start < LONGEST && !model.failed) return;
    if (this.calm >= CALM) this.count(downOf(sim.q)); else this.unfinished++;
    this.drops++;
    this.draw();
    model.clearFailure();
    this.drop();
    this.live.page.timeline.toggle(true);
  }

  private count(down: [number, number, number]): void {
    const known = this.poses.find((p) => p.down[0] * down[0] + p.down[1] * down[1] + p.down[2] * down[2] > SAME);
    if (known) known.count++; else this.poses.push({ down, count: 1 });
    this.poses.sort((a, b) => b.count - a.count);
  }

  private draw(): void {
    const most = Math.max(1, ...this.poses.map((p) => p.count));
    const bars = this.poses.map((p, i) => {
      const share = `${(100 * p.count / Math.max(1, this.drops)).toFixed(0)} %`, name = nameOf(p.down);
      return el('div', { class: 'bar', title: `${name}: ${p.count} of ${this.drops}` }, el('span', { class: 'fill', style: `height:${(100 * p.count / most).toFixed(1)}%;background:${css(COLORS[i % COLORS.length])}` }),
        el('span', { class: 'label' }, name), el('span', { class: 'share' }, share));
    });
    this.node.replaceChildren(el('h2', {}, `${this.drops} drops${this.unfinished ? `, ${this.unfinished} unfinished` : ''}`), el('div', { class: 'bars' }, ...bars));
  }
}

/* Which way is down, seen from the body: third row of its rotation, negated. */
function downOf(q: Float64Array): [number, number, number] {
  const [w, x, y, z] = [q[3], q[4], q[5], q[6]];
  return [-2 * (x * z - w * y), -2 * (y * z + w * x), -(1 - 2 * (x * x + y * y))];
}

function nameOf(down: number[]): string {
  const i = down.reduce((best, v, k) => (Math.abs(v) > Math.abs(down[best]) ? k : best), 0);
  return Math.abs(down[i]) > 0.996 ? (down[i] > 0 ? '+' : '−') + 'xyz'[i] : down.map((v) => v.toFixed(1)).join(' ');
}
