/* A replay as numbers: poses of any instant between its frames, contacts of the last frame. */

import { bytesOf, Contacts, f32, f64, i16, Polyline, Replay, u16, u32 } from './data';

const SQRT2 = Math.sqrt(2);

export class ReplayData {
  readonly times: Float64Array;
  private readonly pose: Float32Array; /* n x moving x 7 */
  private readonly start: Uint32Array;
  private readonly pair: Uint32Array;
  private readonly mode: Uint8Array;
  private readonly pos: Uint16Array;
  private readonly normal: Int16Array;
  private readonly force: Float32Array;
  private readonly lineStart: Uint32Array;
  private readonly lineOwner: Uint32Array;
  private readonly linePoint: Float32Array;
  private readonly pointStart: Uint32Array;

  constructor(readonly replay: Replay) {
    this.times = f64(replay.time_f64);
    this.pose = decodePoses(replay);
    const c = replay.contacts;
    this.start = u32(c.start_u32);
    this.pair = u32(c.pair_u32);
    this.mode = bytesOf(c.mode_u8);
    this.pos = u16(c.pos_u16);
    this.normal = i16(c.normal_i16);
    this.force = f32(c.force_f32);
    this.lineStart = u32(replay.tendons.start_u32);
    this.lineOwner = u32(replay.tendons.owner_u32);
    this.linePoint = f32(replay.tendons.point_f32);
    this.pointStart = new Uint32Array(this.lineOwner.length / 2 + 1);
    for (let i = 0; 2 * i < this.lineOwner.length; i++)
      this.pointStart[i + 1] = this.pointStart[i] + this.lineOwner[2 * i + 1];
  }

  get n(): number { return this.replay.n; }
  get duration(): number { return this.times[this.n - 1]; }

  /* Last frame that is not after t. */
  frameAt(t: number): number {
    let lo = 0, hi = this.n - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.times[mid] <= t + 1e-12) lo = mid; else hi = mid - 1;
    }
    return lo;
  }

  /* Poses at t (bodies x 7), linear between frames; bodies that stay keep what is there. */
  posesAt(t: number, out: Float64Array): void {
    const i = this.frameAt(t), j = Math.min(i + 1, this.n - 1);
    const dt = this.times[j] - this.times[i];
    const s = dt > 0 ? Math.min(1, Math.max(0, (t - this.times[i]) / dt)) : 0;
    const moving = this.replay.moving;
    for (let k = 0; k < moving.length; k++) {
      blend(this.pose, 7 * (i * moving.length + k), 7 * (j * moving.length + k), s, out, 7 * moving[k]);
    }
  }

  contactsAt(i: number, out: Contacts): void {
    const { lo, hi, pairs } = this.replay.contacts;
    const first = this.start[i], n = this.start[i + 1] - first;
    out.reserve(n);
    for (let k = 0; k < n; k++) {
      const c = first + k, pair = pairs[this.pair[c]];
      out.geom1[k] = pair[0]; out.geom2[k] = pair[1]; out.mu[k] = pair[2];
      out.mode[k] = this.mode[c];
      out.gap[k] = NaN;
      for (let a = 0; a < 3; a++) {
        out.pos[3 * k + a] = lo[a] + (hi[a] - lo[a]) * this.pos[3 * c + a] / 65535;
        out.force[3 * k + a] = this.force[3 * c + a];
      }
      octahedron(this.normal[2 * c] / 32767, this.normal[2 * c + 1] / 32767, out.normal, 3 * k);
    }
  }

  tendonsAt(i: number): Polyline[] {
    const lines: Polyline[] = [];
    for (let k = this.lineStart[i]; k < this.lineStart[i + 1]; k++) {
      const points = this.linePoint.subarray(3 * this.pointStart[k], 3 * this.pointStart[k + 1]);
      lines.push({ tendon: this.lineOwner[2 * k], points });
    }
    return lines;
  }
}

function decodePoses(replay: Replay): Float32Array {
  const raw = u16(replay.pose_u16), m = replay.moving.length;
  const out = new Float32Array(replay.n * m * 7);
  for (let i = 0; i < replay.n * m; i++) {
    const k = i % m;
    for (let a = 0; a < 3; a++) {
      const lo = replay.lo[k][a], hi = replay.hi[k][a];
      out[7 * i + a] = lo + (hi - lo) * raw[6 * i + a] / 65535;
    }
    rotation(raw, 6 * i + 3, out, 7 * i + 3);
  }
  return out;
}

/* The largest component was left out: two top bits say which one. */
function rotation(raw: Uint16Array, from: number, out: Float32Array, to: number): void {
  const left = 2 * (raw[from] >> 15) + (raw[from + 1] >> 15);
  let sum = 0;
  for (let a = 0, k = 0; a < 4; a++) {
    if (a === left) continue;
    const c = (2 * (raw[from + k++] & 0x7fff) / 32767 - 1) / SQRT2;
    out[to + a] = c;
    sum += c * c;
  }
  out[to + left] = Math.sqrt(Math.max(0, 1 - sum));
}

function blend(pose: Float32Array, a: number, b: number, s: number, out: Float64Array, to: number): void {
  for (let k = 0; k < 3; k++) out[to + k] = pose[a + k] + s * (pose[b + k] - pose[a + k]);
  let dot = 0, norm = 0;
  for (let k = 3; k < 7; k++) dot += pose[a + k] * pose[b + k];
  const sign = dot < 0 ? -1 : 1;
  for (let k = 3; k < 7; k++) {
    out[to + k] = (1 - s) * pose[a + k] + s * sign * pose[b + k];
    norm += out[to + k] * out[to + k];
  }
  for (let k = 3; k < 7; k++) out[to + k] /= Math.sqrt(norm);
}

function octahedron(x: number, y: number, out: Float64Array, to: number): void {
  const z = 1 - Math.abs(x) - Math.abs(y);
  if (z < 0) {
    const u = (1 - Math.abs(y)) * (x < 0 ? -1 : 1);
    y = (1 - Math.abs(x)) * (y < 0 ? -1 : 1);
    x = u;
  }
  const length = Math.hypot(x, y, z) || 1;
  out[to] = x / length; out[to + 1] = y / length; out[to + 2] = z / length;
}
