/* The live view: the engine in the page. A model moves, is pulled, changed, saved, compared with itself. */

import { filesOfDrop, filesOfInput, Files, modelsIn } from './drop';
import { CERTIFICATE } from './engine';
import { History } from './history';
import { LiveModel, ModelSource } from './livemodel';
import { controlSection, jointSection, optionsSection, PanelHost, stateSection } from './livepanel';
import { Page } from './page';
import { Puller } from './pull';
import { reducedMotion } from './replaypage';
import { choice, el, section, textButton, tidy } from './ui';

const [RESIDUAL, OVERLAP, ACTIVE] = ['residual', 'penetration', 'active'].map((name) => CERTIFICATE.indexOf(name));
const SLICE = 24; /* ms of a frame that steps may take, all models together */
const PLOT_EVERY = 120; /* ms between two pictures of the plots */

export interface LiveHooks {
  panel?(): (HTMLElement | null)[];            /* sections before the others */
  optionSet?(name: string, text: string): void;
  ticked?(): void;
}

export class LivePage implements PanelHost {
  readonly page: Page;
  private list: LiveModel[] = [];
  private pullers: Puller[] = [];
  private history: History | null = null;
  private speed = 1;
  private playing = false;
  private last = 0;
  private goal = 0;
  private looking: number | null = null; /* time of the past that is shown */
  private plotted = 0;
  private refreshers: (() => void)[] = [];
  private readonly overlay = el('div', { class: 'overlay' });
  private readonly badge = el('span', { class: 'badge' });
  private readonly factor = el('span', { class: 'badge pace' });
  private readonly facts = el('dl', { class: 'facts' });
  hooks: LiveHooks = {};

  constructor(private readonly wasm: Uint8Array, title: string) {
    this.page = new Page({
      title, live: true, host: {
        play: (on) => this.play(on), seek: (t) => this.lookAt(t), step: (d) => this.step(d),
        speed: (f) => { this.speed = f; }, restart: () => this.restart(),
      },
    });
    this.page.status.append(this.badge, this.factor);
    this.page.stagesNode.append(this.overlay);
    this.page.onTick = (now) => this.tick(now);
    this.acceptDrops();
    Object.assign(window, { rattleback: this });
  }

  models(): LiveModel[] { return this.list; }

  /* For tests and scripts: n steps at once, paused, as the command takes them. */
  run(n: number): string {
    this.page.timeline.toggle(false);
    for (const model of this.list) { const good = model.take(n); model.after(); if (!good) this.tellFailure(model); }
    this.looking = null;
    this.record();
    this.changed();
    return this.list[0].sim.hash();
  }

  /* Loads one model, or the same one in two ways; a model that cannot be read leaves its sentence. */
  async open(sources: ModelSource[], captions: string[] = [], begin = true): Promise<boolean> {
    this.close();
    this.page.setTitle(sources[0].model.split('/').pop() ?? sources[0].model);
    try {
      for (const source of sources) this.list.push(await LiveModel.load(this.wasm, source));
    } catch (error) {
      this.close();
      this.complain((error as Error).message);
      this.fillPanel();
      this.page.ready('error');
      return false;
    }
    this.page.setScenes(this.list.map((m) => m.scene), captions);
    this.list.forEach((m, i) => { m.stage = this.page.stages[i]; m.stage.future = m.lookAhead(); m.show(); m.stage.frameAll(...(this.page.address.camera() ?? [])); });
    this.pullers = this.list.map((m) => new Puller(m, () => this.wake()));
    this.list.forEach((m) => this.followOnDoubleClick(m));
    this.page.stagesNode.append(this.overlay);
    this.makeHistory();
    this.fillPanel();
    this.record();
    this.changed();
    if (begin && !this.page.plain && !reducedMotion()) this.page.timeline.toggle(true);
    requestAnimationFrame(() => requestAnimationFrame(() => this.page.ready()));
    return true;
  }

