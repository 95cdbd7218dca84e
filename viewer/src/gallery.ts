/* The playground: scenes that are in the page, each with a link that carries its parameters. */

import { addressOf, Address } from './settings';
import { ModelSource } from './livemodel';
import { CARRIED } from './livepanel';
import { LivePage } from './livepage';
import { PosesCount } from './poses';
import { choice, el, section, textButton } from './ui';

export interface GalleryScene {
  id: string; title: string; group: string; text: string; model: string; key?: string; options?: Record<string, string>;
  camera?: string; compare?: string; drops?: boolean; ctrl?: number[];
}
export interface Gallery { scenes: GalleryScene[]; files: Record<string, string> }

export class GalleryPage {
  private readonly live: LivePage;
  private scene: GalleryScene;
  private options: Record<string, string> = {};
  private compare = '';
  private poses: PosesCount | null = null;
  private writing = '';

  constructor(wasm: Uint8Array, private readonly gallery: Gallery) {
    this.scene = gallery.scenes[0];
    this.live = new LivePage(wasm, 'rattleback');
    this.live.page.titleNode.before(el('a', { class: 'home', href: 'index.html', title: 'All scenes' }, 'rattleback'));
    this.live.hooks = {
      panel: () => [this.sceneSection()],
      optionSet: (name, text) => { this.options[name] = text; this.writeAddress(); },
      ticked: () => this.poses?.tick(),
    };
  }

  async start(): Promise<void> {
    window.addEventListener('hashchange', () => { if (location.hash !== this.writing) void this.openAddress(); });
    await this.openAddress();
  }

  private async openAddress(): Promise<void> {
    const address = new Address();
    const wanted = address.text('scene');
    const scene = this.gallery.scenes.find((s) => s.id === wanted);
    this.options = {};
    for (const name of CARRIED) { const text = address.text(name); if (text !== undefined) this.options[name] = text; }
    this.compare = address.text('compare') ?? '';
    this.scene = scene ?? this.gallery.scenes[0];
    await this.open();
    if (wanted !== undefined && !scene) this.live.complain(`There is no scene named ${wanted} in the gallery.`);
  }

  private source(extra: Record<string, string>): ModelSource {
    const files = new Map<string, Uint8Array>(), encoder = new TextEncoder();
    for (const [path, text] of Object.entries(this.gallery.files)) files.set(path, encoder.encode(text));
    return { model: this.scene.model, files, options: { ...this.scene.options, ...this.options, ...extra }, key: this.scene.key };
  }

  private async open(): Promise<void> {
    delete document.documentElement.dataset.scene;
    this.poses?.stop();
    this.poses = null;
    const other = this.compare, first = this.options.formulation ?? this.scene.options?.formulation ?? 'cone';
    const sources = other ? [this.source({}), this.source({ formulation: other })] : [this.source({})];
    const good = await this.live.open(sources, other ? [first, other] : [], !this.scene.drops);
    this.live.page.setTitle(this.scene.title);
    if (!good) return;
    const model = this.live.models()[0];
    this.scene.ctrl?.forEach((v, i) => { for (const m of this.live.models()) m.sim.ctrl[i] = v; });
    if (this.scene.camera && !new Address().camera()) {
      const [a, e, zoom] = this.scene.camera.split(',').map(Number);
      for (const m of this.live.models()) m.stage!.look(a, e, m.stage!.viewFrom().distance * (zoom || 1));
    }
    if (this.scene.drops) { this.poses = new PosesCount(this.live); this.live.page.stagesNode.append(this.poses.node); }
    this.writeAddress();
    model.show();
    document.documentElement.dataset.scene = this.scene.id;
  }

  private writeAddress(): void {
    const values = { scene: this.scene.id, ...this.options, compare: this.compare || undefined };
    this.writing = addressOf(values);
    if (location.hash !== this.writing) history.replaceState(null, '', this.writing);
  }

  private go(id: string): void {
    this.scene = this.gallery.scenes.find((s) => s.id === id)!;
    this.options = {};
    this.compare = this.scene.compare ?? '';
    void this.open();
  }

  private sceneSection(): HTMLElement {
    const input = el('select', { 'aria-label': 'Scene' });
    const groups = new Map<string, HTMLOptGroupElement>();
    for (const s of this.gallery.scenes) {
      if (!groups.has(s.group)) { const g = el('optgroup', { label: s.group }); groups.set(s.group, g); input.append(g); }
      groups.get(s.group)!.append(el('option', { value: s.id }, s.title));
    }
    input.value = this.scene.id;
    input.addEventListener('change', () => this.go(input.value));
    const beside = choice('Beside it', ['nothing', ...(this.live.models()[0]?.engine.words.formulation ?? [])], this.compare || 'nothing', (word) => {
      this.compare = word === 'nothing' ? '' : word;
      void this.open();
    });
    const copied = el('output', { class: 'note' });
    const link = textButton('Copy link', async () => {
      this.writeAddress();
      try { await navigator.clipboard.writeText(location.href); copied.textContent = 'copied'; } catch { copied.textContent = location.href; }
    }, 'The link carries the scene and the parameters that were changed');
    return section('Scene', true, input, el('p', { class: 'note' }, this.scene.text), beside.row, el('div', { class: 'row' }, link, copied));
  }
}
