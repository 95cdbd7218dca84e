/* One simulation and its picture: what the live view has one of, and a comparison two. */

import { Contacts, Jam, Mark, Scene } from './data';
import { createEngine, Engine, Sim, StepInfo } from './engine';
import { Stage } from './stage';

export interface ModelSource {
  model: string; files: Map<string, Uint8Array>; options: Record<string, string>; key?: string | null;
  ground?: number | null; packages?: string[]; floating_base?: number;
}

const CONTACT = 14; /* numbers of one in contactArray: geoms, mode, gap, mu, pos, normal, force */

export class LiveModel {
  stage: Stage | null = null;
  readonly contacts = new Contacts();
  readonly marks: Mark[] = [];
  steps = 0;
  busy = 0; /* wall time of a second of simulation [s] */
  jam: Jam | null = null;
  failed = '';
  h = 1e-3; /* length of a step [s] */

  private constructor(readonly engine: Engine, readonly sim: Sim, readonly scene: Scene, readonly source: ModelSource) {
    this.h = Number(sim.options().h);
    this.readContacts();
  }

  /* Throws the sentence of the command where it is refused. */
  option(name: string, text: string): void {
    this.sim.option(name, text);
    this.h = Number(this.sim.options().h);
  }

  static async load(wasm: Uint8Array, source: ModelSource): Promise<LiveModel> {
    const engine = await createEngine(wasm);
    for (const [path, bytes] of source.files) engine.putFile(path, bytes);
    const sim = engine.load(source.model, source.options, {
      packages: source.packages ?? [], floatingBase: Boolean(source.floating_base), ground: source.ground ?? NaN,
    });
    const scene = sim.scene();
    if (source.key) {
      const key = scene.keys.findIndex((k) => k.name === source.key);
      sim.reset(key >= 0 ? key : Number(source.key));
    }
    return new LiveModel(engine, sim, scene, source);
  }

  get keyIndex(): number {
    if (!this.source.key) return -1;
    const i = this.scene.keys.findIndex((k) => k.name === this.source.key);
    return i >= 0 ? i : Number(this.source.key);
  }

  /* Where it will be within a second, as far as that is known within 150 ms; it begins at the start again. */
  lookAhead(): Float64Array[] {
    const begin = performance.now(), found: Float64Array[] = [];
    while (this.sim.time < 1 && performance.now() - begin < 150) {
      if (this.sim.step(1) < 1) break;
      if (this.sim.time > 0.1 * (found.length + 1)) found.push(this.sim.poses().slice());
    }
    this.sim.events();
    this.restart();
    return found;
  }

  restart(): void {
    this.sim.reset(this.keyIndex);
    this.clearFailure();
    this.marks.length = 0;
    this.steps = 0;
    this.readContacts();
  }

  clearFailure(): void { this.failed = ''; this.jam = null; }

  /* Steps until `t`, for at most `budget` ms of the clock; the clock is looked at between bursts of steps. */
  advance(t: number, budget: number): void {
    const begin = performance.now(), from = this.sim.time, { h } = this;
    let burst = 1;
    while (this.sim.time < t - 0.25 * h && performance.now() - begin < budget) {
      if (!this.take(Math.min(burst, Math.max(1, Math.round((t - this.sim.time) / h))))) break;
      if (performance.now() - begin < 0.25 * budget) burst = Math.min(64, 2 * burst);
    }
    const done = this.sim.time - from;
    if (done > 0) this.busy += 0.1 * ((performance.now() - begin) / 1000 / done - this.busy);
    this.after();
  }

  /* Exactly n steps, as the command would. */
  take(n: number): boolean {
    const done = this.sim.step(n);
    this.steps += done;
    if (done === n && this.sim.status === 0) return true;
    this.failed = this.sim.message || 'The step was refused.';
    this.jam = jamOf(this.sim.info());
    return false;
  }

  after(): void {
    this.readContacts();
    for (const event of this.sim.events()) this.marks.push(event as Mark);
    if (this.marks.length > 3000) this.marks.splice(0, this.marks.length - 2000);
  }

  readContacts(): void {
    const raw = this.sim.contactArray(), n = raw.length / CONTACT, out = this.contacts;
    out.reserve(n);
    for (let i = 0; i < n; i++) {
      const a = CONTACT * i;
      out.geom1[i] = raw[a]; out.geom2[i] = raw[a + 1]; out.mode[i] = raw[a + 2]; out.gap[i] = raw[a + 3]; out.mu[i] = raw[a + 4];
      for (let k = 0; k < 3; k++) {
        out.pos[3 * i + k] = raw[a + 5 + k];
        out.normal[3 * i + k] = raw[a + 8 + k];
        out.force[3 * i + k] = raw[a + 11 + k];
      }
    }
  }

  show(): void {
    this.stage?.show({
      t: this.sim.time, poses: this.sim.poses(), contacts: this.contacts, tendons: () => this.sim.tendons().map((l) => ({ tendon: l.tendon, points: l.points.flat() })), marks: this.marks, jam: this.jam,
    });
  }

  free(): void { this.sim.free(); }
}

/* Impulses of the self-stress as vectors: rows of the frame are n, t1, t2. */
function jamOf(info: StepInfo): Jam | null {
  if (!info.njam) return null;
  const parts = info.jam.slice(0, info.njam).map((part) => {
    const force: [number, number, number] = [0, 0, 0];
    for (let r = 0; r < Math.min(3, part.nrow); r++)
      for (let k = 0; k < 3; k++) force[k] += part.p[r] * part.frame[3 * r + k];
    return { geom1: -1, geom2: -1, pos: part.pos.slice(0, 3) as [number, number, number], force };
  }).filter((part) => Math.hypot(...part.force) > 0);
  return parts.length ? { speed: info.jam_speed, parts } : null;
}