  private close(): void {
    this.page.timeline.toggle(false);
    for (const model of this.list) model.free();
    this.list = [];
    this.pullers = [];
    this.history = null;
    this.overlay.replaceChildren();
    this.badge.textContent = '';
    this.page.setScenes([]);
    this.page.stagesNode.append(this.overlay);
    delete document.documentElement.dataset.rb;
  }

  private makeHistory(): void {
    const model = this.list[0], names = [
      { name: 'energy', unit: 'J', group: 'energy' }, { name: 'residual', unit: '1', group: 'residual' },
      { name: 'overlap', unit: 'm', group: 'overlap' }, { name: 'contacts', unit: '1', group: 'contacts' },
      { name: 'normal forces', unit: 'N', group: 'forces' }, { name: 'largest force', unit: 'N', group: 'forces' },
    ];
    const joints = model.scene.joints.filter((j) => j.type === 'hinge' || j.type === 'slide').slice(0, 12);
    for (const j of joints) names.push({ name: j.name || `joint ${j.qadr}`, unit: j.type === 'hinge' ? 'rad' : 'm', group: 'joints' });
    if (this.list[1]) names.splice(1, 0, { name: 'energy, right', unit: 'J', group: 'energy' });
    this.history = new History(model.scene.bodies.length, names);
    this.values = () => {
      const seen = model.sim.certificate(), c = model.contacts;
      let sum = 0, most = 0;
      for (let i = 0; i < c.n; i++) {
        const f = c.force, n = c.normal, k = 3 * i;
        sum += f[k] * n[k] + f[k + 1] * n[k + 1] + f[k + 2] * n[k + 2];
        most = Math.max(most, Math.hypot(f[k], f[k + 1], f[k + 2]));
      }
      const energy = [model.sim.energy(), ...(this.list[1] ? [this.list[1].sim.energy()] : [])];
      return [...energy, seen[RESIDUAL], seen[OVERLAP], seen[ACTIVE], sum, most, ...joints.map((j) => model.sim.q[j.qadr] + j.ref)];
    };
    this.page.plots.setColumns(this.history.times, this.history.columns);
    this.page.plots.refresh(1);
  }

  private values: () => number[] = () => [];

  private fillPanel(): void {
    const { page } = this;
    page.panel.replaceChildren(...(this.hooks.panel?.() ?? []).filter((n) => n !== null), this.fileSection());
    this.refreshers = [];
    const model = this.list[0];
    if (!model) return;
    const joints = jointSection(this), controls = controlSection(this);
    this.refreshers.push(joints.refresh, controls.refresh);
    const sections = [section('Certificate of the last step', true, this.facts), optionsSection(this), this.keySection(), controls.node, joints.node,
      stateSection(this, () => { this.history?.clear(); this.goal = model.sim.time; this.looking = null; this.changed(); }),
      page.showSection(model.scene), page.cameraSection(model.scene)];
    page.panel.append(...sections.filter((n) => n !== null));
    page.panel.append(page.panel.children[this.hooks.panel ? 1 : 0]); /* files last */
  }

  private keySection(): HTMLElement | null {
    const model = this.list[0], keys = model.scene.keys;
    if (!keys.length) return null;
    const names = ['reference', ...keys.map((k, i) => k.name || `key ${i}`)];
    const pick = choice('Start', names, names[model.keyIndex + 1] ?? 'reference', () => {
      const i = pick.input.selectedIndex - 1;
      for (const m of this.list) m.source.key = i < 0 ? null : String(i);
      this.restart();
    });
    return section('Keyframes', false, pick.row);
  }

  private fileSection(): HTMLElement {
    const pick = (label: string, folder: boolean): HTMLElement[] => {
      const input = el('input', { type: 'file', multiple: '', hidden: '', 'aria-label': label });
      if (folder) input.setAttribute('webkitdirectory', ''); else input.accept = '.xml,.urdf,.mjcf,.zip,.stl,.obj,.png';
      input.addEventListener('change', async () => { if (input.files?.length) await this.openFiles(await filesOfInput(input.files)); });
      return [textButton(label, () => input.click()), input];
    };
    return section('Another model', false, el('p', { class: 'note' }, 'MJCF or URDF with its meshes; or drop files, a folder or a zip on the picture. Nothing leaves this page.'),
      el('div', { class: 'row' }, ...pick('Open files or a zip', false), ...pick('Open a folder', true)));
  }

