/* The frame that replay, live view and playground share: header, picture, panel, time line, plots, keys. */

import { css, ThemeName, THEMES } from './colors';
import { Scene } from './data';
import { helpDialog } from './help';
import { Plots } from './plots';
import { Address, chosenTheme, keepTheme } from './settings';
import { Shows, SHOWS, Stage } from './stage';
import { Timeline, TimelineHost } from './timeline';
import { choice, el, iconButton, section, slider, toggle } from './ui';

export interface PageOptions { title: string; live: boolean; host: TimelineHost; keys?: Record<string, () => void> }

export class Page {
  readonly address = new Address();
  readonly plain = this.address.flag('plain') || this.address.flag('film');
  theme: ThemeName = chosenTheme(this.address);
  readonly stagesNode = el('main', { class: 'stages', 'aria-label': 'Picture' });
  readonly panel = el('aside', { class: 'panel', 'aria-label': 'Settings' });
  readonly status = el('div', { class: 'status' });
  readonly titleNode = el('h1', {});
  readonly headerEnd = el('div', { class: 'end' });
  readonly timeline: Timeline;
  readonly plots: Plots;
  readonly shows: Shows = { ...SHOWS };
  stages: Stage[] = [];
  forceScale = 1;
  onTick: (now: number) => void = () => undefined;
  private readonly root = el('div', { class: 'page' });
  private readonly help = helpDialog();

