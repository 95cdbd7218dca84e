/* What a live model did lately: poses, contacts and numbers of the last pictures, so that time can be looked at again. */

import { Contacts } from './data';
import { Column } from './plots';

const BYTES = 24 << 20, MOST = 1800;

interface Frame { t: number; poses: Float32Array; contacts: Contacts }

export class History {
  readonly times: Float64Array;
  readonly columns: Column[];
  readonly frames: Frame[] = [];
  private readonly values: Float64Array[];
  private readonly most: number;

  constructor(nbody: number, names: { name: string; unit: string; group: string }[]) {
    this.most = Math.max(120, Math.min(MOST, Math.floor(BYTES / (28 * nbody + 400))));
    this.times = new Float64Array(this.most);
    this.values = names.map(() => new Float64Array(this.most));
    this.columns = names.map((n, i) => ({ ...n, y: this.values[i] }));
  }

  get n(): number { return this.frames.length; }
  get first(): number { return this.n ? this.times[0] : 0; }
  get last(): number { return this.n ? this.times[this.n - 1] : 0; }

  clear(): void { this.frames.length = 0; }

  push(t: number, poses: ArrayLike<number>, contacts: Contacts, values: number[]): void {
    if (this.n && t <= this.last) return;
    let frame: Frame;
    if (this.n === this.most) { /* the oldest tenth goes at once, its memory is used again */
      const cut = Math.ceil(this.most / 10);
      this.times.copyWithin(0, cut);
      for (const v of this.values) v.copyWithin(0, cut);
      const old = this.frames.splice(0, cut);
      frame = old[0];
    } else frame = { t, poses: new Float32Array(poses.length), contacts: new Contacts() };
    frame.t = t;
    frame.poses.set(poses);
    copyContacts(contacts, frame.contacts);
    this.times[this.n] = t;
    values.forEach((v, i) => { this.values[i][this.n] = v; });
    this.frames.push(frame);
  }

  at(t: number): Frame | null {
    let lo = 0, hi = this.n - 1;
    if (hi < 0) return null;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.times[mid] <= t + 1e-12) lo = mid; else hi = mid - 1;
    }
    return this.frames[lo];
  }
}

function copyContacts(from: Contacts, to: Contacts): void {
  const n = Math.min(from.n, 400);
  to.reserve(n);
  for (const key of ['geom1', 'geom2', 'mode', 'mu', 'gap'] as const) to[key].set(from[key].subarray(0, n));
  for (const key of ['pos', 'normal', 'force'] as const) to[key].set(from[key].subarray(0, 3 * n));
}