  private acceptDrops(): void {
    const node = this.page.stagesNode;
    node.addEventListener('dragover', (e) => { e.preventDefault(); node.classList.add('dropping'); });
    node.addEventListener('dragleave', () => node.classList.remove('dropping'));
    node.addEventListener('drop', async (e) => {
      e.preventDefault();
      node.classList.remove('dropping');
      try { if (e.dataTransfer) await this.openFiles(await filesOfDrop(e.dataTransfer)); } catch (error) { this.complain((error as Error).message); }
    });
  }

  async openFiles(files: Files): Promise<void> {
    const models = modelsIn(files);
    if (!models.length) { this.complain('There is no MJCF or URDF file among these.'); return; }
    const open = (model: string): Promise<boolean> => this.open([{ model, files, options: {} }]);
    const good = await open(models[0]);
    if (models.length > 1) {
      const pick = choice('Model', models, models[0], (model) => void open(model));
      this.overlay.append(el('div', {}, `${models.length} models in these files. `, pick.row));
    }
    if (good) this.page.stages[0]?.canvas.focus();
  }

  /* ---- options and sentences ---- */

  set(name: string, text: string): void {
    try {
      for (const model of this.list) model.option(name, text);
      this.list.forEach((m) => m.clearFailure());
      this.overlay.replaceChildren();
      this.hooks.optionSet?.(name, text);
    } catch (error) { this.complain((error as Error).message); }
  }

  complain(sentence: string): void {
    this.overlay.replaceChildren(el('div', { class: 'alarm', role: 'alert' }, sentence));
  }

  private tellFailure(model: LiveModel): void {
    const jam = model.jam ? el('span', {}, ` The self-stress is drawn: ${model.jam.parts.length} impulses that hold each other, while what they press on closes with ${tidy(model.jam.speed)} m/s per unit.`) : null;
    this.overlay.replaceChildren(el('div', { class: 'alarm', role: 'alert' }, el('b', {}, model.jam ? 'Jammed. ' : 'Step refused. '), model.failed.replace(/[^.]$/, '$&.'), jam, ' ',
      textButton('Start again', () => this.restart())));
    this.page.timeline.toggle(false);
  }

  /* ---- time ---- */

  private play(on: boolean): void {
    this.playing = on;
    this.last = 0;
    this.looking = null;
    this.goal = this.list[0]?.sim.time ?? 0;
    if (on) { this.overlay.replaceChildren(); this.list.forEach((m) => m.clearFailure()); }
  }

  private wake(): void { if (!this.playing) this.page.timeline.toggle(true); }

  private step(direction: number): void {
    if (!this.list.length) return;
    this.page.timeline.toggle(false);
    if (direction < 0) {
      const h = this.history, from = this.looking ?? this.list[0].sim.time;
      for (let i = (h?.n ?? 0) - 1; i >= 0; i--) if (h!.times[i] < from - 1e-12) { this.lookAt(h!.times[i]); return; }
      return;
    }
    if (this.looking !== null) {
      const h = this.history!, next = h.frames.find((f) => f.t > this.looking! + 1e-12);
      if (next) this.lookAt(next.t); else { this.looking = null; this.changed(); }
      return;
    }
    for (const model of this.list) { const good = model.take(1); model.after(); if (!good) this.tellFailure(model); }
    this.record();
    this.changed();
  }

  restart(): void {
    for (const model of this.list) model.restart();
    this.history?.clear();
    this.overlay.replaceChildren();
    this.goal = 0;
    this.looking = null;
    this.record();
    this.changed();
  }