  constructor(private readonly options: PageOptions) {
    document.documentElement.dataset.theme = this.theme;
    this.timeline = new Timeline(this.theme, options.host, options.live);
    this.plots = new Plots(this.theme, (t) => options.host.seek(t));
    this.setTitle(options.title);
    const header = el('header', {}, this.titleNode, this.status, this.headerEnd);
    this.headerEnd.append(
      iconButton('fit', 'Whole picture (F)', () => this.frameAll()),
      iconButton('chart', 'Plots (P)', () => this.togglePlots()),
      iconButton('panel', 'Settings (S)', () => this.togglePanel()),
      iconButton('sun', 'Light or dark (T)', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark')),
      iconButton('help', 'Keys and colours (?)', () => this.help.showModal()));
    const foot = el('footer', {}, this.timeline.node, this.plots.node);
    this.root.append(header, this.stagesNode, this.panel, foot, this.help);
    if (this.plain) this.root.classList.add('plain');
    const size = /^(\d+)x(\d+)$/.exec(this.address.text('size') ?? '');
    if (size && this.plain) { this.root.style.width = `${size[1]}px`; this.root.style.height = `${size[2]}px`; }
    if (innerWidth < 760) this.root.classList.add('no-panel', 'no-plots');
    document.body.append(this.root);
    window.addEventListener('keydown', (e) => this.key(e));
    requestAnimationFrame((now) => this.loop(now));
  }

  setTitle(text: string): void {
    this.titleNode.textContent = text;
    document.title = `${text} - rattleback`;
  }

  /* Pictures of these scenes side by side, with one camera. */
  setScenes(scenes: Scene[], captions: string[] = []): void {
    for (const stage of this.stages) stage.dispose();
    this.stagesNode.replaceChildren();
    this.stages = scenes.map((scene, i) => {
      const box = el('div', { class: 'stage' });
      if (captions[i]) box.append(el('div', { class: 'caption' }, captions[i]));
      this.stagesNode.append(box);
      const stage = new Stage(scene, box, this.theme, this.plain);
      stage.apply(this.shows, this.forceScale);
      stage.controls.addEventListener('change', () => this.syncCameras(stage));
      return stage;
    });
    const camera = this.address.camera();
    if (camera) this.stages.forEach((s) => s.look(camera[0], camera[1], camera[2] || s.viewFrom().distance));
  }

  private syncing = false;
  private syncCameras(from: Stage): void {
    if (this.syncing) return;
    this.syncing = true;
    for (const stage of this.stages) if (stage !== from) stage.copyCamera(from);
    this.syncing = false;
  }

  frameAll(): void { this.stages.forEach((s) => s.frameAll()); }

  setTheme(theme: ThemeName): void {
    this.theme = theme;
    keepTheme(theme);
    document.documentElement.dataset.theme = theme;
    this.stages.forEach((s) => s.setTheme(theme));
    this.plots.setTheme(theme);
    this.timeline.setTheme(theme);
  }

  togglePanel(): void { this.root.classList.toggle('no-panel'); }
  togglePlots(): void { this.root.classList.toggle('no-plots'); }
  apply(): void { this.stages.forEach((s) => s.apply(this.shows, this.forceScale)); }

  /* What is drawn. */
  showSection(scene: Scene): HTMLElement {
    const modes = THEMES[this.theme].modes.map(css);
    const flip = (label: string, key: keyof Shows, swatch?: string): HTMLElement =>
      toggle(label, this.shows[key], (on) => { this.shows[key] = on; this.apply(); }, swatch);
    const scale = slider('Length of arrows', 0.1, 5, 1, (v) => { this.forceScale = v; this.apply(); });
    const legend = el('p', { class: 'legend' }, ...['open', 'stick', 'slide'].flatMap((word, i) =>
      [el('span', { class: 'swatch', style: `background:${modes[i]}` }), `${word} `]));
    const column = (...rows: (HTMLElement | null)[]): HTMLElement => el('div', { class: 'columns' }, ...rows);
    return section('Show', true, column(
      flip('Contact points', 'points'), flip('Force arrows', 'forces'), flip('Friction cones', 'cones'), flip('Open contacts', 'open'),
      flip('Events', 'events'), flip('Trails', 'trails'), flip('Centres of mass', 'masses'), flip('Body frames', 'frames'),
      flip('Joint axes', 'joints'), scene.sites.length ? flip('Sites', 'sites') : null,
      scene.tendons.some((t) => t.spatial) ? flip('Tendons', 'tendons') : null,
      flip('See through', 'glass'), flip('Shadows', 'shadows'), flip('Collision shapes', 'collision')), legend, scale.row);
  }

  cameraSection(scene: Scene): HTMLElement {
    const names = scene.bodies.map((b, i) => b.name || `body ${i}`);
    const moving = scene.bodies.map((_, i) => i).filter((i) => scene.bodies[i].moves).slice(0, 400);
    const pick = choice('Follow', ['nothing', ...moving.map((i) => names[i])], 'nothing', () => {
      const body = pick.input.selectedIndex > 0 ? moving[pick.input.selectedIndex - 1] : -1;
      this.stages.forEach((s) => { s.followBody(body); s.select(body); });
    });
    const wanted = this.address.text('follow'), at = wanted === undefined ? -1 : moving.findIndex((i) => names[i] === wanted);
    if (at >= 0) { pick.input.selectedIndex = at + 1; this.stages.forEach((s) => s.followBody(moving[at])); }
    const from = (label: string, a: number, e: number): HTMLElement => {
      const button = el('button', { type: 'button', class: 'text' }, label);
      button.addEventListener('click', () => this.stages.forEach((s) => s.look(a, e, s.viewFrom().distance)));
      return button;
    };
    return section('Camera', false, pick.row, el('div', { class: 'row' }, from('Front', -90, 5), from('Side', 0, 5), from('Top', -90, 89), from('Corner', -52, 20)));
  }

  ready(state: 'ready' | 'error' = 'ready'): void { document.documentElement.dataset.rb = state; }

  private loop(now: number): void {
    requestAnimationFrame((next) => this.loop(next));
    this.onTick(now);
    for (const stage of this.stages) stage.render(now);
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const at = e.target as HTMLElement;
    const typing = at instanceof HTMLInputElement && at.type === 'text' || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement;
    if (typing || this.help.open) return;
    const sliding = at instanceof HTMLInputElement && at.type === 'range';
    const pressing = at instanceof HTMLButtonElement || at instanceof HTMLInputElement && at.type === 'checkbox' || at.tagName === 'SUMMARY';
    const turn = (a: number, b: number, zoom = 1) => () => this.stages.forEach((s) => s.turn(a, b, zoom));
    const keys: Record<string, (() => void) | undefined> = {
      ' ': pressing ? undefined : () => this.timeline.toggle(), k: () => this.timeline.toggle(),
      '.': () => this.options.host.step(1), ',': () => this.options.host.step(-1), Home: () => this.options.host.restart(),
      ']': () => this.timeline.faster(1), '[': () => this.timeline.faster(-1),
      n: () => this.timeline.jump(1), b: () => this.timeline.jump(-1),
      f: () => this.frameAll(), p: () => this.togglePlots(), s: () => this.togglePanel(),
      t: () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'), '?': () => this.help.showModal(),
      '+': turn(0, 0, 0.85), '=': turn(0, 0, 0.85), '-': turn(0, 0, 1.18),
      ...(sliding ? {} : { ArrowLeft: turn(-6, 0), ArrowRight: turn(6, 0), ArrowUp: turn(0, 5), ArrowDown: turn(0, -5) }),
      ...this.options.keys,
    };
    const act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (act) { act(); e.preventDefault(); }
  }
}
