/* A run that happened: everything is in the page, time goes where it is dragged to. */

import { Contacts, f32, Replay } from './data';
import { Page } from './page';
import { ReplayData } from './replay';
import { startPoses } from './stage';
import { el, section, tidy } from './ui';

export class ReplayPage {
  private readonly page: Page;
  private readonly data: ReplayData;
  private readonly poses: Float64Array;
  private readonly contacts = new Contacts();
  private t = 0;
  private speed = 1;
  private playing = false;
  private last = 0;
  private drawn = -1;

  constructor(replay: Replay) {
    this.data = new ReplayData(replay);
    this.poses = startPoses(replay.scene);
    this.page = new Page({
      title: replay.run.model || replay.scene.name, live: false,
      host: {
        play: (on) => this.play(on), seek: (t) => this.seek(t), step: (d) => this.step(d),
        speed: (f) => { this.speed = f; }, restart: () => this.seek(this.data.times[0]),
      },
    });
    this.data.posesAt(this.data.times[0], this.poses);
    replay.scene.bodies.forEach((b, i) => { /* the camera begins where the run does */
      b.pos = [this.poses[7 * i], this.poses[7 * i + 1], this.poses[7 * i + 2]];
      b.quat = [this.poses[7 * i + 3], this.poses[7 * i + 4], this.poses[7 * i + 5], this.poses[7 * i + 6]];
    });
    this.page.setScenes([replay.scene]);
    this.lookAhead();
    this.page.timeline.setRange(this.data.times[0], this.data.duration);
    this.page.timeline.setMarks(replay.marks);
    this.page.plots.setColumns(this.data.times, replay.plots.map((p) => ({ ...p, y: f32(p.y_f32) })));
    this.page.panel.append(this.runSection(replay), this.page.showSection(replay.scene), this.page.cameraSection(replay.scene));
    this.page.status.append(badge(replay));
    this.page.onTick = (now) => this.tick(now);
    this.listen();
    this.seek(this.page.address.number('time') ?? this.data.times[0]);
    if (!this.page.plain && this.page.address.number('time') === undefined && !reducedMotion()) this.page.timeline.toggle(true);
    const rate = this.page.address.number('film');
    if (rate !== undefined && rate > 0) void this.film(rate);
    else requestAnimationFrame(() => requestAnimationFrame(() => this.page.ready()));
  }

  /* Every picture of the run, a line each, for `rattleback view --mp4`. */
  private async film(rate: number): Promise<void> {
    const roll = el('pre', { id: 'rb-film', hidden: '' }), stage = this.page.stages[0], first = this.data.times[0];
    document.body.append(roll);
    await new Promise((done) => setTimeout(done, 0)); /* a browser that prints the page shows none: it has no frames to wait for */
    for (let k = 0; k / rate <= this.data.duration - first + 1e-9; k++) {
      this.seek(first + k / rate);
      stage.render();
      roll.append(stage.canvas.toDataURL('image/jpeg', 0.92) + '\n');
    }
    this.page.ready();
  }

  /* The first picture has room for the whole run. */
  private lookAhead(): void {
    const stage = this.page.stages[0], { times, n } = this.data;
    for (let k = 0; k <= 8; k++) {
      const poses = this.poses.slice();
      this.data.posesAt(times[Math.round(k * (n - 1) / 8)], poses);
      stage.future.push(poses);
    }
    stage.bodies.update(this.poses, stage.controls.target);
    const camera = this.page.address.camera();
    stage.frameAll(camera?.[0], camera?.[1], camera?.[2]);
  }

  private runSection(replay: Replay): HTMLElement {
    const r = replay.run, rows: [string, string][] = [
      ['steps', `${r.steps} of ${tidy(r.h)} s`], ['formulation', r.formulation], ['solver', r.solver], ['stepper', r.stepper],
      ['accuracy', `${r.accuracy} (${tidy(r.tolerance)})`], ['worst residual', tidy(r.residual_max)],
      ['deepest overlap', `${tidy(r.penetration_max)} m`], ['below accuracy', String(r.below_accuracy)], ['hash', r.hash],
      ['rounded to', `${tidy(replay.lost.position)} m, ${tidy(replay.lost.angle)} rad`],
    ];
    const list = el('dl', { class: 'facts' }, ...rows.flatMap(([a, b]) => [el('dt', {}, a), el('dd', {}, b)]));
    const message = r.message ? el('p', { class: 'message', role: 'alert' }, r.message) : null;
    return section('Run', true, message, list);
  }

  private listen(): void {
    const stage = this.page.stages[0];
    stage.canvas.addEventListener('dblclick', (e) => {
      const hit = stage.bodies.pick(stage.rayAt(e.clientX, e.clientY));
      const body = hit && stage.scene.bodies[hit.body].moves ? hit.body : -1;
      stage.followBody(body);
      stage.select(body);
    });
    /* For tests and pictures: what is where. */
    Object.assign(window, { rattleback: { stage, seek: (t: number) => this.seek(t), time: () => this.t, poses: this.poses, replay: this.data } });
  }

  private play(on: boolean): void {
    this.playing = on;
    this.last = 0;
    if (on && this.t >= this.data.duration) this.seek(this.data.times[0]);
  }

  private step(direction: number): void {
    this.page.timeline.toggle(false);
    const i = this.data.frameAt(this.t);
    this.seek(this.data.times[Math.min(this.data.n - 1, Math.max(0, i + direction))]);
  }

  private tick(now: number): void {
    if (this.playing && this.last > 0) {
      const t = this.t + this.speed * Math.min(0.25, (now - this.last) / 1000);
      this.move(Math.min(t, this.data.duration));
      if (t >= this.data.duration) this.page.timeline.toggle(false);
    }
    this.last = now;
  }

  private seek(t: number): void {
    t = Math.min(this.data.duration, Math.max(this.data.times[0], t));
    const scratch = this.poses.slice();
    this.page.stages[0].retrace(t, (at) => { this.data.posesAt(Math.max(this.data.times[0], at), scratch); return scratch; }, 1 / 60);
    this.drawn = -1;
    this.move(t);
  }

  private move(t: number): void {
    if (t === this.drawn) return;
    this.t = this.drawn = t;
    const i = this.data.frameAt(t), replay = this.data.replay;
    this.data.posesAt(t, this.poses);
    this.data.contactsAt(i, this.contacts);
    const jam = i === this.data.n - 1 ? replay.jam : null;
    this.page.stages[0].show({ t, poses: this.poses, contacts: this.contacts, tendons: () => this.data.tendonsAt(i), marks: replay.marks, jam });
    this.page.timeline.setTime(t);
    this.page.plots.setTime(t);
  }
}

export const reducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

function badge(replay: Replay): HTMLElement {
  const r = replay.run, good = !r.failures && !r.below_accuracy;
  const text = r.failures ? 'refused' : r.below_accuracy ? `${r.below_accuracy} steps below accuracy` : 'every step certified';
  return el('span', { class: `badge ${good ? 'good' : 'bad'}` }, `${text}: residual ${tidy(r.residual_max)}, overlap ${tidy(r.penetration_max)} m`);
}