  /* A look at the past: the model stays where it is. */
  private lookAt(t: number): void {
    const frame = this.history?.at(t);
    if (!frame) return;
    if (this.playing) this.page.timeline.toggle(false);
    this.looking = frame.t >= this.history!.last ? null : frame.t;
    this.changed();
  }

  private tick(now: number): void {
    if (this.playing && this.list.length && this.last > 0) this.go((now - this.last) / 1000);
    this.last = now;
    this.hooks.ticked?.();
    if (now - this.plotted > PLOT_EVERY) {
      this.plotted = now;
      this.refresh();
    }
  }

  private go(dt: number): void {
    this.goal += this.speed * Math.min(dt, 0.1);
    for (const model of this.list) {
      model.advance(this.goal, SLICE / this.list.length);
      if (model.failed) this.tellFailure(model);
    }
    const reached = Math.min(...this.list.map((m) => m.sim.time));
    if (reached < this.goal - 0.05 * this.speed) this.goal = reached; /* slower than the clock: no debt is kept */
    this.record();
    this.changed();
  }

  private record(): void {
    const model = this.list[0];
    if (model) this.history?.push(model.sim.time, model.sim.poses(), model.contacts, this.values());
  }

  changed(): void {
    const model = this.list[0];
    if (!model) return;
    const past = this.looking === null ? null : this.history!.at(this.looking);
    if (past) model.stage!.show({ t: past.t, poses: past.poses, contacts: past.contacts, tendons: () => [], marks: model.marks });
    else for (const m of this.list) m.show();
    for (const puller of this.pullers) puller.draw();
    const t = past ? past.t : model.sim.time;
    this.page.timeline.setRange(this.history?.first ?? 0, Math.max(this.history?.last ?? 0, model.sim.time));
    this.page.timeline.setTime(t);
    this.page.plots.setTime(t);
  }

  /* Numbers that people read, some times a second. */
  private refresh(): void {
    const model = this.list[0];
    if (!model || !this.history) return;
    if (this.playing || this.looking === null) this.page.plots.refresh(Math.max(1, this.history.n));
    this.page.timeline.setMarks(model.marks);
    this.refreshers.forEach((r) => r());
    const info = model.sim.info();
    const rows: [string, string][] = [
      ['residual', tidy(info.residual)], ['deepest overlap', `${tidy(info.penetration)} m`], ['contacts, pressing', `${info.contacts}, ${info.active}`],
      ['rows, islands', `${info.rows}, ${info.islands}`], ['problems solved', String(info.solves)], ['parts of the step', String(info.parts)],
      ['below accuracy', String(info.below_accuracy)], ['energy', `${tidy(model.sim.energy())} J`], ['energy created', `${tidy(info.energy_created)} J`],
      ['steps', String(model.steps)], ['hash', model.sim.hash()],
    ];
    this.facts.replaceChildren(...rows.flatMap(([a, b]) => [el('dt', {}, a), el('dd', {}, b)]));
    const good = !model.failed && !info.below_accuracy;
    this.badge.className = `badge ${good ? 'good' : 'bad'}`;
    this.badge.textContent = model.failed ? (model.jam ? 'jammed' : 'step refused') : `${info.below_accuracy ? 'below accuracy' : 'certified'}: residual ${tidy(info.residual)}, overlap ${tidy(info.penetration)} m`;
    const pace = this.list.reduce((sum, m) => sum + m.busy, 0);
    this.factor.textContent = pace > 0 ? `${tidy(Number((1 / pace).toPrecision(2)))}× real time on one core` : '';
  }

  private followOnDoubleClick(model: LiveModel): void {
    const stage = model.stage!;
    stage.canvas.addEventListener('dblclick', (e) => {
      const hit = stage.bodies.pick(stage.rayAt(e.clientX, e.clientY));
      const body = hit && model.scene.bodies[hit.body].moves ? hit.body : -1;
      this.page.stages.forEach((s) => { s.followBody(body); s.select(body); });
    });
  }
}
